"""Children are started again, told apart, and never outlive us."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from stack import child as child_module
from stack.child import Child, Part
from stack.log_files import LogFile
from stack.probes import NO_ANSWER

PATIENCE = 20.0
SLEEPER = "import time; print('up', flush=True); time.sleep(1000)"


class Scene:
    """Children whose every change is kept, so that a test waits for one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: list[Child] = []
        self.seen: list[tuple[str, str]] = []
        self._changed = asyncio.Condition()

    def child(
        self, program: str, missing: str | None = None, has_heirs: Callable[[Child], bool] = lambda _: False
    ) -> Child:
        async def probe() -> str | None:
            return missing

        part = Part("twin", "twin", (sys.executable, "-c", program), probe, stage=0)
        child = Child(part, LogFile(self.folder / "twin.log"), self._note, has_heirs)
        self.children.append(child)
        child.start()
        return child

    def _note(self, child: Child) -> None:
        self.seen.append((child.state, child.why))
        asyncio.get_running_loop().create_task(self._wake())

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(holds)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    for child in scene.children:
        await child.stop(1)


async def test_a_killed_child_is_started_again_at_once_with_the_same_command(scene: Scene) -> None:
    child = scene.child(SLEEPER)
    await scene.until(lambda: child.pid is not None)
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await scene.until(lambda: child.restarts == 1 and child.state == "starting")
    assert ("down", "SIGKILL") in scene.seen
    assert child.pid != first


async def test_a_dead_child_rests_as_long_as_others_do_its_work(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "HEIRS_FIRST", 1000.0)  # the test would not live to see it
    looks = 0

    def has_heirs(_: Child) -> bool:
        nonlocal looks
        looks += 1
        return looks < 3

    child = scene.child(SLEEPER, has_heirs=has_heirs)
    await scene.until(lambda: child.pid is not None)
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    await scene.until(lambda: child.restarts == 1 and child.state == "starting")
    assert looks == 3


async def test_a_child_whose_heirs_stay_comes_back_all_the_same(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "HEIRS_FIRST", 0.15)
    child = scene.child(SLEEPER, has_heirs=lambda _: True)
    await scene.until(lambda: child.pid is not None)
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    await scene.until(lambda: child.restarts == 1 and child.state == "starting")


async def test_a_child_is_as_nice_as_its_part_says(scene: Scene) -> None:
    child = scene.child(SLEEPER)
    child.part = replace(child.part, nice=3)
    await scene.until(lambda: child.pid is not None)
    assert psutil.Process(child.pid).nice() == psutil.Process().nice() + 3


async def test_a_child_that_keeps_dying_before_it_was_ready_is_hopeless(scene: Scene) -> None:
    child = scene.child("import sys; print('no such thing'); sys.exit(2)")
    await scene.until(lambda: child.hopeless)
    assert child.state == "down"
    assert child.why == "exit 2"
    assert child.log.tail(1) == ["no such thing"]


async def test_a_program_that_is_not_there_is_down_and_says_so_in_its_log(scene: Scene) -> None:
    async def probe() -> str | None:
        return None

    part = Part("ghost", "ghost", ("/nonexistent/program",), probe, stage=0)
    child = Child(part, LogFile(scene.folder / "ghost.log"), scene._note)
    scene.children.append(child)
    child.start()
    await scene.until(lambda: child.state == "down")
    assert "can't start" in child.log.tail(1)[0]


async def test_a_look_tells_ready_from_what_is_missing(scene: Scene) -> None:
    child = scene.child(SLEEPER, missing="no NATS")
    await scene.until(lambda: child.state == "starting")
    await child.look()
    assert (child.state, child.why) == ("starting", "no NATS")


async def test_a_child_that_is_killed_again_and_again_never_waits_once_it_was_ready(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_module, "LIVED", 0.0)
    monkeypatch.setattr(child_module, "BACK_OFF", (0.0, 1000.0))  # the test would not live to see it
    child = scene.child(SLEEPER)
    for killed in range(3):
        await scene.until(lambda: child.pid is not None)
        await child.look()
        child.signal(signal.SIGKILL)
        await scene.until(at_work_again(child, killed + 1))


