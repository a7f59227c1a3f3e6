"""What a link to an engine has not said yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.engine_link import EngineLink


class SlowToConnect:
    """A call whose first write waits until it is let through."""

    def __init__(self) -> None:
        self.writing, self.connected, self.written = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def write(self, request: pb.CommandsRequest, /) -> None:
        self.writing.set()
        await self.connected.wait()
        asyncio.get_running_loop().call_soon(self.written.set)

    async def __aiter__(self) -> AsyncIterator[pb.CommandsResponse]:
        await asyncio.Event().wait()
        yield pb.CommandsResponse()

    def cancel(self) -> None:
        """Nothing is held."""


async def test_a_batch_that_waits_for_its_connection_is_not_said_yet() -> None:
    call = SlowToConnect()
    link = EngineLink("127.0.0.1:1", lambda *_: None, lambda _: None, commands=lambda _: call)
    try:
        async with asyncio.timeout(20):
            assert link.send(pb.Command(id=1))
            assert link.send(pb.Command(id=2))
            await call.writing.wait()
            assert link.depth == 2
            call.connected.set()
            await call.written.wait()
            assert link.depth == 0
    finally:
        await link.close()


async def test_what_a_closed_link_was_writing_is_no_more_in_its_hands() -> None:
    call = SlowToConnect()
    link = EngineLink("127.0.0.1:1", lambda *_: None, lambda _: None, commands=lambda _: call)
    async with asyncio.timeout(20):
        link.send(pb.Command(id=1))
        await call.writing.wait()
        await link.close()
    assert link.depth == 0
