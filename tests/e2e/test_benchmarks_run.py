"""The benchmarks that need a whole stack, at their smallest: nothing is lost; no time is asserted."""

from __future__ import annotations

import pytest

from benchmarks import path, recovery
from benchmarks.plan import TINY, Clock
from benchmarks.results import RecoveryRun

pytestmark = pytest.mark.stack


def test_a_run_of_the_path_loses_and_doubles_nothing() -> None:
    run = path.ours(path.Turn(1, 8, 1.0, engines=1), TINY)
    assert (run.lost, run.doubled, run.amiss) == (0, 0, [])
    assert {"engine", "gateway", "nats"} <= run.cpu_by_kind.keys()
    assert run.players == 8


def test_every_room_comes_back_when_its_engine_is_killed() -> None:
    found, left_out = recovery.measure(TINY, Clock(5), lambda _: None)
    assert left_out == []
    (run,) = found.runs
    assert isinstance(run, RecoveryRun)
    assert (run.rooms, run.not_back) == (3, 0)
