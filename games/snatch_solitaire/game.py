"""Snatch Solitaire as a value: `GAME` is what the registry lists."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from games.contract import GameSpec, Outcome
from games.snatch_solitaire import deal, record, redact, rules, scores, stuck, view
from games.snatch_solitaire.events import Event
from games.snatch_solitaire.evolve import evolve
from games.snatch_solitaire.messages import EndHand, Move, Options, PublicEvent, View
from games.snatch_solitaire.state import State


class SnatchSolitaire:
    """The pure functions of the game; see `games.contract.Game` for what each promises.

    `ends` False plays a hand on past an empty snatch pile, so that a deal's witness can
    be replayed to its end.  No table can set it: it is not part of any state or option.
    """

    spec = GameSpec(
        id="snatch_solitaire",
        title="Snatch Solitaire",
        min_seats=1,
        max_seats=8,
        max_bots=3,
        kind="race",
        move_type=Move,
        event_type=Event,
        public_event_type=PublicEvent,
        view_type=View,
        options_type=Options,
        host_moves=(EndHand,),
        deal_options=(),
    )

    def __init__(self, ends: bool = True) -> None:
        self._ends = ends

    def open(self, seats: Sequence[int], options: Options) -> State:
        """A new game before its first deal."""
        return State(seats, options.length)

    def deal(self, seats: Sequence[int], options: Options, dice: Random) -> Event:
        """A checked deal with its witness; slow."""
        return deal.deal(seats, dice)

    def actors(self, state: State) -> frozenset[int]:
        """Everyone with cards, while a hand is live."""
        return frozenset(state.own) if state.live else frozenset()

    def legal_moves(self, state: State, seat: int) -> Sequence[Move]:
        """What `decide` accepts; a card for the middle is listed once, without a pile."""
        return rules.legal_moves(state, seat)

    def decide(self, state: State, seat: int, move: Move, now: int, basis: int) -> Sequence[Event]:
        """What this move does, or Refusal."""
        return rules.decide(state, seat, move, basis, self._ends)

    def evolve(self, state: State, event: Event) -> None:
        """Take one event in."""
        evolve(state, event)

    def follow(self, state: State, now: int) -> Sequence[Event]:
        """Stuck seats, all stuck, and the offer to end the hand."""
        return stuck.follow(state, now)

    def attend(self, state: State, present: frozenset[int], now: int) -> None:
        """Take in who is present."""
        stuck.attend(state, present, now)

    def redact(self, event: Event, seat: int | None) -> PublicEvent | None:
        """The public part, or what one seat sees beyond it."""
        return redact.redact(event, seat)

    def private_to(self, event: Event) -> Sequence[int]:
        """Who may see more of it than everyone does."""
        return redact.private_to(event)

    def view(self, state: State, seat: int | None) -> View:
        """All that this audience may know."""
        return view.view(state, seat)

    def apply(self, view_: View, event: PublicEvent) -> None:
        """Take a redacted event into a view."""
        view.apply(view_, event)

    def wakes_at(self, state: State) -> int | None:
        """When the stuck clock runs out."""
        return stuck.wakes_at(state)

    def wake(self, state: State, now: int) -> Sequence[Event]:
        """The snatch piles turn, or the end of the hand is offered."""
        return stuck.wake(state, now)

    def hand_over(self, state: State) -> bool:
        """From the end of a hand until the next deal."""
        return state.result is not None

    def outcome(self, state: State) -> Outcome | None:
        """The standings once the game is over."""
        return scores.outcome(state)

    def dump(self, state: State) -> bytes:
        """The state as bytes."""
        return record.dump(state)

    def load(self, data: bytes) -> State:
        """The inverse of `dump`."""
        return record.load(data)


GAME = SnatchSolitaire()
