"""What wakes a partition's writer: work that came, or the time of something that its tables do by themselves."""

from __future__ import annotations

import asyncio


class Bell:
    """An event for one task, and a timer that sets it.

    `asyncio.Event` asks for its loop at each wait, and a timer for each wait costs as much
    again: both showed.  One timer serves many waits: one that rings too soon is let ring.
    """

    __slots__ = ("_loop", "_rings_at", "_rung", "_timer", "_waiter")

    def __init__(self) -> None:
        self._rung = False
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()  # asked once: each question is a system call
        self._rings_at = 0.0

    def ring(self) -> None:
        """End the wait, or the next one."""
        self._rung = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def hush(self) -> None:
        """The next wait waits, whatever rang before."""
        self._rung = False

    def ring_in(self, seconds: float, *, not_before: bool = False) -> None:
        """Ring by then at the latest; `not_before`: nor by an older timer before it."""
        loop = self._loop
        at = loop.time() + seconds
        if self._timer is not None:
            if self._rings_at <= at and not not_before:
                return
            self._timer.cancel()
        self._timer, self._rings_at = loop.call_at(at, self._on_time), at

    def stop(self) -> None:
        """No timer rings any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def wait(self) -> None:
        """Until it rings."""
        if self._rung:
            return
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _on_time(self) -> None:
        self._timer = None
        self.ring()
