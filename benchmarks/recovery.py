"""How long rooms stand still when their engine is killed, by how many there are: `benchmarks.failover` for each."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from benchmarks import programs
from benchmarks.path import Say
from benchmarks.plan import Clock, Plan
from benchmarks.programs import LeftOut
from benchmarks.results import RecoveryFigures, RecoveryRun


def measure(plan: Plan, clock: Clock, say: Say) -> tuple[RecoveryFigures, list[str]]:
    runs: list[RecoveryRun] = []
    left_out: list[str] = []
    for rooms in plan.recovery_rooms:
        try:
            clock.check()
            run = _run(rooms, plan.hold)
        except LeftOut as why:
            left_out.append(f"{rooms} rooms: {why}")
            say(f"✗ {left_out[-1]}")
            continue
        runs.append(run)
        amiss = f", NOT BACK {run.not_back}" if run.not_back else ""
        say(f"{rooms} rooms, engine killed: longest gap p50 {run.gap_p50_s:.2f}, max {run.gap_max_s:.2f} s{amiss}")
    return RecoveryFigures(runs), left_out


def _run(rooms: int, seconds: float) -> RecoveryRun:
    with tempfile.TemporaryDirectory(prefix="snatch-bench-") as folder:
        file = Path(folder) / "recovery.json"
        said = programs.module(
            "benchmarks.failover",
            *("--rooms", str(rooms), "--warm", f"{seconds:g}", "--after", f"{seconds:g}", "--json", str(file)),
            seconds=90 + rooms / 10,
            ends=(0, 1),
        )
        if not file.exists():
            raise LeftOut(f"benchmarks.failover: {programs.last_words(said)}")
        return msgspec.json.decode(file.read_bytes(), type=RecoveryRun)
