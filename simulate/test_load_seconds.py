"""Seconds of a run, told by generators that may be late."""

from __future__ import annotations

from simulate.load_delays import bucketed
from simulate.load_orders import Second
from simulate.load_record import Phase, ServiceSample
from simulate.load_seconds import PATIENCE, Seconds

HOLD: Phase = "hold"


def second(at: float, moves: int, players: int = 4, delay: float = 0.004) -> Second:
    delays = {"own": bucketed([delay] * moves), "rival": {}, "tv": {}}
    return Second(at, players, 1, moves, moves, moves, 0, 0, 0, 10 * moves, bucketed([0.001]), 0.5, delays)


def seconds(generators: int) -> Seconds:
    made = Seconds()
    made.generators = generators
    return made


def test_a_second_is_given_when_all_generators_told_of_it() -> None:
    run = seconds(2)
    run.hear(0, second(100.01, 7))
    run.look(100, HOLD, {"engine-1": ServiceSample(0.5, 90.0)}, 1.5)
    assert list(run.take()) == []
    run.hear(1, second(100.2, 5, delay=0.1))
    (sample,) = run.take()
    assert (sample.at, sample.moves, sample.own.count, sample.players) == (100, 12, 12, 8)
    assert sample.own.p50_ms < 5 < 90 < sample.own.max_ms
    assert (sample.services["engine-1"].cpu, sample.machine_cpu) == (0.5, 1.5)


def test_a_generator_that_tells_late_loses_nothing_and_its_second_stays_its_own() -> None:
    run = seconds(1)
    run.look(100, HOLD, {}, 0.0)
    run.look(101, HOLD, {}, 0.0)
    run.hear(0, second(100.4, 7))
    run.hear(0, second(101.0, 8))
    assert [sample.moves for sample in run.take()] == [7, 8]


def test_a_second_waits_only_so_long_and_what_comes_later_counts_for_the_next() -> None:
    run = seconds(1)
    for at in range(100, 100 + PATIENCE + 1):
        run.look(at, HOLD, {}, 0.0)
    assert [(sample.at, sample.moves) for sample in run.take()] == [(100, 0)]
    run.hear(0, second(100.0, 7))
    run.hear(0, second(101.0, 8))
    assert [(sample.at, sample.moves) for sample in run.take()] == [(101, 15)]
    assert sum(sample.moves for sample in run.take(every=True)) == 0


def test_a_second_in_which_nobody_looked_is_in_the_next() -> None:
    run = seconds(1)
    run.hear(0, second(100.0, 3))
    run.hear(0, second(101.0, 4))
    run.look(101, HOLD, {}, 0.0)
    assert [sample.moves for sample in run.take()] == [7]


def test_players_of_a_generator_that_says_nothing_for_a_while_are_still_there() -> None:
    run = seconds(1)
    run.hear(0, second(100.0, 3))
    run.look(100, HOLD, {}, 0.0)
    run.look(101, HOLD, {}, 0.0)
    assert [sample.players for sample in run.take(every=True)] == [4, 4]
