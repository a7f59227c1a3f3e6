"""`snatch play` with a NATS of somebody else's that isn't there: it says so, and ends when asked to."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from stack import play
from stack.child import Child
from stack.data import DataFolder
from stack.layout import Wishes, lay_out
from stack.play import Stack

NOBODY = "nats://127.0.0.1:1"


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
