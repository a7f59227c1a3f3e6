"""When a process sleeps out a gap, and for how long: with a clock and a loop of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from servicekit.pace import BUSY_GAP, LOOKS, TURNS, Pace


class Hands:
    """A clock that sleeping moves on, and a queue of what is to be called soon."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.soon: list[Callable[[], None]] = []
        self.pace = Pace(lambda: self.now, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.soon.append(callback)

    def turn(self) -> int:
        """All that is to be called soon, until nothing is; how many turns that took."""
        turns = 0
        while self.soon:
            turns += 1
            due, self.soon = self.soon, []
            for callback in due:
                callback()
        return turns

    def hear_for(self, seconds: float, rate: float, messages: int = 1) -> None:
        """So many messages arrive so many times a second; each turn reads all that has come."""
        due, end = self.now, self.now + seconds
        while due < end:
            self.now = max(self.now, due)
            while due <= self.now:
                self.pace.heard(messages)
                due += 1 / rate
            self.turn()


@pytest.fixture
def hands() -> Hands:
    made = Hands()
    made.pace.start(cast(asyncio.AbstractEventLoop, cast(Any, made)))
    return made


def test_a_quiet_process_never_sleeps(hands: Hands) -> None:
    hands.hear_for(5 * LOOKS, rate=100)
    assert hands.slept == []


def test_a_busy_one_sleeps_out_what_is_left_of_its_gap_after_each_turn(hands: Hands) -> None:
    hands.hear_for(3 * LOOKS, rate=2000)
    hands.slept.clear()
    before = hands.now
    for _ in range(10):
        hands.pace.heard()
        hands.now += 0.001  # what a turn does takes its time
        hands.turn()
    assert hands.now - before == pytest.approx(10 * BUSY_GAP, abs=BUSY_GAP)
    assert len(hands.slept) == 10
    assert max(hands.slept) <= BUSY_GAP


def test_messages_are_counted_not_the_pieces_that_bring_them(hands: Hands) -> None:
    hands.hear_for(3 * LOOKS, rate=100, messages=20)
    assert hands.pace.gap == BUSY_GAP
    hands.hear_for(3 * LOOKS, rate=2000, messages=0)
    assert hands.pace.gap == 0.0


def test_what_was_read_is_passed_on_before_the_gap(hands: Hands) -> None:
    hands.pace.heard()
    hands.pace.heard()
    assert len(hands.soon) == 1
    assert hands.turn() == TURNS


def test_one_that_falls_quiet_is_not_waited_for_any_more(hands: Hands) -> None:
    hands.hear_for(3 * LOOKS, rate=2000)
    assert hands.pace.gap == BUSY_GAP
    hands.hear_for(3 * LOOKS, rate=50)
    hands.slept.clear()
    hands.hear_for(3 * LOOKS, rate=50)
    assert (hands.pace.gap, hands.slept) == (0.0, [])


def test_a_turn_that_took_longer_than_the_gap_is_followed_by_the_next_at_once(hands: Hands) -> None:
    hands.hear_for(3 * LOOKS, rate=2000)
    hands.slept.clear()
    for _ in range(5):
        hands.pace.heard()
        hands.now += 2 * BUSY_GAP
        hands.turn()
    assert hands.slept == []


def test_nothing_happens_where_it_was_not_started() -> None:
    hands = Hands()
    hands.hear_for(3 * LOOKS, rate=2000)
    assert (hands.slept, hands.soon) == ([], [])
