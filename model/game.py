"""A ladder: the least game in which what is accepted depends on what was accepted before.

All climb one ladder.  `climb(to)` is taken if `to` is the rung above the top, so a move
that was refused would fit a moment later: it must stay refused for ever.  `draw` shows its
player a card that nobody else sees.  Every move carries a `mark` of its own, which its
event shows: whoever reads the log knows which move of which phone it was.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from random import Random

import msgspec

from games.contract import GameSpec, Outcome, Refusal

LADDER = "ladder"


class _Strict(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Climb(_Strict, tag_field="t", tag="climb"):
    to: int
    mark: int


class Draw(_Strict, tag_field="t", tag="draw"):
    mark: int


class LadderOptions(_Strict):
    bell: int = 0
    """Ms of play time between two bells, which the table rings by itself; 0: none."""


class Dealt(_Strict, tag_field="t", tag="dealt"):
    seats: list[int]


class Climbed(_Strict, tag_field="t", tag="climbed"):
    seat: int
    to: int
    mark: int


class Drew(_Strict, tag_field="t", tag="drew"):
    """`card` is -1 in what everybody sees."""

    seat: int
    mark: int
    card: int = -1


class Shown(_Strict, tag_field="t", tag="shown"):
    """The own part of a `drew`."""

    card: int


class Rang(_Strict, tag_field="t", tag="rang"):
    times: int


LadderEvent = Dealt | Climbed | Drew | Rang
LadderNews = Dealt | Climbed | Drew | Rang | Shown


class LadderState(msgspec.Struct):
    """`digest` chains every event in: equal digests, equal histories.  `hands`: the same of each seat's cards."""

    seats: list[int]
    bell: int
    seq: int = 0
    top: int = 0
    last_by: int = 0
    digest: int = 0
    rang: int = 0
    hands: dict[int, int] = {}
    present: list[int] = []


class LadderView(_Strict):
    top: int
    digest: int
    rang: int
    hand: int | None = None


def chained(digest: int, *what: int) -> int:
    return zlib.crc32(",".join(map(str, what)).encode(), digest)


class LadderGame:
    """See `games.contract.Game`."""

    spec = GameSpec(
        id=LADDER,
        title="Ladder",
        min_seats=1,
        max_seats=8,
        max_bots=0,
        kind="race",
        move_type=Climb | Draw,
        event_type=LadderEvent,
        public_event_type=LadderNews,
        view_type=LadderView,
        options_type=LadderOptions,
        host_moves=(),
    )

    def open(self, seats: Sequence[int], options: LadderOptions) -> LadderState:
        return LadderState(list(seats), options.bell)

    def deal(self, seats: Sequence[int], options: LadderOptions, dice: Random) -> LadderEvent:
        return Dealt(list(seats))

    def actors(self, state: LadderState) -> frozenset[int]:
        return frozenset(state.seats)

    def legal_moves(self, state: LadderState, seat: int) -> Sequence[Climb | Draw]:
        return [Climb(state.top + 1, 0)]

    def decide(self, state: LadderState, seat: int, move: Climb | Draw, now: int, basis: int) -> Sequence[LadderEvent]:
        if isinstance(move, Climb):
            if move.to <= state.top:
                raise Refusal("snatched", by=state.last_by, pile=0)
            if move.to > state.top + 1:
                raise Refusal("no_pile")
            return [Climbed(seat, move.to, move.mark)]
        if state.top % 3 == 0:
            raise Refusal("not_allowed")
        return [Drew(seat, move.mark, chained(state.digest, seat, move.mark) % 52)]

    def evolve(self, state: LadderState, event: LadderEvent) -> None:
        state.seq += 1
        if isinstance(event, Climbed):
            state.top, state.last_by = event.to, event.seat
            state.digest = chained(state.digest, event.seat, event.to, event.mark)
        elif isinstance(event, Drew):
            state.digest = chained(state.digest, event.seat, event.mark)
            state.hands[event.seat] = chained(state.hands.get(event.seat, 0), event.card)
        elif isinstance(event, Rang):
            state.rang = event.times

    def follow(self, state: LadderState, now: int) -> Sequence[LadderEvent]:
        return []

    def attend(self, state: LadderState, present: frozenset[int], now: int) -> None:
        state.present = sorted(present)

    def redact(self, event: LadderEvent, seat: int | None) -> LadderNews | None:
        if not isinstance(event, Drew):
            return event if seat is None else None
        if seat is None:
            return Drew(event.seat, event.mark)
        return Shown(event.card) if seat == event.seat else None

    def private_to(self, event: LadderEvent) -> Sequence[int]:
        return (event.seat,) if isinstance(event, Drew) else ()

    def view(self, state: LadderState, seat: int | None) -> LadderView:
        return LadderView(state.top, state.digest, state.rang, state.hands.get(seat, 0) if seat is not None else None)

    def apply(self, view: LadderView, event: LadderNews) -> None:
        if isinstance(event, Climbed):
            view.top, view.digest = event.to, chained(view.digest, event.seat, event.to, event.mark)
        elif isinstance(event, Drew):
            view.digest = chained(view.digest, event.seat, event.mark)
        elif isinstance(event, Shown):
            view.hand = chained(view.hand or 0, event.card)
        elif isinstance(event, Rang):
            view.rang = event.times

    def wakes_at(self, state: LadderState) -> int | None:
        return (state.rang + 1) * state.bell if state.bell and state.present else None

    def wake(self, state: LadderState, now: int) -> Sequence[LadderEvent]:
        at = self.wakes_at(state)
        return [Rang(state.rang + 1)] if at is not None and now >= at else []

    def hand_over(self, state: LadderState) -> bool:
        return False

    def outcome(self, state: LadderState) -> Outcome | None:
        return None

    def dump(self, state: LadderState) -> bytes:
        return msgspec.msgpack.encode(state)

    def load(self, data: bytes) -> LadderState:
        return msgspec.msgpack.decode(data, type=LadderState)


GAME = LadderGame()
