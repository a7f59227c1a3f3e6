"""What many runs come to: rounds, void ones, and what was promised."""

from __future__ import annotations

from benchmarks import verdict
from benchmarks.path import Turn, turns
from benchmarks.plan import FULL, PLANS, QUICK
from benchmarks.results import PathFigures, Result
from benchmarks.summary import cpu, figure, p99, ratio
from benchmarks.twins import a_result, peer_run, recovery_run, run, watch_run
from benchmarks.verdict import ours, theirs


def test_a_ratio_is_taken_within_each_round_and_told_with_its_spread() -> None:
    runs = [
        run(round=1, cpu=100.0),
        peer_run(round=1, cpu=200.0),
        run(round=2, cpu=300.0),
        peer_run(round=2, cpu=400.0),
    ]
    found = ratio(runs, ours(4000), theirs(4000), cpu)
    assert found is not None
    assert (found.median, found.low, found.high, found.rounds) == (0.625, 0.5, 0.75, 2)


def test_a_void_run_takes_its_round_out_on_either_side() -> None:
    runs = [
        *(run(round=1, cpu=100.0), peer_run(round=1, cpu=200.0)),
        *(run(round=2, cpu=900.0, void=True), peer_run(round=2, cpu=100.0)),
        *(run(round=3, cpu=900.0), peer_run(round=3, cpu=100.0, void=True)),
    ]
    found = ratio(runs, ours(4000), theirs(4000), cpu)
    assert found is not None
    assert (found.median, found.rounds) == (0.5, 1)
    alone = figure(runs, ours(4000), cpu)
    assert alone is not None
    assert (alone.low, alone.high, alone.rounds) == (100.0, 900.0, 2)


def test_rounds_of_other_sizes_rates_engines_and_modes_are_not_mixed_in() -> None:
    others = [
        *(run(players=1000), run(engines=2), run(rate=0.0)),
        *(peer_run(players=1000), peer_run(mode="schema"), peer_run(rate=0.0)),
    ]
    assert ratio(others, ours(4000), theirs(4000), p99) is None
    assert figure(others, ours(4000), p99) is None


def test_nothing_is_compared_when_all_runs_are_void() -> None:
    results = {"path": a_result("path", PathFigures([run(void=True), peer_run()]))}
    line = verdict.lines(results)[0]
    assert (line.measured, line.holds) == (verdict.MISSING, None)


def line_of(results: dict[str, Result], words: str) -> verdict.Line:
    (found,) = (line for line in verdict.lines(results) if words in line.what)
    return found


def test_a_promise_is_held_by_the_median_and_the_figures_stand_beside_it() -> None:
    runs = [run(round=n, cpu=c) for n, c in ((1, 90.0), (2, 120.0), (3, 95.0))]
    runs += [peer_run(round=n, cpu=100.0) for n in (1, 2, 3)]
    line = line_of({"path": a_result("path", PathFigures(runs))}, "CPU per move against the peer's, 4,000")
    assert line.holds is True
    assert line.measured == "0.95 (0.90–1.20) ×"
    assert line.beside == "95 (90–120) to 100 (100–100) µs"


def test_a_promise_that_is_not_held_says_so() -> None:
    runs = [run(p99=60.0), peer_run(p99=100.0)]
    line = line_of({"path": a_result("path", PathFigures(runs))}, "p99 move")
    assert line.holds is False
    assert any("✗ short" in row for row in verdict.table([line]))


def test_what_was_lost_or_doubled_counts_also_in_void_runs() -> None:
    runs = [run(void=True, lost=2), run(round=2, doubled=1), run(round=3, amiss=["a page differs"])]
    results = {"path": a_result("path", PathFigures(runs)), "recovery": recovery_run(not_back=1)}
    assert verdict.losses(results) == 5
    assert line_of(results, "acknowledged").holds is False
    assert verdict.losses({"path": a_result("path", PathFigures([run()]))}) == 0


def test_what_spectators_were_promised_is_held_by_the_largest_crowd() -> None:
    held = {"watch": watch_run()}
    assert line_of(held, "deliveries").measured == "80,000"
    assert [line.holds for line in verdict.lines(held) if "spectator" in line.what][:3] == [True, True, True]
    short = {"watch": watch_run(each=70_000, stopped=50_000, idle_kb=13.0, wrong=2)}
    assert [line.holds for line in verdict.lines(short) if "spectator" in line.what][:3] == [False, False, False]
    assert verdict.losses(short) == 2


def test_what_is_compared_is_run_in_turns() -> None:
    of_1000 = [turn for turn in turns(FULL) if turn.players == 1000 and turn.mode == "broadcast"]
    half = len(of_1000) // FULL.rounds
    assert [turn._replace(round=1) for turn in of_1000[half:]] == of_1000[:half]
    of_4000 = [turn for turn in turns(FULL) if turn.players == 4000]
    assert {str(turn).rpartition(": ")[2] for turn in of_4000} == {
        "snatch, 1 engine",
        "snatch, 2 engines",
        "peer, broadcast",
        "peer, schema",
    }
    assert of_4000[0] == Turn(1, 4000, 1.0, engines=1)
    assert of_4000[1] == Turn(1, 4000, 1.0)


def test_every_plan_measures_ours_and_the_peer_equally_often() -> None:
    for plan in PLANS.values():
        made = list(turns(plan))
        for players in plan.sizes:
            mine = [t.round for t in made if t.players == players and t.engines == 1]
            other = [t.round for t in made if t.players == players and not t.engines and t.mode == "broadcast"]
            assert mine == other
            assert mine == list(range(1, (plan.rounds if players in plan.often else 1) + 1))
    assert FULL.rounds >= 2
    assert QUICK.rounds >= 2
