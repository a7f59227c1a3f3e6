"""What a browser is sent by the gateway or by watch: one JSON object a message."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

VERSION = 1

Level = Literal["easy", "medium", "hard"]


class _Strict(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    pass


# ---- the lobby ---------------------------------------------------------------


class LobbyPlayer(_Strict):
    player: str
    name: str
    colour: int
    bot: Level | None = None
    present: bool = False


class Lobby(_Strict, tag_field="t", tag="lobby"):
    """The whole lobby, sent at every change.  `rev` grows by one."""

    room: str
    rev: int
    host: str
    players: list[LobbyPlayer]
    table: str | None = None
    """The id of the table being played, if any."""
    notice: str | None = None
    """Of the last game: `host_left` when it ended by its host leaving, `lost` when its table was found gone."""


class Done(_Strict, tag_field="t", tag="done"):
    """The lobby did what `req` asked."""

    req: int


# ---- the table: what a snapshot and frames are made of ------------------------

Phase = Literal["setup", "dealing", "countdown", "live", "scores", "standings", "closed"]


class Member(_Strict):
    """Someone on the game screen.  `seat` is the number that events and moves use.

    `playing`: has cards in this game.  `present`: as the stuck rule counts it.
    `left`: screens say that they left (after the grace, or at once on the ×).
    """

    seat: int
    player: str
    name: str
    colour: int
    bot: Level | None = None
    playing: bool = False
    present: bool = False
    left: bool = False


class Place(_Strict):
    seat: int
    total: int
    place: int


class Outcome(_Strict):
    places: list[Place]
    winners: list[int]


class TableView(_Strict):
    table: str
    game: str
    phase: Phase
    host: int
    """The host's seat."""
    members: list[Member]
    options: dict[str, Any]
    paused_by: int | None = None
    """Set while paused: the seat that did, or -1 when the table did (nobody to play on)."""
    countdown: int | None = None
    """Milliseconds until “Snatch!”, when the countdown runs."""
    outcome: Outcome | None = None
    over: bool = False
    """On the scores: this was the game's last hand."""
    notice: str | None = None
    """`host_left` in setup after a game that its host's leaving ended."""


class You(_Strict):
    seat: int
    watching: bool
    """No cards in this game: the view is the TV's."""


class Snapshot(_Strict, tag_field="t", tag="snapshot"):
    """Everything, from nothing.  What was shown before it is dropped.

    `answered`: the highest move id of this tab that was decided; send what is above
    again, in order.  `you` is None on a TV.
    """

    v: int
    room: str
    now: int
    """Room time in ms."""
    seq: int
    table: TableView
    view: Any
    """The game's own View, None before the first deal of a game."""
    you: You | None = None
    answered: int = 0


# ---- frames ----------------------------------------------------------------


class No(_Strict):
    """Why a move came back.  Codes are listed in docs/protocol.md."""

    code: str
    by: int | None = None
    pile: int | None = None


class Step(_Strict):
    """What one move (or, without `by`, the table itself) did.

    `by` and `id` name the move; `ev` are table events (below) and the game's events
    in the order they happened; `no` says that it came back.
    """

    ev: list[Any] = []
    by: int | None = None
    id: int | None = None
    no: No | None = None


class TableFrame(_Strict, tag_field="t", tag="table"):
    """For everyone at the table and the TV.  `seq`: the basis once this is shown."""

    n: int
    seq: int
    steps: list[Step]


class SeatFrame(_Strict, tag_field="t", tag="seat"):
    """For one seat alone, after the table frame of the same moment."""

    n: int
    seq: int
    steps: list[Step]


class Answer(_Strict, tag_field="t", tag="answer"):
    """The stored answer to a move that was sent again: it has been decided before."""

    id: int
    no: No | None = None


class Expect(_Strict, tag_field="t", tag="expect"):
    """Move ids have a gap: send again from `id` on."""

    id: int


# ---- table events -----------------------------------------------------------


class Joined(_Strict, tag_field="t", tag="joined"):
    member: Member


class Presence(_Strict, tag_field="t", tag="presence"):
    """A device came or went.  Screens say “left” only by `gone`."""

    seat: int
    present: bool


