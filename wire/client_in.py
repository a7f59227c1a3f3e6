"""What a browser sends over its WebSocket to the gateway (`/ws`) or to watch (`/tv`).

One JSON object a message, text frames, at most `MAX_BYTES`.  Unknown fields and tags
are refused with an `error` message; nothing is lost by them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

VERSION = 1
MAX_BYTES = 4096

Name = Annotated[str, Meta(min_length=1, max_length=64)]
"""As typed; `wire.places.clean_name` makes 1 to 16 characters of it or refuses."""


class _Strict(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Hello(_Strict, tag_field="t", tag="hello"):
    """The first message on a socket.  `token` names room and player."""

    v: int
    token: str
    tab: Annotated[int, Meta(ge=1, le=0xFFFFFFFF)]
    """This tab's own random number, kept over a reload."""
    build: str = ""


MoveId = Annotated[int, Meta(ge=1, le=0xFFFFFFFF)]
Basis = Annotated[int, Meta(ge=0)]


class MoveMessage(_Strict, tag_field="t", tag="move"):
    """A move at the table.  Ids count up from 1 without gaps in each tab.

    `basis`: the `seq` of the last frame or snapshot shown.  `m`: a table move (below)
    or a move of the game, which only the engine decodes.
    """

    id: MoveId
    basis: Basis
    m: msgspec.Raw


class Ping(_Strict, tag_field="t", tag="ping"):
    """Answered by `pong` with the same `at`."""

    at: float


FELT_MS = (10, 20, 30, 50, 75, 100, 150, 250, 500, 1000, 2500, 5000, 10_000)
"""Upper bounds of what a move took, in ms; one count more is of those that took longer."""


class Felt(_Strict, tag_field="t", tag="felt"):
    """How it was for who plays, since the last such report: counts, and nothing that tells of whom.

    Only where `welcome` asks for it.  Never answered; one that makes no sense is ignored.
    """

    moves: list[int] = []
    """By how long they took, from the touch until they were seen done: up to 10, 20, 30, 50, 75, 100, 150, 250, 500,
    1000, 2500, 5000, 10000 ms, and longer: 14 counts, or none."""
    ms: int = 0
    """What all of them took together."""
    reconnects: int = 0
    errors: int = 0
    """Of the page's scripts."""


class Watch(_Strict, tag_field="t", tag="watch"):
    """The first message on a TV's socket."""

    v: int
    room: Annotated[str, Meta(max_length=32)]
    """As typed: lower case and spaces are well."""


# ---- what a lobby can be asked ---------------------------------------------


class SetName(_Strict, tag_field="t", tag="name"):
    name: Name


class SetColour(_Strict, tag_field="t", tag="colour"):
    """0 to 7; refused when another player has it."""

    colour: Annotated[int, Meta(ge=0, le=7)]


class AddBot(_Strict, tag_field="t", tag="add_bot"):
    """Host."""

    level: Literal["easy", "medium", "hard"] = "medium"


class SetBotLevel(_Strict, tag_field="t", tag="bot_level"):
    """Host.  `player` None: all of them."""

    level: Literal["easy", "medium", "hard"]
    player: str | None = None


class RemovePlayer(_Strict, tag_field="t", tag="remove"):
    """Host.  A bot, or a player who is told so and may not come back to this lobby with the same token."""

    player: str


class StartTable(_Strict, tag_field="t", tag="start"):
    """Host.  Everyone in the room is brought to the game screen."""

    game: str = "snatch_solitaire"


class LeaveRoom(_Strict, tag_field="t", tag="leave"):
    """Leave the lobby.  (At a table, the table move `leave`.)"""


LobbyAct = SetName | SetColour | AddBot | SetBotLevel | RemovePlayer | StartTable | LeaveRoom


class LobbyMessage(_Strict, tag_field="t", tag="lobby"):
    """A request to the lobby; answered by `done` or `error` with the same `req`."""

    req: Annotated[int, Meta(ge=1, le=0xFFFFFFFF)]
    do: LobbyAct


# ---- moves that every table takes, whatever its game (in `m`) ---------------


class SetOptions(_Strict, tag_field="t", tag="options"):
    """Host, in setup.  `options` is the game's own struct."""

    options: dict[str, Any]


class SetBotLevels(_Strict, tag_field="t", tag="bot_levels"):
    """Host, in setup.  All bots at once."""

    level: Literal["easy", "medium", "hard"]


class Deal(_Strict, tag_field="t", tag="deal"):
    """Host, in setup: the first hand of a new game for everyone on the game screen."""


class NextHand(_Strict, tag_field="t", tag="next_hand"):
    """Host, on the scores, while the game isn't over."""


class Standings(_Strict, tag_field="t", tag="standings"):
    """Host, on the last scores."""


class NewGame(_Strict, tag_field="t", tag="new_game"):
    """Host, on the standings: back to setup."""


class Pause(_Strict, tag_field="t", tag="pause"):
    """Any seat that plays, in a live hand."""


class Resume(_Strict, tag_field="t", tag="resume"):
    """Any seat that plays."""


class Leave(_Strict, tag_field="t", tag="leave"):
    """The ×.  The host's sends everyone back to the room."""


TableMove = SetOptions | SetBotLevels | Deal | NextHand | Standings | NewGame | Pause | Resume | Leave

ClientMessage = Hello | MoveMessage | Ping | LobbyMessage | Felt
TvMessage = Watch | Ping
