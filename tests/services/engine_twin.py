"""A tiny race, to show that the table knows nothing of any game.

Each seat has `START` tokens and a secret.  `take` gives one away (all see it); `peek` shows
the own secret (nobody else sees it).  Who has none left ends the hand.  A bell rings by
itself every second of play time, while somebody is present.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Literal

import msgspec

from games.contract import GameSpec, Outcome, Place, Refusal

START = 3
BELL_MS = 1000


class _Strict(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Take(_Strict, tag_field="t", tag="take"):
    pass


class Peek(_Strict, tag_field="t", tag="peek"):
    pass


class Snatch(_Strict, tag_field="t", tag="snatch"):
    """Always too late."""


class Burst(_Strict, tag_field="t", tag="burst"):
    """A fault in the game."""


class EndIt(_Strict, tag_field="t", tag="end_it"):
    pass


class TwinOptions(_Strict):
    hands: int = 1
    pace: Literal["slow", "fast"] = "slow"


class TwinDealt(_Strict, tag_field="t", tag="twin_dealt"):
    seats: list[int]
    secrets: list[int] = []


class Took(_Strict, tag_field="t", tag="took"):
    seat: int


class Peeked(_Strict, tag_field="t", tag="peeked"):
    seat: int
    secret: int


class Rang(_Strict, tag_field="t", tag="rang"):
    times: int


class Ended(_Strict, tag_field="t", tag="ended"):
    pass


TwinEvent = TwinDealt | Took | Peeked | Rang | Ended


class TwinState(msgspec.Struct):
    seats: list[int]
    hands: int
    seq: int = 0
    hand: int = 0
    left: dict[int, int] = {}
    total: dict[int, int] = {}
    secrets: dict[int, int] = {}
    present: list[int] = []
    rang: int = 0
    ended: bool = False


class TwinView(_Strict):
    hand: int
    left: dict[int, int]
    rang: int
    secret: int | None = None


class TwinGame:
    """See `games.contract.Game`."""

    spec = GameSpec(
        id="twin",
        title="Twin",
        min_seats=2,
        max_seats=4,
        max_bots=3,
        kind="race",
        move_type=Take | Peek | Snatch | Burst | EndIt,
        event_type=TwinEvent,
        public_event_type=TwinEvent,
        view_type=TwinView,
        options_type=TwinOptions,
        host_moves=(EndIt,),
    )

    def open(self, seats: Sequence[int], options: TwinOptions) -> TwinState:
        return TwinState(list(seats), options.hands, total=dict.fromkeys(seats, 0))

    def deal(self, seats: Sequence[int], options: TwinOptions, dice: Random) -> TwinEvent:
        return TwinDealt(list(seats), [dice.randrange(1000) for _ in seats])

    def actors(self, state: TwinState) -> frozenset[int]:
        return frozenset(state.seats)

    def legal_moves(self, state: TwinState, seat: int) -> Sequence[Any]:
        return [Take(), Peek()]

    def decide(self, state: TwinState, seat: int, move: Any, now: int, basis: int) -> Sequence[TwinEvent]:
        match move:
            case Take():
                took = Took(seat)
                return [took, Ended()] if state.left[seat] == 1 else [took]
            case Peek():
                return [Peeked(seat, state.secrets[seat])]
            case Snatch():
                raise Refusal("snatched", by=state.seats[0], pile=7)
            case Burst():
                raise ZeroDivisionError("a fault in the game")
            case EndIt():
                return [Ended()]
        raise AssertionError(move)

    def evolve(self, state: TwinState, event: TwinEvent) -> None:
        state.seq += 1
        match event:
            case TwinDealt(seats=seats, secrets=secrets):
                state.hand += 1
                state.left = dict.fromkeys(seats, START)
                state.secrets = dict(zip(seats, secrets, strict=True))
                state.rang, state.ended = 0, False
            case Took(seat=seat):
                state.left[seat] -= 1
            case Rang(times=times):
                state.rang = times
            case Ended():
                state.ended = True
                for seat, left in state.left.items():
                    state.total[seat] += left
            case Peeked():
                pass

    def follow(self, state: TwinState, now: int) -> Sequence[TwinEvent]:
        return []

    def attend(self, state: TwinState, present: frozenset[int], now: int) -> None:
        state.present = sorted(present)

    def redact(self, event: TwinEvent, seat: int | None) -> TwinEvent | None:
        if isinstance(event, TwinDealt):
            return TwinDealt(event.seats) if seat is None else None
        if isinstance(event, Peeked):
            return event if event.seat == seat else None
        return event if seat is None else None

    def private_to(self, event: TwinEvent) -> Sequence[int]:
        return (event.seat,) if isinstance(event, Peeked) else ()

    def view(self, state: TwinState, seat: int | None) -> TwinView:
        secret = state.secrets.get(seat) if seat is not None else None
        return TwinView(state.hand, dict(state.left), state.rang, secret)

    def apply(self, view: TwinView, event: TwinEvent) -> None:
        raise NotImplementedError

    def wakes_at(self, state: TwinState) -> int | None:
        return None if state.ended or not state.present else (state.rang + 1) * BELL_MS

    def wake(self, state: TwinState, now: int) -> Sequence[TwinEvent]:
        at = self.wakes_at(state)
        return [Rang(state.rang + 1)] if at is not None and now >= at else []

    def hand_over(self, state: TwinState) -> bool:
        return state.ended

    def outcome(self, state: TwinState) -> Outcome | None:
        if not state.ended or state.hand < state.hands:
            return None
        totals = sorted((total, seat) for seat, total in state.total.items())
        places = [Place(seat, total, 1 + sum(t < total for t, _ in totals)) for total, seat in totals]
        return Outcome(places, [p.seat for p in places if p.place == 1])

    def dump(self, state: TwinState) -> bytes:
        return msgspec.msgpack.encode(state)

    def load(self, data: bytes) -> TwinState:
        return msgspec.msgpack.decode(data, type=TwinState)


TWIN = TwinGame()
