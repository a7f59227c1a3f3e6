"""A witness of the log ends when it is told to, whatever it is just being told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from nats.aio.msg import Msg

from servicekit.bus import Bus
from simulate.findings import Findings
from simulate.log_witness import LogWitness

Hear = Callable[[Msg], Awaitable[None]]


class Nats:
    """Takes a question for what lies in the log, and answers when the test says."""

    is_connected = True

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self._hear: Hear | None = None

    def new_inbox(self) -> str:
        return "_INBOX.1"

    async def subscribe(self, inbox: str, cb: Hear) -> Nats:
        self._hear = cb
        return self

    async def unsubscribe(self) -> None:
        """Nobody asks any more."""

    async def publish(self, subject: str, payload: bytes, reply: str) -> None:
        self.asked.set()

    async def answer(self) -> None:
        """There is nothing more in the log."""
        assert self._hear is not None
        await self._hear(Msg(cast(Any, self), headers={"Status": "404"}))

    async def close(self) -> None:
        """It is closed."""


async def test_a_witness_that_is_told_to_end_as_an_answer_comes_ends() -> None:
    """A wait that takes the answer for the end of its own cancellation would read on, and its end never come."""
    nats = Nats()
    witness = LogWitness("", Findings())
    witness._nc = cast(Bus, nats)
    reading = witness._reading = asyncio.create_task(witness._read_on())
    await nats.asked.wait()
    await asyncio.sleep(0)
    await nats.answer()
    stopping = asyncio.create_task(witness.stop())
    await asyncio.wait({stopping}, timeout=5)
    assert reading.done()
    await stopping
