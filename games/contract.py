"""What a game is, to everything that is not one.

A game is a value: a set of pure functions over a state that only `evolve` and
`attend` change.  It does no I/O and knows no clock and no dice: `now` and `dice`
come in as arguments, and what they decided goes out as events, so that the same
events give the same states, byte for byte.

The table (`services/engine/table.py`) owns what all games share: members, host,
presence, pause, countdown, the deal being asked for.  The game owns the cards.

Time is whole milliseconds of *play time*: it runs only while a hand is live and
not paused, so a game's own clocks keep what they had left, by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol, TypeVar

import msgspec

Seat = int
"""A member's number at a table, 0 and up, not contiguous among those who play."""


class Refusal(Exception):
    """A move that does not happen.  The state is untouched and the seat is told why.

    `code` is one of the codes listed in docs/protocol.md, e.g. `snatched`, `no_pile`,
    `stale`, `not_allowed`, `nothing_to_undo`, `nothing_to_turn`, `bad_move`.
    `by` is the seat that took the spot and `pile` the pile that was advanced,
    for `snatched` alone; such a refusal is public, since every screen shows that pile flash.
    """

    def __init__(self, code: str, *, by: Seat | None = None, pile: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.by = by
        self.pile = pile


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the standings: equal totals share the place (1, 1, 3)."""

    seat: Seat
    total: int
    place: int


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a game ended: the standings, best first; `winners` are all with place 1."""

    places: list[Place]
    winners: list[Seat]


class GameSpec(msgspec.Struct, frozen=True):
    """What a table must know of a game before it opens one."""

    id: str
    title: str
    min_seats: int
    max_seats: int
    max_bots: int
    kind: str
    """`race` (every seat may act at any time) or `turns`."""
    move_type: Any
    """The tagged union of msgspec structs that `decide` takes; unknown fields forbidden."""
    event_type: Any
    """The tagged union that `evolve` takes, as logged."""
    public_event_type: Any
    """The tagged union that `redact` gives, as sent to clients and taken by `apply`."""
    view_type: type
    options_type: type
    """A msgspec struct whose every field has a default."""
    host_moves: tuple[type, ...]
    """Moves of `move_type` that only the host may make."""
    deal_options: tuple[str, ...] | None = None
    """The options that a deal depends on, so that it can be made before the others are chosen; None: all of them."""


class HasSeq(Protocol):
    """What every state of a game has."""

    seq: int
    """Events evolved since `open`.  A move's basis is a `seq` that its sender had seen."""


S = TypeVar("S", bound=HasSeq)
M = TypeVar("M")
E = TypeVar("E")
P = TypeVar("P")
V = TypeVar("V")
O = TypeVar("O", contravariant=True)  # noqa: E741
SeenView = TypeVar("SeenView", contravariant=True)
ChosenMove = TypeVar("ChosenMove", covariant=True)


class Game(Protocol[S, M, E, P, V, O]):
    """S state, M move, E event as logged, P event as sent, V view, O options."""

    spec: GameSpec

    def open(self, seats: Sequence[Seat], options: O) -> S:
        """A new game for these seats, before its first deal."""
        ...

    def deal(self, seats: Sequence[Seat], options: O, dice: Random) -> E:
        """One event that holds a whole checked deal.  Slow: run it in a process pool."""
        ...

    def actors(self, state: S) -> frozenset[Seat]:
        """Who may move now: all seats in a race, one in a game of turns."""
        ...

    def legal_moves(self, state: S, seat: Seat) -> Sequence[M]:
        """Every move that `decide` would accept from this seat now.

        A move that differs from a listed one in a mere wish (which of several
        fitting places) need not be listed.
        """
        ...

    def decide(self, state: S, seat: Seat, move: M, now: int, basis: int) -> Sequence[E]:
        """What this move does, or raises Refusal.  Never changes the state.

        `basis` only ever explains a refusal (Snatched! or no pile); a move is
        judged against the state as it is at its arrival.
        """
        ...

    def evolve(self, state: S, event: E) -> None:
        """Take the event in: in place, total, deterministic; `seq` grows by one."""
        ...

    def follow(self, state: S, now: int) -> Sequence[E]:
        """What now follows by itself (a seat stuck, all stuck, an offer gone).

        Asked after each move, wake and change of presence has been evolved, and
        again until it gives nothing.
        """
        ...

    def attend(self, state: S, present: frozenset[Seat], now: int) -> None:
        """Who is present, told when a hand goes live and at every change.  Total."""
        ...

    def redact(self, event: E, seat: Seat | None) -> P | None:
        """`None`: what everyone may see.  A seat: what it alone sees *beyond* that.

        A seat's screen gets both, the public part first.  None: nothing to see.
        """
        ...

    def private_to(self, event: E) -> Sequence[Seat]:
        """The seats that `redact` may have something for beyond the public part: nobody else is asked."""
        ...

    def view(self, state: S, seat: Seat | None) -> V:
        """All that this audience may know, from nothing; None is the table and the TV."""
        ...

    def apply(self, view: V, event: P) -> None:
        """A reader's `evolve`: take a redacted event into a view, in place.

        `view(state, seat)` after events equals the view before them with the
        events' public and own parts applied in order.
        """
        ...

    def wakes_at(self, state: S) -> int | None:
        """The play time at which `wake` wants to be asked, if any."""
        ...

    def wake(self, state: S, now: int) -> Sequence[E]:
        """What the passing of time does by itself; nothing when asked early."""
        ...

    def hand_over(self, state: S) -> bool:
        """True from the event that ends a hand until the next deal."""
        ...

    def outcome(self, state: S) -> Outcome | None:
        """The standings once the game is over, else None."""
        ...

    def dump(self, state: S) -> bytes:
        """The whole state, secrets too, for a snapshot in the log; equal states, equal bytes."""
        ...

    def load(self, data: bytes) -> S:
        """The inverse of `dump`."""
        ...


class Mind(Protocol[SeenView, ChosenMove]):
    """A bot of one level: it knows what its seat knows, and looks now and then.

    Clock and dice are the caller's: `look` is called at `now` (ms of play time, as
    the driver counts it) and says what to do and how long to wait until the next look.
    """

    def look(self, view: SeenView, now: int, dice: Random) -> tuple[ChosenMove | None, int]:
        """A move or None, and the pause in ms until the next look."""
        ...