class Gone(_Strict, tag_field="t", tag="gone"):
    """Screens say that this player left: after the grace, or at once on the ×.  `gone` False: is back."""

    seat: int
    gone: bool


class Renamed(_Strict, tag_field="t", tag="member"):
    """A member's name or colour changed; also the bots' level."""

    member: Member


class HostIs(_Strict, tag_field="t", tag="host"):
    seat: int


class OptionsAre(_Strict, tag_field="t", tag="options"):
    options: dict[str, Any]


class Seated(_Strict, tag_field="t", tag="seated"):
    """A new game: these seats play, all others watch."""

    seats: list[int]


class Dealing(_Strict, tag_field="t", tag="dealing"):
    """A deal has been asked for and is being checked."""

    hand: int


class Countdown(_Strict, tag_field="t", tag="countdown"):
    """3, 2, 1: `ms` until “Snatch!”."""

    hand: int
    ms: int


class Live(_Strict, tag_field="t", tag="live"):
    """“Snatch!” at the start of a hand: cards move."""


class Paused(_Strict, tag_field="t", tag="paused"):
    """By this seat, or -1 by the table: the host is away and nobody else can be host."""

    by: int


class Resumed(_Strict, tag_field="t", tag="resumed"):
    by: int


class Scores(_Strict, tag_field="t", tag="scores"):
    """The hand-over screen.  `over`: the standings follow by themselves in `ms`."""

    over: bool
    ms: int = 0


class FinalStandings(_Strict, tag_field="t", tag="standings"):
    outcome: Outcome


class Setup(_Strict, tag_field="t", tag="setup"):
    """Back to setup.  `notice` `host_left`: the game ended because its host's device went away."""

    notice: str | None = None


class Closed(_Strict, tag_field="t", tag="closed"):
    """The table is gone, everyone is in the lobby.  `why`: `host_left`, `expired`."""

    why: str


TableEvent = (
    Joined
    | Presence
    | Gone
    | Renamed
    | HostIs
    | OptionsAre
    | Seated
    | Dealing
    | Countdown
    | Live
    | Paused
    | Resumed
    | Scores
    | FinalStandings
    | Setup
    | Closed
)


# ---- the socket itself -------------------------------------------------------


class Welcome(_Strict, tag_field="t", tag="welcome"):
    """The first message.  A page whose `build` differs should reload between hands."""

    v: int
    build: str
    player: str | None = None
    felt: int = 0
    """Seconds between two reports of what was felt (`felt`) that are wanted; 0: none."""


class Pong(_Strict, tag_field="t", tag="pong"):
    at: float


class Waiting(_Strict, tag_field="t", tag="waiting"):
    """“Waiting for the table”: its engine can't be reached just now.  A snapshot ends it."""


class LobbyAway(_Strict, tag_field="t", tag="lobby_away"):
    """Lobbies can't be changed just now, or with `away` False can again; a hand goes on meanwhile."""

    away: bool = True


class NoTable(_Strict, tag_field="t", tag="no_table"):
    """To a TV: the room exists, nothing is being played; `lobby` messages follow."""


class TakenOver(_Strict, tag_field="t", tag="taken_over"):
    """This player's game was opened elsewhere.  Final: don't reconnect by yourself."""


class Error(_Strict, tag_field="t", tag="error"):
    """Something sent was refused.  `req` or `id` says what, when it was one's.

    Codes: `bad_message`, `too_big`, `bad_version`, `bad_token`, `no_room`, `removed`,
    `not_host`, `name`, `colour_taken`, `full`, `bots_full`, `slow_down`,
    `house_full`, `bots_busy`, `lobby_away`, `engine_away`, `table_live`, `no_table`, `unknown`.
    """

    code: str
    text: str = ""
    req: int | None = None
    id: int | None = None


ServerMessage = (
    Welcome
    | Lobby
    | Done
    | Snapshot
    | TableFrame
    | SeatFrame
    | Answer
    | Expect
    | Pong
    | Waiting
    | LobbyAway
    | NoTable
    | TakenOver
    | Error
)
