"""Browsers' WebSockets, as gateway and watch serve them.

`Socket.send` never waits: it writes into the transport while that takes it, else into
a bounded queue.  A socket whose queue is full is closed with 1013 and forgotten; it
never delays another, and what it holds in memory is bounded.  Nothing else knows that
uvicorn is underneath.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from servicekit.http_protocol import MAX_HEAD, HttpProtocol
from wire import client_in
from wire.client_out import Error

MAX_QUEUED = 1024
MAX_QUEUED_BYTES = 256 * 1024
CLOSE_WITHIN = 2.0
"""Seconds that a closing socket has to take what was written before it is cut off."""

AGAIN, TOO_BIG, SLOW = 1012, 1009, 1013
TAKEN_OVER, NO_ROOM, REMOVED, BAD_HELLO = 4001, 4002, 4003, 4004
POLICY = 1008

_KEY = "snatch.protocol"


class SocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's own, which also lets the socket see its transport."""

    on_writable: Callable[[], None] | None = None

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[_KEY] = self

    def handle_ping(self) -> None:
        """Answer it, unless its sender takes no answers: pongs would fill the memory."""
        if self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() > MAX_QUEUED_BYTES:
            self.transport.abort()
            return
        super().handle_ping()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.on_writable is not None:
            self.on_writable()


def uvicorn_options(max_sockets: int) -> dict[str, Any]:
    """What HttpServer must be given so that sockets are ours: small messages, no deflate, pings."""
    return {
        "http": HttpProtocol,
        "h11_max_incomplete_event_size": MAX_HEAD,
        "ws": SocketProtocol,
        "ws_max_size": client_in.MAX_BYTES,
        "ws_per_message_deflate": False,
        "ws_ping_interval": 8.0,
        "ws_ping_timeout": 8.0,
        "proxy_headers": False,
        "server_header": False,
        "timeout_keep_alive": 15,
        "limit_concurrency": max_sockets + 512,
        "backlog": 2048,
    }


def text_frame(body: bytes) -> bytes:
    """A whole unmasked text frame, as a server sends it."""
    size = len(body)
    if size < 126:
        return bytes((0x81, size)) + body
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + body
    return b"\x81\x7f" + size.to_bytes(8, "big") + body


class _LastFrame:
    """The frame made last: a room's sockets are sent the same bytes one after another."""

    body = b""
    frame = text_frame(b"")


class Socket:
    """One accepted WebSocket.  Only the event loop's thread may touch it."""

    def __init__(self, ws: WebSocket) -> None:
        self._ws = ws
        self._protocol: SocketProtocol = ws.scope["extensions"][_KEY]
        self._protocol.on_writable = self._flush
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self.close_code: int | None = None
        """Ours, once closing."""

    @property
    def closing(self) -> bool:
        return self.close_code is not None

    @property
    def queued_bytes(self) -> int:
        return self._queued_bytes

    async def receive(self) -> str | bytes | None:
        """The next message; None when the socket is gone."""
        try:
            message = await self._ws.receive()
        except (WebSocketDisconnect, RuntimeError):
            return None
        if message["type"] != "websocket.receive":
            return None
        text = message.get("text")
        return text if text is not None else message.get("bytes")

    def send(self, body: bytes) -> None:
        """Send a text message of UTF-8 bytes, now or soon; a socket that can't keep up is closed with 1013."""
        if self.close_code is not None:
            return
        if body is _LastFrame.body:
            frame = _LastFrame.frame
        else:
            frame = _LastFrame.frame = text_frame(body)
            _LastFrame.body = body
        if not self._queue and self._can_write():
            self._protocol.transport.write(frame)
            return
        if len(self._queue) >= MAX_QUEUED or self._queued_bytes + len(frame) > MAX_QUEUED_BYTES:
            self._queue.clear()
            self._queued_bytes = 0
            self.close(SLOW, "too slow")
            return
        self._queue.append(frame)
        self._queued_bytes += len(frame)

    def error(self, code: str, text: str = "", *, req: int | None = None, id: int | None = None) -> None:
        self.send(msgspec.json.encode(Error(code, text, req, id)))

    def close(self, code: int, reason: str = "") -> None:
        """Say goodbye after what has been sent; cut off if the peer doesn't take it soon."""
        if self.closing:
            return
        self.close_code = code
        protocol = self._protocol
        self._write_queue()
        if not protocol.disconnected and not protocol.close_sent and not protocol.transport.is_closing():
            with contextlib.suppress(Exception):
                protocol.conn.send_close(code, reason)
                protocol.transport.write(b"".join(protocol.conn.data_to_send()))
                protocol.close_sent = True
                if protocol.read_paused:  # the peer's goodbye must be read
                    protocol.read_paused = False
                    protocol.transport.resume_reading()
                protocol.close_timer = asyncio.get_running_loop().call_later(CLOSE_WITHIN, protocol.transport.abort)
        # Whoever reads this socket is told, as if the peer had gone.
        protocol.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})

    def _can_write(self) -> bool:
        protocol = self._protocol
        return (
            protocol.writable.is_set()
            and not protocol.close_sent
            and not protocol.disconnected
            and not protocol.transport.is_closing()
        )

    def _flush(self) -> None:
        while self._queue and self._can_write():
            frame = self._queue.popleft()
            self._queued_bytes -= len(frame)
            self._protocol.transport.write(frame)

    def _write_queue(self) -> None:
        """At the end: all that is queued goes before the goodbye, however slow the peer."""
        if not self._protocol.disconnected and not self._protocol.close_sent:
            for frame in self._queue:
                self._protocol.transport.write(frame)
        self._queue.clear()
        self._queued_bytes = 0
