"""How long it takes until a room can be hosted and dealt, from nothing and on data of before."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks import peer
from benchmarks.path import Say
from benchmarks.plan import Clock, Plan
from benchmarks.programs import LeftOut
from benchmarks.results import StartFigures, StartRun
from stack import lent


def measure(plan: Plan, clock: Clock, say: Say) -> tuple[StartFigures, list[str]]:
    runs: list[StartRun] = []
    left_out: list[str] = []
    for _ in range(plan.starts):
        try:
            clock.check()
            runs += _ours()
            runs.append(_peer())
        except (LeftOut, lent.NotStarted) as why:
            left_out.append(f"a start: {str(why)[-300:]}")
            say(f"✗ {left_out[-1]}")
            continue
        say(", ".join(f"{run.what}: {run.seconds:.2f} s" for run in runs[-3:]))
    return StartFigures(runs), left_out


def _ours() -> list[StartRun]:
    found: list[StartRun] = []
    with tempfile.TemporaryDirectory(prefix="snatch-bench-") as folder:
        for what in ("empty", "again"):
            began = time.monotonic()
            with lent.started(folder=Path(folder), say=False):
                found.append(StartRun(what, round(time.monotonic() - began, 2)))
    return found


def _peer() -> StartRun:
    with peer.server("broadcast") as heard:
        return StartRun(peer.NAME, round(heard.seconds, 2))
