"""One engine as this process talks to it: a channel, and one stream of batched commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import grpc

from generated.snatch.engine.v1.engine_pb2 import Command, CommandsRequest, CommandsResponse, Reply
from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceStub
from servicekit import logs, rpc

if TYPE_CHECKING:  # of the stubs alone, not of the generated code
    from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceAsyncStub

QUIET_PAUSE = 0.002
BUSY_PAUSE = 0.005
"""Seconds that a batch waits for company: a small one when quiet, more when batches are big anyway."""
BUSY_BATCH = 32
MAX_BATCH = 1024
MAX_QUEUED = 16384
RETRY = 0.05
IDLE = 300.0


class EngineLink:
    """The stream is opened at the first command and again after it broke.

    `replied` gets every reply, `broke` is told when commands may have been lost: what
    has no answer must then be sent again, in order.
    """

    def __init__(
        self,
        address: str,
        replied: Callable[[EngineLink, Reply], None],
        broke: Callable[[EngineLink], None],
        dial: Callable[[str], grpc.aio.Channel] = rpc.channel,
    ) -> None:
        self.address = address
        self._replied = replied
        self._broke = broke
        self._channel = dial(address)
        self.stub: EngineServiceAsyncStub = EngineServiceStub(self._channel)
        self._queue: list[Command] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self.used_at = 0.0
        self.batches = 0
        self._log = logs.logger(__name__).bind(engine=address)

    @property
    def depth(self) -> int:
        """Commands that wait for the stream."""
        return len(self._queue)

    def send(self, command: Command) -> bool:
        """Queue a command for the next batch; False when the queue is full."""
        if len(self._queue) >= MAX_QUEUED:
            return False
        self._queue.append(command)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"engine-link:{self.address}")
        self._wake.set()
        return True

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._channel.close()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        if (wait := self._not_before - loop.time()) > 0:
            await asyncio.sleep(wait)
        call = self.stub.Commands()
        reader = asyncio.create_task(self._read(call))
        writer = asyncio.create_task(self._write(call))
        try:
            await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            call.cancel()
            for task in (reader, writer):
                task.cancel()
            for end in await asyncio.gather(reader, writer, return_exceptions=True):
                if isinstance(end, Exception):
                    self._log.error("a fault in the command stream", exc_info=end)
        self._not_before = loop.time() + RETRY
        self._queue.clear()
        self._task = None
        self._log.info("the command stream ended")
        self._broke(self)

    async def _read(self, call: grpc.aio.StreamStreamCall[CommandsRequest, CommandsResponse]) -> None:
        try:
            async for response in call:
                for reply in response.replies:
                    self._replied(self, reply)
        except grpc.aio.AioRpcError as error:
            self._log.info("the command stream broke", code=str(error.code()), detail=error.details())

    async def _write(self, call: grpc.aio.StreamStreamCall[CommandsRequest, CommandsResponse]) -> None:
        pause = QUIET_PAUSE
        try:
            while True:
                await self._wake.wait()
                await asyncio.sleep(pause)
                batch, self._queue = self._queue[:MAX_BATCH], self._queue[MAX_BATCH:]
                if not self._queue:
                    self._wake.clear()
                pause = BUSY_PAUSE if len(batch) >= BUSY_BATCH else QUIET_PAUSE
                self.batches += 1
                await call.write(CommandsRequest(commands=batch))
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError, grpc.aio.UsageError):
            return


class Links:
    """All engines by address.  `replied` and `broke` are what every link tells; `dial` makes a channel."""

    def __init__(self, dial: Callable[[str], grpc.aio.Channel] = rpc.channel) -> None:
        self._dial = dial
        self.replied: Callable[[EngineLink, Reply], None] = _nobody
        self.broke: Callable[[EngineLink], None] = _nobody
        self._links: dict[str, EngineLink] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[EngineLink]:
        return iter(tuple(self._links.values()))

    def to(self, address: str) -> EngineLink:
        link = self._links.get(address)
        if link is None:
            link = self._links[address] = EngineLink(address, self.replied, self.broke, self._dial)
        link.used_at = asyncio.get_running_loop().time()
        return link

    def close_idle(self, now: float) -> None:
        """Engines that nothing was said to for long may be gone for good."""
        for address, link in list(self._links.items()):
            if now - link.used_at > IDLE:
                del self._links[address]
                task = asyncio.create_task(link.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        await asyncio.gather(*(link.close() for link in self), *self._closing, return_exceptions=True)
        self._links.clear()


def _nobody(*_: object) -> None:
    """Before anyone listens."""
