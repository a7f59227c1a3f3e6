"""Whether sockets still live: one timer for all of them, a few at each of its ticks."""

from __future__ import annotations

import asyncio

from servicekit.sockets import Socket

EVERY = 5.0
"""Seconds between two looks at a socket.  Silent since the last one: it is pinged; still silent at the next: gone."""
SLOTS = 40
"""Ticks in that time: what is due is spread over them."""


class Pulse:
    """Looks at each socket in turn.  Runs while there are any."""

    def __init__(self) -> None:
        self._tick = EVERY / SLOTS
        self._slots: list[set[Socket]] = [set() for _ in range(SLOTS)]
        self._at = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, socket: Socket) -> None:
        """Looked at for the first time when the round is over."""
        socket.pulse = self._at
        self._slots[self._at].add(socket)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._tick, self._look)

    def discard(self, socket: Socket) -> None:
        self._slots[socket.pulse].discard(socket)

    @property
    def unsent(self) -> int:
        """Bytes that sockets haven't taken."""
        return sum(socket.queued_bytes for slot in self._slots for socket in slot)

    def _look(self) -> None:
        self._timer = None
        self._at = (self._at + 1) % SLOTS
        for socket in tuple(self._slots[self._at]):
            if socket.heard or socket.held:
                socket.heard = socket.pinged = False
            elif socket.pinged:
                socket.evicted = "silent"
                socket.abort()
            else:
                socket.pinged = True
                socket.ping()
        if any(self._slots):
            self._timer = asyncio.get_running_loop().call_later(self._tick, self._look)
