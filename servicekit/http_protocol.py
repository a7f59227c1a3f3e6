"""uvicorn's HTTP on a public port: bounded headers (h11), no connection that only keeps us waiting, and the way
from a request to a WebSocket.
"""

from __future__ import annotations

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import h11
from starlette.requests import HTTPConnection
from uvicorn.protocols.http.h11_impl import H11Protocol

from servicekit import websocket
from servicekit.door import Door
from servicekit.sockets import Socket

HEAD_WITHIN = 10.0
"""Seconds from a connection's first moment, or a request's first byte, to the end of its headers."""
MAX_HEAD = 16 * 1024


def uvicorn_options(door: Door, max_sockets: int) -> dict[str, Any]:
    """What HttpServer must be given so that sockets are ours, and go through the door."""
    return {
        "http": partial(HttpProtocol, door),
        "h11_max_incomplete_event_size": MAX_HEAD,
        "ws": Socket,  # Never made by uvicorn: it says that there are WebSockets here.
        "proxy_headers": False,
        "server_header": False,
        "timeout_keep_alive": 15,
        "limit_concurrency": max_sockets + 512,
        "backlog": 2048,
    }


class HttpProtocol(H11Protocol):
    """Cuts off a connection whose headers take too long, however slowly they drip."""

    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, door: Door, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._door = door

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEAD_WITHIN, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._in_time()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEAD_WITHIN, self.transport.abort)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """The transport is the socket's from here on; what came behind the request is its first data."""
        request = HTTPConnection(cast(dict[str, Any], self.scope))
        try:
            answer = websocket.accept(event.method, self.headers)
        except websocket.BadUpgrade as bad:
            self._refuse(bad.status, str(bad), bad.headers)
            return
        status = self._door.refuses(request)
        if status:
            self._refuse(status, HTTPStatus(status).phrase)
            return
        self._in_time()
        self.connections.discard(self)
        self.transport.write(answer)
        socket = self._door.open(request, self.transport, self.connections)
        behind, _ = self.conn.trailing_data
        if behind:
            socket.data_received(behind)

    def _refuse(self, status: int, text: str, headers: bytes = b"") -> None:
        body = text.encode()
        self.transport.write(
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nconnection: close\r\n"
            f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(body)}\r\n".encode()
            + headers
            + b"\r\n"
            + body
        )
        self.transport.close()

    def _in_time(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
