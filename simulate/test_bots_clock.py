"""The clock of simulated hands: what is due happens in its order, and nobody waits."""

from __future__ import annotations

from functools import partial

from simulate.bots_clock import Clock


class Looker:
    def __init__(self, clock: Clock) -> None:
        self.clock, self.looked = clock, list[float]()

    def look(self, late: float) -> None:
        self.looked.append(self.clock.now())


def test_what_is_due_happens_in_order_and_at_its_time() -> None:
    clock, seen = Clock(), list[tuple[str, float]]()

    def see(name: str) -> None:
        seen.append((name, clock.now()))

    for name, at in (("late", 3.0), ("first", 1.0), ("second", 1.0)):
        clock.call_at(at, partial(see, name))
    assert not clock.run(lambda: False, limit=10.0)
    assert seen == [("first", 1.0), ("second", 1.0), ("late", 3.0)]
    assert clock.ms == 3000


def test_a_new_look_takes_the_place_of_the_old_one_and_a_dropped_one_never_comes() -> None:
    clock = Clock()
    moved, dropped = Looker(clock), Looker(clock)
    clock.put(1.0, moved)
    clock.put(2.0, moved)
    clock.put(1.5, dropped)
    clock.drop(dropped)
    clock.run(lambda: False, limit=10.0)
    assert moved.looked == [2.0]
    assert dropped.looked == []


def test_time_stands_still_once_what_was_waited_for_is_so_and_goes_no_further_than_the_limit() -> None:
    clock, seen = Clock(), list[float]()
    for at in (1.0, 2.0, 3.0):
        clock.call_at(at, lambda: seen.append(clock.now()))
    assert clock.run(lambda: len(seen) == 1, limit=10.0)
    assert seen == [1.0]
    assert not clock.run(lambda: False, limit=2.5)
    assert seen == [1.0, 2.0]


def test_what_is_asked_for_in_the_past_happens_now() -> None:
    clock, seen = Clock(), list[float]()
    clock.call_at(5.0, lambda: clock.call_at(1.0, lambda: seen.append(clock.now())))
    clock.run(lambda: False, limit=10.0)
    assert seen == [5.0]
