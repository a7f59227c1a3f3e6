"""What processes use is counted though they die, are replaced, and have children: with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulate.load_samples import SUPERVISOR, Change, Meter, Use, machine, over, seconds, servers

BURN = """
import sys, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass
print("up", flush=True)
for line in sys.stdin:
    what, _, seconds = line.partition(" ")
    if what == "child":
        import subprocess
        code = f"import time\\nwhile time.process_time() < {float(seconds)}: pass"
        subprocess.run([sys.executable, "-c", code], check=True)
    else:
        burn(float(seconds))
    print("burnt", flush=True)
"""
SOON = 0.35
"""CPU seconds that are burnt: well above what starting Python takes, and the kernel's 10 ms."""


def burnt(cpu: float, times: int) -> bool:
    """Whether it is what so many burns use, and starting Python; none is missing, none counted twice."""
    return (times - 0.1) * SOON <= cpu < (times + 0.8) * SOON


class Burner:
    """A process that uses CPU when it is told to, and has used it when `burn` returns."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._hear("up")

    def burn(self, seconds: float, what: str = "burn") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what} {seconds}\n")
        self.process.stdin.flush()
        self._hear("burnt")

    def kill(self) -> None:
        """And reaped, as its supervisor does."""
        self.process.kill()
        self.process.wait()

    def _hear(self, word: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == word


class TwinStack:
    """A stack's state with one part; this process is its supervisor."""

    def __init__(self) -> None:
        self.burner: Burner | None = Burner()
        self.state = "ready"
        self.listed = True
        self.meter = Meter(self.stack(), lambda _: self.stack())

    def stack(self) -> dict[str, Any]:
        pid = self.burner.process.pid if self.burner is not None else None
        part = {"name": "engine-1", "kind": "engine", "pid": pid, "state": self.state, "restarts": 0}
        return {"data": "/nowhere", "pid": os.getpid(), "parts": [part] if self.listed else []}

    def cpu(self) -> float:
        return self.meter.look()["engine-1"].cpu


@pytest.fixture
def twin() -> Iterator[TwinStack]:
    twin = TwinStack()
    yield twin
    if twin.burner is not None:
        twin.burner.kill()


def test_what_was_used_before_the_meter_was_made_is_not_counted() -> None:
    burner = Burner()
    burner.burn(SOON)
    twin = TwinStack.__new__(TwinStack)
    twin.burner, twin.state, twin.listed = burner, "ready", True
    twin.meter = Meter(twin.stack(), lambda _: twin.stack())
    assert not burnt(twin.cpu(), 1)
    burner.burn(SOON)
    assert burnt(twin.cpu(), 1)
    burner.kill()


def test_a_process_that_dies_keeps_what_it_used_after_the_last_look(twin: TwinStack) -> None:
    assert twin.burner is not None
    twin.burner.burn(SOON)
    twin.cpu()
    twin.burner.burn(SOON)
    twin.burner.kill()
    twin.burner, twin.state = None, "down"
    use = twin.meter.look()["engine-1"]
    assert burnt(use.cpu, 2)
    assert (use.processes, use.memory) == (0, 0)
    assert twin.cpu() == use.cpu
    assert Change("engine-1", "ended") in twin.meter.events


def test_a_process_that_was_replaced_between_two_looks_counts_with_its_heir(twin: TwinStack) -> None:
    assert twin.burner is not None
    twin.burner.burn(SOON)
    twin.cpu()
    twin.burner.burn(SOON)
    twin.burner.kill()
    twin.burner = Burner()
    twin.burner.burn(SOON)
    use = twin.meter.look()["engine-1"]
    assert burnt(use.cpu, 3)
    assert use.processes == 1
    assert use.memory > 0
    assert [event.what for event in twin.meter.events] == ["ended", "ready"]


def test_children_count_while_they_live_and_after(twin: TwinStack) -> None:
    assert twin.burner is not None
    twin.burner.burn(SOON, "child")
    assert burnt(twin.cpu(), 1)
    twin.burner.kill()
    twin.burner, twin.state = None, "down"
    assert burnt(twin.cpu(), 1)


def test_a_part_that_is_stopped_by_a_signal_stays_and_one_that_leaves_the_list_is_told(twin: TwinStack) -> None:
    assert twin.burner is not None
    twin.burner.process.send_signal(signal.SIGSTOP)
    twin.state = "not ready"
    assert twin.meter.look()["engine-1"].processes == 1
    twin.burner.process.send_signal(signal.SIGCONT)
    twin.state = "ready"
    twin.meter.look()
    twin.listed = False
    twin.burner.kill()
    twin.meter.look()
    assert [event.what for event in twin.meter.events] == ["not ready", "ready", "removed"]


def test_the_supervisor_is_listed_but_no_server() -> None:
    uses = {"engine-1": Use("engine", 2.0, 5, 1), "engine-2": Use("engine", 1.0, 6, 2), SUPERVISOR: Use("x", 9.0)}
    assert servers(uses) == 3.0


def test_a_part_that_came_meanwhile_is_counted_from_nothing() -> None:
    idle = {"engine-1": Use("engine", 0.5, 40_000_000, 1, 30_000_000)}
    before = {"engine-1": Use("engine", 1.0, 50_000_000, 1)}
    after = {"engine-1": Use("engine", 3.0, 45_000_000, 2, 50_000_000), "engine-2": Use("engine", 0.5, 30_000_000, 1)}
    second = seconds(before, after, 4.0)
    assert (second["engine-1"].cpu, second["engine-1"].processes) == (0.5, 2)
    assert second["engine-2"].cpu == 0.125
    held = over(before, after, 4.0, 1000, idle, 100)
    assert held["engine-1"].cpu_us_per_move == 2000
    assert held["engine-2"].cpu_us_per_move == 500
    assert held["engine-1"].memory_mb_per_1000_players == 200


def test_what_the_machine_was_busy_with_grows_by_what_is_burnt() -> None:
    before = machine()
    burner = Burner()
    burner.burn(SOON)
    burner.kill()
    assert machine() - before >= SOON * 0.5


def test_a_stack_known_by_its_address_alone_has_no_parts(tmp_path: Path) -> None:
    meter = Meter({"url": "http://127.0.0.1:1"}, lambda _: None)
    assert meter.look() == {}
