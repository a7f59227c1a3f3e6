"""What makes a chaos run fail: losses always, times when it is strict, and never in silence."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from simulate import chaos_report as report
from simulate.chaos_cells import cell
from simulate.chaos_run import CellResult
from simulate.chaos_verdict import RoomVerdict
from simulate.faults import Hit

SAME = {"clients": "a", "engine": "a", "log": "a"}


def result(kind: str = "engine", fault: str = "KILL", **changes: Any) -> CellResult:
    """A cell that went well, but for the changes."""
    well: dict[str, Any] = {
        "cell": cell(kind, fault),
        "hits": [Hit(f"{kind}-1", "KILL", 10.0, 1e9, 10.0, 11.5)],
        "seconds": 20.0,
        "moves": 100,
        "verdicts": {"BCDFG": RoomVerdict(acknowledged=100, hashes=SAME)},
        "gaps": [0.2],
        "last_back": None,
        "sockets_back": None,
        "tvs_back": None,
        "bots_back": None,
        "reconnects": 0,
        "refused": Counter({"snatched": 4}),
        "errors": Counter(),
        "broken": Counter(),
        "late_p99": 0.002,
        "late_max": 0.01,
        "cpu": 0.2,
    }
    return CellResult(**{**well, **changes})


def fails(one: CellResult, *, strict: bool = False) -> bool:
    return not report.well([one], strict=strict)


def test_a_cell_in_which_all_went_well_passes_strictly_and_is_a_line_of_the_table() -> None:
    assert not fails(result(), strict=True)
    header, line = report.table([result()]).splitlines()
    assert line.startswith("engine KILL")
    assert "1/1" in line
    assert "gap p50" in header
    assert report.words([result()], [], strict=True).startswith("✓")


@pytest.mark.parametrize(
    "verdict",
    [
        RoomVerdict(100, lost=1, hashes=SAME),
        RoomVerdict(100, doubled=1, hashes=SAME),
        RoomVerdict(100, unanswered=1, hashes=SAME),
        RoomVerdict(100, hashes={**SAME, "log": "b"}),
        RoomVerdict(100, fell="it never stood still"),
    ],
)
def test_a_loss_a_double_an_unequal_hash_and_a_room_that_fell_fail_always(verdict: RoomVerdict) -> None:
    assert fails(result(verdicts={"BCDFG": verdict}))


def test_a_broken_invariant_fails_and_so_does_a_run_that_hit_nothing() -> None:
    assert fails(result(broken=Counter({"the log is one chain": 1})))
    assert fails(result(hits=[]))
    assert not report.well([], strict=False)


def test_a_cell_in_which_nothing_was_played_or_nothing_was_measured_passes_for_nothing() -> None:
    assert fails(result(verdicts={}))
    assert fails(result(verdicts={"BCDFG": RoomVerdict(acknowledged=0, hashes=SAME)}))
    assert fails(result("bots", bots_back=None), strict=True)
    assert fails(result("gateway", sockets_back=None), strict=True)


def test_times_fail_when_it_is_strict_and_are_said_when_it_is_not() -> None:
    slow = result(gaps=[0.1] * 50 + [2.5, 2.6])
    assert not fails(slow)
    assert fails(slow, strict=True)
    assert "gap p99 2.60 s" in report.words([slow], [], strict=False)


def test_a_late_generator_is_named_beside_the_time_that_it_may_have_made() -> None:
    assert "players' own process was late" in result(gaps=[2.2], late_max=0.5).slow()[0]
    assert "players' own process" not in result(gaps=[9.0], late_max=0.5).slow()[0]


def test_a_drain_may_bring_no_error_and_no_refusal_that_play_does_not() -> None:
    assert not fails(result(fault="TERM"), strict=True)
    assert fails(result(fault="TERM", errors=Counter({"engine_away": 1})), strict=True)
    assert fails(result(fault="TERM", refused=Counter({"not_allowed": 1})), strict=True)
    assert not fails(result(fault="KILL", errors=Counter({"engine_away": 1})), strict=True)


def test_sockets_and_bots_have_limits_of_their_own() -> None:
    assert fails(result("gateway", sockets_back=2.1), strict=True)
    assert not fails(result("gateway", sockets_back=1.9), strict=True)
    assert fails(result("bots", bots_back=3.5), strict=True)


def test_machines_get_all_of_it() -> None:
    (said,) = report.as_json([result(gaps=[0.2, 1.5])])
    assert said["gap_ms"] == {"p50": 200.0, "p99": 1500.0, "max": 1500.0}
    assert said["hits"] == [{"part": "engine-1", "ready_ms": 1500.0}]
