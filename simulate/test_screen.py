"""A screen that is told all that its audience may know shows what the engine would show it."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import msgspec
import pytest

from games.contract import Refusal
from games.registry import GAMES
from games.snatch_solitaire.messages import HandEnded, HandResult, Options, Score, Stuck, Turned, View
from simulate.screen import Screen
from simulate.snatch_solitaire import faults
from wire import client_out as out

GAME = GAMES["snatch_solitaire"]
SEATS = [0, 2]


class Table:
    """The game's kernel and the frames that an engine would make of it, as bytes."""

    def __init__(self, *screens: Screen) -> None:
        self.screens = screens
        self.state = GAME.open(SEATS, Options())
        for screen, seat in zip(screens, [*SEATS, None], strict=False):
            members: list[out.Member] = [out.Member(s, f"p{s}", f"P{s}", s, playing=True) for s in SEATS]
            view = out.TableView("t", "snatch_solitaire", "dealing", 0, members, {})
            you = None if seat is None else out.You(seat, False)
            self._tell(screen, out.Snapshot(1, "BCDFG", 0, 0, view, None, you))
        self.play([GAME.deal(SEATS, Options(), Random(7))])
        self.play([], out.Live())

    def play(self, events: Any, *more: Any, by: int | None = None, id: int | None = None) -> None:
        for event in events:
            GAME.evolve(self.state, event)
        public = [*filter(None, (GAME.redact(e, None) for e in events)), *more]
        seq = self.state.seq
        for screen in self.screens:
            if public:
                self._tell(screen, out.TableFrame(1, seq, [out.Step(public, by, id)]))
            own = [p for e in events if screen.seat is not None and (p := GAME.redact(e, screen.seat)) is not None]
            if own:
                self._tell(screen, out.SeatFrame(1, seq, [out.Step(own, None, id if by == screen.seat else None)]))

    def _tell(self, screen: Screen, message: Any) -> None:
        decoded = msgspec.json.decode(msgspec.json.encode(message), type=out.ServerMessage)
        if isinstance(decoded, out.Snapshot):
            screen.snapshot(decoded)
        elif isinstance(decoded, out.TableFrame | out.SeatFrame):
            screen.frame(decoded)


@pytest.mark.parametrize("seed", range(5))
def test_random_play_shows_each_screen_and_the_tv_what_the_engine_would(seed: int) -> None:
    screens = [Screen(), Screen(), Screen()]
    table = Table(*screens)
    dice = Random(seed)
    for number in range(150):
        seat = dice.choice(SEATS)
        moves = GAME.legal_moves(table.state, seat)
        if not moves or GAME.hand_over(table.state):
            break
        try:
            events = GAME.decide(table.state, seat, dice.choice(moves), number, table.state.seq)
        except Refusal:
            continue
        table.play(events, by=seat, id=number + 1)
        for screen, audience in zip(screens, [*SEATS, None], strict=True):
            assert screen.view == GAME.view(table.state, audience)
            assert not screen.owed
            assert faults(screen.view, screen.seat, screen.placed) == []


def test_a_card_too_few_is_found() -> None:
    screen = Screen()
    Table(screen)
    view: View = screen.view
    assert view.mine is not None
    view.mine.stock -= 1
    assert faults(view, 0, screen.placed) == ["seat 0 has 51 cards"]


def test_a_card_that_lies_twice_is_found() -> None:
    screen = Screen()
    Table(screen)
    view: View = screen.view
    assert view.mine is not None
    card = view.mine.work[0][0]
    view.mine.work[1] = [card]
    assert faults(view, 0, screen.placed) == [f"seat 0 holds {card} twice"]


def test_a_snatch_pile_that_shows_a_card_and_has_none_is_found() -> None:
    screen = Screen()
    Table(screen)
    view: View = screen.view
    view.seats[0].left = 0
    assert any("on a snatch pile of 0" in fault for fault in faults(view, 0, None))


def test_cards_are_not_counted_for_a_screen_that_came_in_mid_hand() -> None:
    screen = Screen()
    Table(screen)
    screen.snapshot(
        out.Snapshot(1, "BCDFG", 0, 9, screen.table, msgspec.to_builtins(screen.view), screen.you)  # type: ignore[arg-type]
    )
    assert screen.placed is None
    assert faults(screen.view, 0, None) == []
    assert faults(screen.view, 0, Counter({0: 1})) == ["seat 0 has 53 cards"]


def test_a_public_part_waits_for_the_own_part_before_it_is_judged() -> None:
    screen = Screen()
    table = Table(screen)
    dealt = GAME.deal(SEATS, Options(), Random(8))
    public = GAME.redact(dealt, None)
    table._tell(screen, out.TableFrame(1, 9, [out.Step([public])]))
    assert screen.owed
    table._tell(screen, out.SeatFrame(1, 9, [out.Step([GAME.redact(dealt, 0)])]))
    assert not screen.owed


def test_the_own_part_of_the_move_that_ended_the_hand_leaves_nothing_to_undo() -> None:
    screen = Screen()
    table = Table(screen)
    result = HandResult(0, [Score(0, 0, 0), Score(2, 13, 13)])
    table._tell(screen, out.TableFrame(1, 9, [out.Step([HandEnded(result), out.Scores(True)], 0, 5)]))
    card = screen.view.mine.work[0][0]
    table._tell(screen, out.SeatFrame(1, 9, [out.Step([Turned(card), Stuck(True)], None, 5)]))
    assert not screen.view.mine.undo
    assert not screen.view.mine.stuck
