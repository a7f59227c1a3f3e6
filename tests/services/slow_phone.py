"""A phone that says hello and then never reads: its kernel's buffers fill, and the server must notice."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket


class SlowPhone:
    """A WebSocket by hand on a socket with a small receive buffer."""

    def __init__(self, port: int, path: str) -> None:
        self._port = port
        self._path = path
        self._socket: socket.socket | None = None

    async def start(self, first: dict[str, object]) -> None:
        loop = asyncio.get_running_loop()
        s = self._socket = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.setblocking(False)
        await loop.sock_connect(s, ("127.0.0.1", self._port))
        key = base64.b64encode(os.urandom(16)).decode()
        request = (
            f"GET {self._path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        await loop.sock_sendall(s, request.encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += await loop.sock_recv(s, 1)
        assert head.startswith(b"HTTP/1.1 101"), head
        body = json.dumps(first).encode()
        mask = os.urandom(4)
        length = bytes((0x80 | len(body),)) if len(body) < 126 else b"\xfe" + len(body).to_bytes(2, "big")
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(body))
        await loop.sock_sendall(s, b"\x81" + length + mask + masked)

    async def ping(self, megabytes: int) -> None:
        """Send so many of them, full ones.  Raises OSError when the server won't have more."""
        assert self._socket is not None
        pings = (b"\x89\xf8" + bytes(4) + b"x" * 120) * 1000
        for _ in range(megabytes * 8):
            await asyncio.get_running_loop().sock_sendall(self._socket, pings)

    async def rest(self) -> bytes:
        """Read at last, to the end of the connection."""
        assert self._socket is not None
        loop = asyncio.get_running_loop()
        found = b""
        try:
            async with asyncio.timeout(10):
                while part := await loop.sock_recv(self._socket, 65536):
                    found += part
        except ConnectionResetError:
            pass
        return found

    def stop(self) -> None:
        if self._socket is not None:
            self._socket.close()
