"""A port for `Commands` alone: the same call as at the engine's gRPC port, without grpc.aio's threads.

Callers learn of it by `CommandsAt`, and can do without.  See `servicekit.http2_call`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from google.protobuf.message import DecodeError
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.http2_call import CALL, Broken, Http2Call
from servicekit.pace import pace
from services.engine.replies import MAX_REPLIES, CommandReplies

Take = Callable[[pb.Command, CommandReplies], None]
"""A command, and where its reply goes.  Must not wait."""

CLOSE_WITHIN = 1.0
"""Seconds for a caller to go after it was told that its call is over."""

_OK, _BAD_MESSAGE = b"0", b"3"


class _Call(Http2Call):
    """One caller's connection.  Of a caller that doesn't read its replies nothing more is read."""

    ping_every, pong_within = 5.0, 2.0
    window = 256 * 1024

    def __init__(self, take: Take, calls: set[_Call]) -> None:
        super().__init__(client=False)
        self._take_command, self._calls = take, calls
        self._replies = CommandReplies()
        self._saying: asyncio.Task[None] | None = None
        self._finished = False

    def greet(self) -> None:
        self._calls.add(self)

    def on_headers(self) -> None:
        if self._saying is None:
            self.http.send_headers(CALL, [(b":status", b"200"), (b"content-type", b"application/grpc")])
            self._saying = self.loop.create_task(self._say(), name="command-replies")

    def on_message(self, body: bytes) -> None:
        if self._finished:
            return
        try:
            request = pb.CommandsRequest.FromString(body)
        except DecodeError:
            self.finish(_BAD_MESSAGE)
            return
        pace.heard(len(request.commands))
        for command in request.commands:
            self._take_command(command, self._replies)
        if self._replies.waiting >= MAX_REPLIES:
            self.hold()

    def finish(self, status: bytes) -> None:
        """Tell the caller that its call is over; it goes, or is cut off."""
        if self._finished:
            return
        self._finished = True
        if self._saying is not None:
            self._saying.cancel()  # nothing follows the end, which would break the call off before it is read
        try:
            if self._saying is None:
                self.http.close_connection()
            else:
                self.http.send_headers(CALL, [(b"grpc-status", status)], end_stream=True)
                self.http.reset_stream(CALL, ErrorCodes.NO_ERROR)
        except ProtocolError as error:
            self.end(repr(error))
            return
        self.flush()
        self.loop.call_later(CLOSE_WITHIN, self.end, "the call is over")

    def on_over(self) -> None:
        self._calls.discard(self)
        self._replies.end()
        if self._saying is not None:
            self._saying.cancel()

    async def _say(self) -> None:
        try:
            async for batch in self._replies.batches():
                await self.send(batch.SerializeToString())
                self.release()
        except Broken:
            return


class CommandDoor:
    """`port` once started."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._calls: set[_Call] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Raises OSError."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Call(self._take, self._calls), host, port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Callers learn that their call is over."""
        if self._server is None:
            return
        self._server.close()
        for call in list(self._calls):
            call.finish(_OK)
        self._calls.clear()
