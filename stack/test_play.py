"""`snatch play` where something is missing: it says so, goes on, and ends when asked to."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from typing import Any

import pytest

from stack import play
from stack.child import Child
from stack.data import DataFolder
from stack.layout import Wishes, lay_out
from stack.log_files import LogFile
from stack.play import Stack

NOBODY = "nats://127.0.0.1:1"


class FullFolder(DataFolder):
    """Its disk is full."""

    full = True

    def write_state(self, state: dict[str, Any]) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().write_state(state)


class Said:
    """A screen whose words can be waited for."""

    def __init__(self) -> None:
        self.words: asyncio.Queue[str] = asyncio.Queue()

    def changed(self, child: Child) -> None: ...

    def say(self, text: str) -> None:
        self.words.put_nowait(text)

    def ready(self, stack: Stack) -> None: ...

    def tick(self, stack: Stack) -> None: ...


async def test_a_nats_that_is_not_there_is_named_and_waiting_for_it_can_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "SETUP_SOON", 0.0)
    data = DataFolder(tmp_path)
    data.lock()
    said = Said()
    plan = lay_out(Wishes(nats_url=NOBODY, redis_url="redis://127.0.0.1:1/0"), data)
    stack = Stack(plan, data, said)
    running = asyncio.create_task(stack.run())
    async with asyncio.timeout(20):
        assert "NATS_URL" in await said.words.get()
        stack.stop()
        # Setting up would go on trying for half a minute.
        assert await running == 0
    assert stack.children == []
    data.unlock()


async def test_a_full_disk_ends_no_stack_it_is_said_once_and_the_state_written_later(tmp_path: Path) -> None:
    data = FullFolder(tmp_path)
    data.lock()
    said = Said()
    stack = Stack(lay_out(Wishes(nats_url=NOBODY, redis_url="redis://127.0.0.1:1/0"), data), data, said)
    for _ in range(3):
        await stack._round()
    assert said.words.get_nowait().endswith("can't be written (No space left on device): status is not up to date")
    assert said.words.empty()
    assert data.state() is None
    data.full = False
    await stack._round()
    assert said.words.get_nowait().endswith("can be written again")
    assert data.state() is not None
    data.unlock()


async def test_a_dead_service_is_stood_in_for_by_one_of_its_kind_that_is_up(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    said = Said()
    plan = lay_out(Wishes(engines=2, nats_url=NOBODY, redis_url="redis://127.0.0.1:1/0"), data)
    stack = Stack(plan, data, said)
    parts = {part.name: Child(part, LogFile(tmp_path / "log"), said.changed) for part in plan.services}
    stack.children = list(parts.values())
    dead, other = parts["engine-1"], parts["engine-2"]
    parts["rooms-1"].state, parts["rooms-1"].was_ready = "ready", True
    assert not stack._has_heirs(dead)
    other.state = "starting"
    assert not stack._has_heirs(dead)
    other.state, other.was_ready = "ready", True
    assert stack._has_heirs(dead)
    other.state = "not ready"  # it takes over
    assert stack._has_heirs(dead)
    other.state = "down"
    assert not stack._has_heirs(dead)
    assert not stack._has_heirs(parts["rooms-1"])


async def test_a_dead_nats_server_is_started_again_at_once(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    said = Said()
    plan = lay_out(Wishes(nats=3), data)
    stack = Stack(plan, data, said)
    stack.children = [Child(part, LogFile(tmp_path / "log"), said.changed) for part in plan.servers]
    for child in stack.children:
        child.state, child.was_ready = "ready", True
    assert not any(stack._has_heirs(child) for child in stack.children)
