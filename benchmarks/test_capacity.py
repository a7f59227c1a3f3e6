"""What fits, of runs that no machine made."""

from __future__ import annotations

import msgspec

from benchmarks import capacity
from benchmarks.results import PathFigures
from benchmarks.twins import a_result, peer_run, run


def test_players_with_whom_the_fullest_process_is_full_are_told_from_what_it_used() -> None:
    one = run(players=1000, cpu=200.0)
    other = msgspec.structs.replace(one, engines=2, cpu_by_kind={"engine": 160.0, "gateway": 100.0})
    alone, shared = capacity.rows(a_result("path", PathFigures([other, one])))
    assert (alone.engines, alone.fullest, round(alone.share, 3), alone.holds) == (1, "gateway", 0.1, 8000)
    assert (shared.engines, shared.fullest, round(shared.share, 3)) == (2, "gateway", 0.1), "two share 160 µs"


def test_the_peer_void_runs_and_those_flat_out_say_nothing_of_what_fits() -> None:
    runs = [peer_run(), run(void=True), run(players=100, rate=0.0)]
    assert capacity.rows(a_result("path", PathFigures(runs))) == []
    assert capacity.rows(None) == []


def test_the_table_has_a_row_for_each_size_smallest_first() -> None:
    found = list(capacity.table({"path": a_result("path", PathFigures([run(players=4000), run(players=400)]))}))
    assert [row.split(" | ")[0] for row in found[2:]] == ["| 400", "| 4,000"]
    assert "| 4,000 | 1 | 0.50 | 8,000 |" in found[3]