async def test_a_child_that_answers_nothing_for_long_is_killed_and_started_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_module, "HUNG", 0.0)
    monkeypatch.setattr(child_module, "LAST_WORDS", 0.2)
    child = scene.child(SLEEPER, NO_ANSWER)
    await scene.until(lambda: child.pid is not None)
    child.signal(signal.SIGSTOP)
    for _ in range(child_module.HUNG_LOOKS - 1):
        await child.look()
    assert child.restarts == 0, "a while is not long"
    await child.look()
    await scene.until(lambda: child.restarts == 1 and child.state == "starting")
    assert {("down", "SIGABRT"), ("down", "SIGKILL")} & set(scene.seen)
    assert any("killed" in why for state, why in scene.seen if state == "not ready")


async def test_a_child_that_answers_now_and_then_is_not_killed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "HUNG", 0.0)
    child = scene.child(SLEEPER, NO_ANSWER)
    await scene.until(lambda: child.pid is not None)
    silent, told = child.part.probe, replace(child.part, probe=_ready)
    for _ in range(3):
        for _ in range(child_module.HUNG_LOOKS - 1):
            await child.look()
        child.part = told
        await child.look()
        child.part = replace(told, probe=silent)
    assert (child.state, child.restarts) == ("ready", 0)


async def test_a_child_that_only_waits_for_others_is_not_killed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "HUNG", 0.0)
    child = scene.child(SLEEPER, NO_ANSWER)
    child.part = replace(child.part, alive=_ready)
    await scene.until(lambda: child.pid is not None)
    for _ in range(child_module.HUNG_LOOKS + 1):
        await child.look()
    assert (child.state, child.why, child.restarts) == ("starting", NO_ANSWER, 0)


async def test_a_child_is_renewed_as_another_part_and_no_death_is_counted(scene: Scene) -> None:
    child = scene.child(SLEEPER)
    await scene.until(lambda: child.pid is not None)
    first = child.pid
    other = "import os, time; print(os.environ['TOLD'], flush=True); time.sleep(1000)"
    await child.renew(replace(child.part, command=(sys.executable, "-c", other), env={"TOLD": "more"}), 5)
    await scene.until(lambda: child.state == "starting" and child.pid != first)
    async with asyncio.timeout(PATIENCE):
        while child.log.tail(1) != ["more"]:  # noqa: ASYNC110 - the twin tells by its output alone
            await asyncio.sleep(0.02)
    assert child.restarts == 0
    assert not child.killed


def at_work_again(child: Child, times: int) -> Callable[[], bool]:
    return lambda: child.restarts == times and child.state == "starting"


async def _ready() -> str | None:
    return None


async def test_stop_ends_a_child_that_does_not_heed_sigterm_and_all_it_started(scene: Scene) -> None:
    program = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)']).pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    child = scene.child(program)
    async with asyncio.timeout(PATIENCE):
        while not child.log.tail(1):  # noqa: ASYNC110 - the twin tells by its output alone
            await asyncio.sleep(0.02)
    grandchild = int(child.log.tail(1)[0])
    await child.stop(0.2)
    assert child.state == "stopped"
    assert child.killed
    async with asyncio.timeout(PATIENCE):
        while _runs(grandchild):  # noqa: ASYNC110 - no child of ours: it can only be looked at
            await asyncio.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of their parent's death")
def test_children_of_a_parent_that_is_killed_end_too(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from stack import child as child_module
from stack.child import Child, Part
from stack.log_files import LogFile
from stack.probes import NO_ANSWER

async def probe():
    return None

async def main():
    part = Part("twin", "twin", (sys.executable, "-c", {SLEEPER!r}), probe, stage=0)
    child = Child(part, LogFile(Path({str(tmp_path)!r}) / "twin.log"), lambda c: print(c.pid, flush=True))
    child.start()
    await asyncio.sleep(1000)

asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert _runs(pid)
    parent.kill()
    parent.wait()
    until = time.monotonic() + PATIENCE
    while _runs(pid):
        assert time.monotonic() < until
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
