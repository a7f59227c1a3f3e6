"""One engine as this process talks to it: a channel, and one stream of batched commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import grpc

from generated.snatch.engine.v1.engine_pb2 import Command, CommandsAtRequest, CommandsRequest, CommandsResponse, Reply
from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceStub
from servicekit import logs, rpc
from servicekit.call_counts import CallCounts
from servicekit.command_stream import Broken, CommandStream, Unreachable
from servicekit.pace import pace

if TYPE_CHECKING:  # of the stubs alone, not of the generated code
    from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceAsyncStub

PAUSE = 0.002
"""Seconds that a batch waits for company where turns aren't paced: a batch costs what 20 commands do."""
MAX_BATCH = 1024
MAX_QUEUED = 16384
RETRY = 0.05
WHERE_WITHIN = 0.5
"""Seconds for an engine to say where it takes commands."""
IDLE = 300.0


class Call(Protocol):
    """A call of `Commands`: `command_stream`'s, or grpc.aio's."""

    async def write(self, request: CommandsRequest, /) -> None: ...

    def __aiter__(self) -> AsyncIterator[CommandsResponse]: ...

    def cancel(self) -> object: ...


Open = Callable[[str], Call]
"""Makes a call to an address."""


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
        commands: Open | None = CommandStream,
    ) -> None:
        """`commands` None: over the channel that `dial` makes, like all other calls."""
        self.address = address
        self.loop = asyncio.get_running_loop()
        self._replied = replied
        self._broke = broke
        self._channel = dial(address)
        self.stub: EngineServiceAsyncStub = EngineServiceStub(self._channel)
        self._open = commands
        self._at_own_port = False
        """The last call was to a port for commands alone; if nobody was there, the next one isn't."""
        self._queue: list[Command] = []
        self._in_hand = 0
        """Commands of the batch that is being written: the first one of a call waits until that is connected."""
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self.used_at = 0.0
        self.counts = CallCounts()
        """Those of all links, where `Links` made it."""
        self.batches = 0
        self._log = logs.logger(__name__).bind(engine=address)

    @property
    def depth(self) -> int:
        """Commands that wait for the stream, or are being written to it."""
        return len(self._queue) + self._in_hand

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
        call: Call = self._open(await self._where()) if self._open is not None else self.stub.Commands()
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

    async def _where(self) -> str:
        """The address for commands: a port of their own, where the engine has one that can be reached."""
        if self._at_own_port:
            self._at_own_port = False
            return self.address
        try:
            port = (await self.stub.CommandsAt(CommandsAtRequest(), timeout=WHERE_WITHIN)).port
        except grpc.aio.AioRpcError:
            return self.address  # it knows of none; or it is away, and who calls it finds that out
        if not port:
            return self.address
        self._at_own_port = True
        return f"{self.address.rpartition(':')[0]}:{port}"

    async def _read(self, call: Call) -> None:
        broke_before = self._not_before > 0
        try:
            async for response in call:
                if broke_before:
                    broke_before = False
                    self.counts.reconnects += 1
                for reply in response.replies:
                    self._replied(self, reply)
        except Broken as error:
            if not isinstance(error, Unreachable):
                self._at_own_port = False
            self._log.info("the command stream broke", why=str(error))
        except grpc.aio.AioRpcError as error:
            self._log.info("the command stream broke", why=f"{error.code()}: {error.details()}")

    async def _write(self, call: Call) -> None:
        try:
            while True:
                await self._wake.wait()
                # Where turns are paced, a turn's commands have gathered already.
                await asyncio.sleep(0 if pace.gap else PAUSE)
                batch, self._queue = self._queue[:MAX_BATCH], self._queue[MAX_BATCH:]
                if not self._queue:
                    self._wake.clear()
                self.batches += 1
                self._in_hand = len(batch)
                await call.write(CommandsRequest(commands=batch))
                self._in_hand = 0
        except (Broken, grpc.aio.AioRpcError, asyncio.InvalidStateError, grpc.aio.UsageError):
            return
        finally:
            self._in_hand = 0


class Links:
    """All engines by address.  `replied` and `broke` are what every link tells; `dial` makes a channel.

    `commands`: as for `EngineLink`.
    """

    def __init__(
        self, dial: Callable[[str], grpc.aio.Channel] = rpc.channel, commands: Open | None = CommandStream
    ) -> None:
        self._dial, self._commands = dial, commands
        self.replied: Callable[[EngineLink, Reply], None] = _nobody
        self.broke: Callable[[EngineLink], None] = _nobody
        self.counts = CallCounts()
        self._links: dict[str, EngineLink] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[EngineLink]:
        return iter(tuple(self._links.values()))

    def to(self, address: str) -> EngineLink:
        link = self._links.get(address)
        if link is None:
            link = self._links[address] = EngineLink(address, self.replied, self.broke, self._dial, self._commands)
            link.counts = self.counts
        link.used_at = link.loop.time()
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
