"""A way to NATS for the log's reader, which stands outside: no port of NATS is published."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

CHUNK = 64 * 1024


class NatsDoor:
    """`async with NatsDoor(find) as door`: what connects to `port` reaches port 4222 of the address that `find` gives.

    It is asked at every connection, for the address may be another after a fault; it may
    block.  Containers' addresses are this machine's to reach where the engine runs on it.
    """

    PORT = 4222

    def __init__(self, find: Callable[[], str]) -> None:
        self._find = find
        self._server: asyncio.Server | None = None
        self._pipes: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> NatsDoor:
        self._server = await asyncio.start_server(self._enter, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)

    async def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._pipes.add(task)
        try:
            with contextlib.suppress(OSError, TimeoutError, LookupError):
                async with asyncio.timeout(2):
                    address = await asyncio.to_thread(self._find)
                    far_reader, far_writer = await asyncio.open_connection(address, self.PORT)
                try:
                    there, back = _pipe(reader, far_writer), _pipe(far_reader, writer)
                    await _first(asyncio.ensure_future(there), asyncio.ensure_future(back))
                finally:
                    far_writer.close()
        finally:
            writer.close()
            self._pipes.discard(task)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()


async def _first(*tasks: asyncio.Future[None]) -> None:
    """Until one of them ends; the others go with it."""
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
