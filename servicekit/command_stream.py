"""The stream of commands to one engine: gRPC's own bytes, spoken on the loop's transport.

grpc.aio passes each message through threads of its own, which costs a process as much as
the moves of a batch.  A single call that lasts needs little of HTTP/2: this is a client for
just that, towards any gRPC server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from generated.snatch.engine.v1.engine_pb2 import CommandsRequest, CommandsResponse
from servicekit.http2_call import CALL, Broken, Headers, Http2Call

__all__ = ["Broken", "CommandStream", "Unreachable"]

PATH = b"/snatch.engine.v1.EngineService/Commands"
CONNECT_WITHIN = 2.0


class Unreachable(Broken):
    """Nobody listens there."""


def headers(authority: str) -> Headers:
    """What opens the call."""
    return [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", PATH),
        (b":authority", authority.encode()),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
    ]


class CommandStream(Http2Call):
    """One call, to `host:port`; it connects at the first write."""

    def __init__(self, address: str) -> None:
        super().__init__(client=True)
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._address = address
        self._unreachable = False
        self._came: asyncio.Queue[CommandsResponse | None] = asyncio.Queue()

    async def write(self, request: CommandsRequest) -> None:
        """Send a message, as soon as the engine takes it.  Raises Broken."""
        if self.transport is None:
            await self._connect()
        await self.send(request.SerializeToString())

    async def __aiter__(self) -> AsyncIterator[CommandsResponse]:
        """What the engine says; then raises Broken, by whomever the call was ended."""
        while (response := await self._came.get()) is not None:
            yield response
        raise Unreachable(self.over) if self._unreachable else Broken(self.over)

    def cancel(self) -> None:
        """End it."""
        self.end("cancelled")

    async def _connect(self) -> None:
        if self.over:
            raise Broken(self.over)
        try:
            async with asyncio.timeout(CONNECT_WITHIN):
                await self.loop.create_connection(lambda: self, self._host.strip("[]"), self._port)
        except (OSError, TimeoutError) as error:
            self._unreachable = True
            self.end(repr(error))
            raise Unreachable(self.over) from error

    # ---- what the call tells ----

    def greet(self) -> None:
        self.http.send_headers(CALL, headers(self._address))

    def on_message(self, body: bytes) -> None:
        self._came.put_nowait(CommandsResponse.FromString(body))

    def on_over(self) -> None:
        self._came.put_nowait(None)
