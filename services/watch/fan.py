"""The same frames to all TVs of a room: framed once, sent in slices, each TV's in order.

What comes while a pass is under way waits for the next one and goes out joined: the more
there is to do, the fewer system calls a message takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from servicekit.sockets import Socket, send_to_all

SLICE = 256
"""Sockets written to in one turn of the loop, some 3 ms."""
MAX_PENDING_BYTES = 1024 * 1024
"""What may wait for the next pass."""


class Fan:
    """`sent(messages, bytes)` is told after each slice; `overflowed` when what waited was dropped: start anew."""

    def __init__(self, sent: Callable[[int, int], None], overflowed: Callable[[], None]) -> None:
        self._sent = sent
        self._overflowed = overflowed
        self._sockets: dict[Socket, None] = {}
        self._joining: dict[Socket, int] = {}
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._running = False

    def __len__(self) -> int:
        return len(self._sockets) + len(self._joining)

    def sockets(self) -> list[Socket]:
        return [*self._sockets, *self._joining]

    def join(self, socket: Socket) -> None:
        """Sent what is pushed from now on."""
        if self._running:
            self._joining[socket] = len(self._pending)
        else:
            self._sockets[socket] = None

    def leave(self, socket: Socket) -> None:
        self._sockets.pop(socket, None)
        self._joining.pop(socket, None)

    def push(self, frame: bytes) -> None:
        """Send it to all, this turn of the loop or soon."""
        if self._pending_bytes + len(frame) > MAX_PENDING_BYTES and self._pending:
            self._pending.clear()
            self._pending_bytes = 0
            self._joining = dict.fromkeys(self._joining, 0)
            self._overflowed()
            return
        self._pending.append(frame)
        self._pending_bytes += len(frame)
        if not self._running:
            self._running = True
            asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        frames, joining = self._pending, self._joining
        self._pending, self._pending_bytes, self._joining = [], 0, {}
        everyone = list(self._sockets)
        for socket, at in joining.items():
            # Who came after some of it had been pushed has been shown that already.
            if at < len(frames):
                socket.send_frame(b"".join(frames[at:]), len(frames) - at)
            self._sockets[socket] = None
        self._slice(everyone, 0, b"".join(frames) if len(frames) > 1 else frames[0], len(frames))

    def _slice(self, everyone: list[Socket], at: int, data: bytes, messages: int) -> None:
        some = everyone[at : at + SLICE]
        send_to_all(some, data, messages)
        self._sent(messages * len(some), len(data) * len(some))
        loop, at = asyncio.get_running_loop(), at + SLICE
        if at < len(everyone):
            loop.call_soon(self._slice, everyone, at, data, messages)
        elif self._pending:
            loop.call_soon(self._begin)
        else:
            self._running = False
            self._sockets.update(dict.fromkeys(self._joining))
            self._joining.clear()
