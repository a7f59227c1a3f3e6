from __future__ import annotations

from random import Random

import pytest

from simulate.load_schedule import Schedule


def test_a_generator_that_was_away_is_given_every_move_that_fell_due_with_its_own_time() -> None:
    schedule: Schedule[str] = Schedule(10.0, Random(1))
    schedule.add("ann", now=0.0, phase=0.0)
    assert [at for at, _ in schedule.due(0.25)] == pytest.approx([0.0, 0.1, 0.2])
    stalled = list(schedule.due(1.05))
    assert [at for at, _ in stalled] == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert schedule.next_at == pytest.approx(1.1)


def test_what_is_due_comes_in_order_over_all_players() -> None:
    schedule: Schedule[int] = Schedule(2.0, Random(7))
    for player in range(50):
        schedule.add(player, now=100.0)
    given = list(schedule.due(110.0))
    assert [at for at, _ in given] == sorted(at for at, _ in given)
    assert len(given) == 50 * 20
    assert {player for _, player in given} == set(range(50))


def test_phases_are_spread_over_the_whole_period() -> None:
    schedule: Schedule[int] = Schedule(1.0, Random(3))
    for player in range(400):
        schedule.add(player, now=0.0)
    tenths = [0] * 10
    for at, _ in schedule.due(0.9999):
        tenths[int(at * 10)] += 1
    assert sum(tenths) == 400
    assert min(tenths) > 20


def test_a_spike_shortens_pauses_that_run_already_and_its_end_lengthens_them_again() -> None:
    schedule: Schedule[str] = Schedule(1.0, Random(1))
    schedule.add("ann", now=0.0, phase=0.8)
    schedule.faster(10.0, now=0.0)
    assert [at for at, _ in schedule.due(0.3)] == pytest.approx([0.08, 0.18, 0.28])
    schedule.faster(1.0, now=0.3)
    assert schedule.next_at == pytest.approx(0.3 + 0.8)


def test_the_same_seed_has_the_same_moves_due() -> None:
    runs = []
    for _ in range(2):
        schedule: Schedule[int] = Schedule(3.0, Random(42))
        for player in range(5):
            schedule.add(player, now=0.0)
        runs.append(list(schedule.due(5.0)))
    assert runs[0] == runs[1]


def test_nothing_is_due_once_it_is_cleared() -> None:
    schedule: Schedule[str] = Schedule(1.0, Random(1))
    schedule.add("ann", now=0.0)
    schedule.clear()
    assert list(schedule.due(1e9)) == []
    assert schedule.next_at is None
