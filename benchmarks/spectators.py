"""Spectators' sockets in a process of their own: they count, and check each byte of what they are sent."""

from __future__ import annotations

import asyncio
import base64
import os
import resource
import socket
import time
import zlib
from multiprocessing.connection import Connection
from typing import Any, cast

import uvloop

from servicekit import websocket

AT_ONCE = 100
"""Sockets being opened."""
SAMPLED = 100
"""Sockets whose frames' times are kept."""


def masked(payload: bytes, opcode: int) -> bytes:
    """A client's frame of at most 125 bytes; the mask is zero, which any server must take."""
    return bytes((websocket.FIN | opcode, 0x80 | len(payload))) + bytes(4) + payload


class Spectator(asyncio.Protocol):
    """One TV: hello, then all text frames' number and checksum."""

    def __init__(self, room: str) -> None:
        self.shown = asyncio.get_running_loop().create_future()
        self.messages = self.crc = 0
        self.times: list[float] | None = None
        self.stopped = self.lost = False
        self._room = room
        self._rest = b""
        self._in = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport = cast(asyncio.Transport, transport)
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            b"GET /tv HTTP/1.1\r\nHost: tv\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key.encode() + b"\r\n\r\n"
        )

    def data_received(self, data: bytes) -> None:
        data = self._rest + data if self._rest else data
        if not self._in:
            head, end, data = data.partition(b"\r\n\r\n")
            if not end:
                self._rest = head
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self._in = True
            hello = b'{"t":"watch","v":1,"room":"' + self._room.encode() + b'"}'
            self.transport.write(masked(hello, websocket.TEXT))
        self._rest = self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        if not self.shown.done():
            self.shown.set_exception(ConnectionError("closed before the snapshot"))

    def _take(self, data: bytes) -> bytes:
        """Returned is what is no whole frame yet."""
        at, end = 0, len(data)
        while end - at >= 2:
            size, head = data[at + 1], 2
            if size == 126:
                head, size = 4, int.from_bytes(data[at + 2 : at + 4], "big")
            elif size == 127:
                head, size = 10, int.from_bytes(data[at + 2 : at + 10], "big")
            stop = at + head + size
            if stop > end:
                break
            kind = data[at] & 0x0F
            if kind == websocket.TEXT:
                self.messages += 1
                self.crc = zlib.crc32(data[at:stop], self.crc)
                if self.times is not None:
                    self.times.append(time.monotonic())
                if not self.shown.done() and data.startswith(b'{"t":"snapshot"', at + head):
                    self.shown.set_result(None)
            elif kind == websocket.PING:
                self.transport.write(masked(b"", websocket.PONG))
            at = stop
        return data[at:]


class Crowd:
    """All spectators of a process, told what to do through a pipe; each order is answered."""

    def __init__(self, port: int, room: str) -> None:
        self._port, self._room = port, room
        self._all: list[Spectator] = []

    async def open(self, count: int) -> int:
        """Until so many are shown the table."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def one() -> Spectator:
            async with gate:
                s = socket.socket()
                s.setblocking(False)
                # Small, so that who stops reading is found out by little.
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * 1024)
                loop = asyncio.get_running_loop()
                await loop.sock_connect(s, ("127.0.0.1", self._port))
                _, spectator = await loop.create_connection(lambda: Spectator(self._room), sock=s)
                await spectator.shown
                return spectator

        self._all += await asyncio.gather(*(one() for _ in range(count)))
        return len(self._all)

    async def mark(self, _: Any) -> None:
        """Count from here on."""
        step = max(1, len(self._all) // SAMPLED)
        for at, spectator in enumerate(self._all):
            spectator.messages = spectator.crc = 0
            spectator.times = [] if at % step == 0 else None

    async def stop_reading(self, count: int) -> None:
        for spectator in self._all[-count:] if count else []:
            spectator.stopped, spectator.times = True, None
            spectator.transport.pause_reading()

    async def replace_stopped(self, _: Any) -> None:
        stopped = [s for s in self._all if s.stopped]
        for spectator in stopped:
            spectator.transport.abort()
        self._all = [s for s in self._all if not s.stopped]
        await self.open(len(stopped))

    async def found(self, messages: int) -> dict[str, Any]:
        """Wait for so many at each that reads, 30 s at most; then what each has."""
        reading = [s for s in self._all if not s.stopped]
        end = time.monotonic() + 30
        while time.monotonic() < end and any(s.messages < messages and not s.lost for s in reading):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return {
            "messages": [s.messages for s in reading],
            "crcs": [s.crc for s in reading],
            "lost": sum(s.lost for s in reading),
            "times": [s.times for s in reading if s.times is not None],
        }

    async def close(self, _: Any) -> None:
        for spectator in self._all:
            spectator.transport.abort()
        self._all.clear()

    async def obey(self, pipe: Connection) -> None:
        while True:
            order, argument = await asyncio.to_thread(pipe.recv)
            if order == "end":
                return
            await asyncio.to_thread(pipe.send, await getattr(self, order)(argument))


def crowd(pipe: Connection, port: int, room: str) -> None:
    """The process."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    uvloop.run(Crowd(port, room).obey(pipe))
