"""Processes are hit one after another, and nobody stays stopped."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from simulate.faults import Faulter, NoParts


class TwinStack:
    """Two processes that sleep, and a state as a stack's folder has it; who dies comes back."""

    def __init__(self) -> None:
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.restarts = {"engine-1": 0, "engine-2": 0}
        self.comes_back = True
        for name in self.restarts:
            self._start(name)

    def _start(self, name: str) -> None:
        self.processes[name] = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

    def state(self) -> dict[str, Any]:
        for name, process in list(self.processes.items()):
            if self.comes_back and process.poll() is not None:
                self.restarts[name] += 1
                self._start(name)
        return {
            "parts": [
                {
                    "name": name,
                    "kind": "engine",
                    "pid": process.pid,
                    "state": "ready" if process.poll() is None else "down",
                    "restarts": self.restarts[name],
                }
                for name, process in self.processes.items()
            ]
        }

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def status(self, name: str) -> str:
        return psutil.Process(self.processes[name].pid).status()


async def stopped(twin: TwinStack, name: str) -> None:
    while twin.status(name) != psutil.STATUS_STOPPED:  # noqa: ASYNC110 - the kernel tells nobody
        await asyncio.sleep(0.01)


@pytest.fixture
def twin() -> Iterator[TwinStack]:
    stack = TwinStack()
    yield stack
    stack.end()


async def test_each_is_hit_in_its_turn_and_is_ready_when_the_hit_is_over(twin: TwinStack) -> None:
    faulter = Faulter(twin.state, "engine")
    hits = [await faulter.hit("KILL", 0.0), await faulter.hit("TERM", 0.0), await faulter.hit("KILL", 0.0)]
    assert [h.part for h in hits] == ["engine-1", "engine-2", "engine-1"]
    assert twin.restarts == {"engine-1": 2, "engine-2": 1}
    assert all(h.ready is not None and h.ready >= h.at for h in hits)


async def test_a_stopped_one_is_stopped_for_that_long_and_wakes(twin: TwinStack) -> None:
    faulter = Faulter(twin.state, "engine")
    hitting = asyncio.create_task(faulter.hit("STOP", 0.4))
    await stopped(twin, "engine-1")
    hit = await hitting
    assert twin.status("engine-1") != psutil.STATUS_STOPPED
    assert hit.over is not None
    assert twin.restarts == {"engine-1": 0, "engine-2": 0}


async def test_a_run_that_is_given_up_leaves_nobody_stopped(twin: TwinStack) -> None:
    faulter = Faulter(twin.state, "engine")
    hitting = asyncio.create_task(faulter.hit("STOP", 600.0))
    await stopped(twin, "engine-1")
    hitting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await hitting
    assert twin.status("engine-1") != psutil.STATUS_STOPPED


async def test_what_never_comes_back_and_what_there_is_none_of_are_said(twin: TwinStack) -> None:
    twin.comes_back = False
    with pytest.raises(NoParts, match="engine-1: down"):
        await Faulter(twin.state, "engine").hit("KILL", 0.0, patience=0.5)
    with pytest.raises(NoParts, match="the stack has none"):
        await Faulter(twin.state, "valkey").hit("KILL", 0.0, patience=0.1)
