"""How late this process's own event loop is: what it stalls is no fault of the servers."""

from __future__ import annotations

import asyncio
import time
from collections import deque

EVERY = 0.02


class Lateness:
    """Ticks fifty times a second and notes how late each tick came.  Times are monotonic seconds."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._recent: deque[float] = deque(maxlen=100_000)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._tick(), name="lateness")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _tick(self) -> None:
        due = time.monotonic() + EVERY
        while True:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            now = time.monotonic()
            self._recent.append(now - due)
            self.longest = max(self.longest, now - due)
            due = max(due + EVERY, now)

    def take(self) -> tuple[list[float], float]:
        """All latenesses since the last call, and the longest."""
        found, longest = list(self._recent), self.longest
        self._recent.clear()
        self.longest = 0.0
        return found, longest
