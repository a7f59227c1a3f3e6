"""Questions to NATS share one timer: each is given up in its time, and what was answered is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from services.engine import stream as stream_module
from services.engine.stream import Asker


class TwinBus:
    """Keeps what was asked; a test answers."""

    is_connected, is_closed = True, False

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.hear: Callable[[str, bytes], None] = lambda subject, data: None

    def new_inbox(self) -> str:
        return "_INBOX.twin"

    async def listen(self, subject: str, hear: Callable[[str, bytes], None]) -> None:
        self.hear = hear

    async def publish(self, subject: str, payload: bytes, reply: str, headers: Any = None) -> None:
        self.asked.append(reply)


async def test_who_is_not_answered_is_given_up_in_turn_and_who_is_answered_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_module, "TIMEOUT", 0.05)
    bus: Any = TwinBus()
    asker = Asker(bus)
    await asker.start()
    given_up: list[int] = []

    async def ask(number: int) -> bytes | None:
        answer = await asker.ask("log.1", b"")
        if answer is None:
            given_up.append(number)
        return answer

    questions = [asyncio.create_task(ask(number)) for number in range(6)]
    while len(bus.asked) < 6:  # noqa: ASYNC110 - each task's first step
        await asyncio.sleep(0)
    for number in (1, 4):
        bus.hear(bus.asked[number], b"%d" % number)
    assert await asyncio.gather(*questions) == [None, b"1", None, None, b"4", None]
    assert given_up == [0, 2, 3, 5]
    late = asyncio.create_task(ask(6))
    assert await late is None, "the timer goes on for what is asked later"
    bus.hear(bus.asked[6], b"too late")
    await asker.stop()


async def test_a_lost_connection_ends_every_wait_at_once() -> None:
    bus: Any = TwinBus()
    asker = Asker(bus)
    await asker.start()
    question = asyncio.create_task(asker.ask("log.1", b""))
    while not bus.asked:  # noqa: ASYNC110
        await asyncio.sleep(0)
    asker.lost()
    async with asyncio.timeout(stream_module.TIMEOUT / 2):
        assert await question is None
