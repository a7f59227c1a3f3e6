"""What services tell each other over NATS, as JSON: one struct for each subject, and the placement's entry.

Readers pass over fields they don't know; a new field gets a default.
"""

from __future__ import annotations

import msgspec


class TableNews(msgspec.Struct, frozen=True, omit_defaults=True):
    """`news.table`, from an engine to rooms.

    `what`: `closed` (with the host there is now), `left`, `back`, or `host`, each with its player.
    `bots`, when it is closed: the level each bot had at last, by player.
    """

    room: str
    table: str
    what: str
    player: str = ""
    why: str = ""
    bots: dict[str, str] = {}


class EngineLoad(msgspec.Struct, frozen=True, omit_defaults=True):
    """`engine.load`: an engine's open `tables`, and the `most` it is set to hold; `gone`: it ends.

    `strained`: it has no time for more of them, whatever `most` says.
    """

    engine: str
    tables: int
    most: int
    strained: bool = False
    gone: bool = False


class CallerBeat(msgspec.Struct, frozen=True):
    """`callers.beat`: this process has players attached; `gone`: it ends."""

    caller: str
    gone: bool = False


class EngineSuspected(msgspec.Struct, frozen=True):
    """`engine.suspected`: a connection to the engine at this address broke."""

    addr: str


class BotWanted(msgspec.Struct, frozen=True):
    """`bots.wanted`: what a worker needs to attach to a seat that has no driver."""

    room: str
    table: str
    seat: int
    player: str
    level: str
    game: str
    epoch: int = 0


class WorkerBeat(msgspec.Struct, frozen=True):
    """`bots.beat`: this worker drives its seats, and could take so many more; `gone`: it ends."""

    worker: str
    gone: bool = False
    free: int | None = None
    """None: of a release that doesn't say."""


class Entry(msgspec.Struct, frozen=True):
    """A partition's placement, `p.<partition>` in the bucket.  `owner` empty: offered to whoever comes."""

    owner: str
    addr: str
    epoch: int
    state: str
    """`opening`, `open`, `offer` (to `owner`, which does not serve yet), or `halted` (an operator must look)."""
    reads: int = 1
    """Of an offer: the record version that an engine must read to take it."""
