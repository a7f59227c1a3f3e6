"""A room as Redis holds it: one JSON document, versioned, changed as a whole."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from wire import client_out
from wire.client_out import Level

VERSION = 1
MAX_PEOPLE = 16
MAX_BOTS = 3
COLOURS = 8


class LobbyError(Exception):
    """The lobby refuses.  `code` is one of those listed in rooms.proto."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class BadRoom(ValueError):
    """A document that this release can't read."""


class Times(msgspec.Struct, frozen=True):
    """How long a lobby waits, in ms."""

    grace: int = 15_000
    """For the host's device to come back, before another becomes host."""
    stale: int = 50_000
    """A socket not heard of for so long is gone: gateways tell of it every 30 s."""
    unseen: int = 60_000
    """For somebody who joined to come at all, before they leave the list."""
    idle: int = 600_000
    """With no human present for so long, the room goes."""
    opening: int = 10_000
    """A table being opened for longer than this was given up by a worker that died."""
    check: int = 30_000
    """How often a live table is looked at, in case its news got lost."""
    finished: int = 1_800_000
    """A game that has been over for so long goes, and everyone is in the lobby again."""
    request: int = 600_000
    """How long a repeated request gets the first one's answer."""


class Player(msgspec.Struct, omit_defaults=True):
    """Someone in the lobby's list.  Times are ms of Redis' clock."""

    player: str
    name: str
    colour: int
    bot: Level | None = None
    joined: int = 0
    request: str = ""
    """The join that made this player, so that its repetition makes no other."""
    acts: list[str] = []
    """Request ids of the latest acts, so that a repeated call does nothing more."""
    sockets: dict[str, int] = {}
    """Open sockets, each with when it was last heard of.  Present: there is one."""
    since: int = 0
    """Present since, absences shorter than the grace not counted."""
    away: int = 0
    """Absent since, when absent."""

    @property
    def present(self) -> bool:
        return bool(self.sockets) or self.bot is not None

    @property
    def unseen(self) -> bool:
        """Never was present since they joined."""
        return self.human and not self.sockets and self.since == 0

    @property
    def human(self) -> bool:
        return self.bot is None


class Opening(msgspec.Struct, omit_defaults=True):
    """A table whose id is chosen, and that an engine is asked to open."""

    table: str
    game: str
    at: int


class Room(msgspec.Struct, omit_defaults=True):
    """`rev` counts what the lobby shows; `write` makes each written document unlike any other."""

    v: int
    room: str
    birth: str
    """Made with the room and signed into its tokens: the same code later is another room."""
    host: str
    players: list[Player]
    made: int
    rev: int = 1
    write: str = ""
    left: list[Player] = []
    """Who left and may come back with their token; the latest 32."""
    removed: list[str] = []
    """Whose tokens are refused; the latest 256."""
    opening: Opening | None = None
    table: str | None = None
    checked: int = 0
    """When the live table was last known to be there."""
    finished: int = 0
    """Since when its game was seen to be over; 0 while it isn't."""
    notice: str | None = None
    lost: str | None = None
    """The table that was found gone before its end was heard of: late news may still say why."""

    def find(self, player: str) -> Player | None:
        return next((p for p in self.players if p.player == player), None)

    @property
    def humans(self) -> list[Player]:
        return [p for p in self.players if p.human]

    @property
    def bots(self) -> int:
        return len(self.players) - len(self.humans)


class Seen(NamedTuple):
    """A room as read: `raw` is what a write must find unchanged, `now` is Redis' clock in ms."""

    room: Room
    raw: bytes
    now: int


_decoder = msgspec.json.Decoder(Room)
_encoder = msgspec.json.Encoder()


def encode(room: Room) -> bytes:
    """A room as Redis holds it; `decode` is its inverse."""
    return _encoder.encode(room)


def decode(raw: bytes) -> Room:
    """Raises BadRoom when a release of another version wrote it, or something else did."""
    try:
        room = _decoder.decode(raw)
    except msgspec.MsgspecError as error:
        raise BadRoom(str(error)) from error
    if room.v != VERSION:
        raise BadRoom(f"room document version {room.v}, this release knows {VERSION}")
    return room


def shown(room: Room) -> client_out.Lobby:
    """What everyone in the room may see of it."""
    return client_out.Lobby(
        room=room.room,
        rev=room.rev,
        host=room.host,
        players=[client_out.LobbyPlayer(p.player, p.name, p.colour, p.bot, p.present) for p in room.players],
        table=room.table,
        notice=room.notice,
    )
