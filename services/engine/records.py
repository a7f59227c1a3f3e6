"""What a partition's log holds: records of table events, refusals, snapshots and room time.

A record is one message on `log.<partition>`.  All structs are msgpack arrays, tagged where
a union needs it.  A later release may add fields with a default at the end, which older
readers pass over, and never takes one away.  `VERSION` grows when a reader of the release
before would go wrong: with every new event and every new game, and with a field that
mustn't be passed over.  See docs/adr/0005-mixed-releases.md.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

VERSION = 2
"""The highest version read here, of records and of the snapshots in them."""
BEFORE = 1
"""That of the release before: written until every engine reads VERSION (see `versions`).

1: release 0.1.0.  2: `Attached.back`.
"""


class UnknownVersion(ValueError):
    """A record of a release after this one: never guess at it.  `version`: what its reader must read."""

    def __init__(self, what: str, version: int) -> None:
        super().__init__(f"{what} version {version}, this engine knows {VERSION}")
        self.version = version


class _Event(msgspec.Struct, array_like=True):
    pass


class Newcomer(_Event):
    """A member as the lobby names them."""

    player: str
    name: str
    colour: int
    bot: str | None = None


class Opened(_Event, tag="open"):
    """A table begins, in setup.

    Its frames count on from `frames` and its sessions from `sessions`, above all earlier
    ones of its room, so that nothing of the table before is taken for one of this.
    """

    table: str
    room: str
    game: str
    host: int
    members: list[Newcomer]
    options: dict[str, Any]
    frames: int
    sessions: int = 0


class Entered(_Event, tag="enter"):
    """A member who was not in the lobby at Start."""

    member: Newcomer


class Attached(_Event, tag="attach"):
    """A tab takes the seat.  `worker`: a bot's driver; `via`: the caller whose stream carries its moves."""

    seat: int
    session: int
    tab: int
    worker: str = ""
    via: str = ""
    attempt: int = 0
    """The caller's name for this try, to undo it by when its answer was lost."""
    hello_at: int = 0
    back: bool = False
    """Of a tab that had the seat before: its ids go on where they were.  From version 2 on."""


class Detached(_Event, tag="detach"):
    """The socket is gone: absent at once, and 15 s of grace."""

    seat: int


class LeftTable(_Event, tag="leave"):
    """The ×."""

    seat: int


class GraceOver(_Event, tag="gone"):
    seat: int


class HostPassed(_Event, tag="host"):
    seat: int


class Recoloured(_Event, tag="colour"):
    seat: int
    colour: int


class BotsLevelled(_Event, tag="levels"):
    level: str


class OptionsSet(_Event, tag="options"):
    options: dict[str, Any]


class GameOpened(_Event, tag="game"):
    """A new game of these seats, before its first deal."""

    seats: list[int]


class DealAsked(_Event, tag="ask"):
    """Logged before the deal is computed: a new owner asks again."""

    hand: int


class CountdownBegun(_Event, tag="count"):
    ms: int


class WentLive(_Event, tag="live"):
    pass


class PausedBy(_Event, tag="pause"):
    seat: int


class ResumedBy(_Event, tag="resume"):
    seat: int


class Held(_Event, tag="hold"):
    """Paused by the table: the host is away, and nobody else can be host."""


class Released(_Event, tag="release"):
    pass


class HandOver(_Event, tag="over"):
    """The scores show; `ms`: until the standings follow by themselves, when the game is over."""

    over: bool
    ms: int


class StandingsShown(_Event, tag="standings"):
    pass


class BackToSetup(_Event, tag="setup"):
    notice: str | None = None


class TableClosed(_Event, tag="close"):
    why: str


class Played(_Event, tag="g"):
    """An event of the game, in the game's own encoding: its bytes when read, itself when it is to be written."""

    event: msgspec.Raw


Event = (
    Opened
    | Entered
    | Attached
    | Detached
    | LeftTable
    | GraceOver
    | HostPassed
    | Recoloured
    | BotsLevelled
    | OptionsSet
    | GameOpened
    | DealAsked
    | CountdownBegun
    | WentLive
    | PausedBy
    | ResumedBy
    | Held
    | Released
    | HandOver
    | StandingsShown
    | BackToSetup
    | TableClosed
    | Played
)


class Refused(_Event):
    """Why a move came back; kept with the seat's answers."""

    code: str
    by: int | None = None
    pile: int | None = None


class LoggedStep(_Event):
    """What one command did.  With `id` it decides that move of `seat`, once and for all."""

    events: list[Event]
    seat: int | None = None
    id: int | None = None
    no: Refused | None = None


class Chunk(_Event):
    """All that a record says of one room, and the frame numbers after it."""

    room: str
    steps: list[LoggedStep]
    table_frames: int
    seat_frames: dict[int, int]


class RoomSnapshot(_Event):
    """A room as it was before this record's chunks; `Table.dump`'s bytes."""

    room: str
    data: bytes


class Record(_Event):
    """`claim` fences an epoch off from those before; `release` gives the partition to `to`."""

    version: int
    partition: int
    epoch: int
    kind: Literal["claim", "data", "release"]
    now: int
    snapshots: list[RoomSnapshot] = []
    chunks: list[Chunk] = []
    to: str = ""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Record)
_head = msgspec.msgpack.Decoder(list[Any])


def encode(record: Record) -> bytes:
    """A record as the log's bytes; `decode` is its inverse."""
    return _encoder.encode(record)


def decode(data: bytes) -> Record:
    """Raises UnknownVersion, or msgspec.DecodeError for bytes that are no record."""
    try:
        record = _decoder.decode(data)
    except msgspec.ValidationError:
        if (version := version_of(data)) > VERSION:
            raise UnknownVersion("record", version) from None
        raise
    if record.version > VERSION:
        raise UnknownVersion("record", record.version)
    return record


def version_of(data: bytes) -> int:
    """A record's version, whatever else is in it; 0 for bytes that are none."""
    try:
        head = _head.decode(data)
    except msgspec.DecodeError:
        return 0
    return head[0] if head and isinstance(head[0], int) else 0
