"""When who looks next: one heap and one timer for all bots of a worker, never a task for a look."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from typing import Protocol

AT_ONCE = 32
"""Looks in a row before sockets get their turn."""


class Looker(Protocol):
    """Who is on the agenda."""

    def look(self, late: float) -> None:
        """Its time has come, `late` seconds ago.  Never waits."""
        ...


class Timer(Protocol):
    """What a driver needs of an agenda."""

    def now(self) -> float: ...

    def put(self, at: float, looker: Looker) -> None: ...

    def drop(self, looker: Looker) -> None: ...


class Agenda:
    """Times are the loop's, in seconds.  A looker has one entry: a new one takes the place of the old."""

    def __init__(self, failed: Callable[[Looker], None]) -> None:
        """`failed` hears of a looker whose look raised, inside the exception."""
        self._failed = failed
        self._heap: list[tuple[float, int, Looker]] = []
        self._current: dict[int, int] = {}
        """By looker: the number of its entry that counts; others in the heap are void."""
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def put(self, at: float, looker: Looker) -> None:
        self._count += 1
        self._current[id(looker)] = self._count
        heapq.heappush(self._heap, (at, self._count, looker))
        if self._heap[0][1] == self._count:
            self._wind()

    def drop(self, looker: Looker) -> None:
        self._current.pop(id(looker), None)

    def __len__(self) -> int:
        return len(self._current)

    def close(self) -> None:
        self._heap.clear()
        self._current.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wind(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            self._timer = asyncio.get_running_loop().call_at(self._heap[0][0], self._ring)

    def _ring(self) -> None:
        now = self.now()
        for _ in range(AT_ONCE):
            if not self._heap or self._heap[0][0] > now:
                break
            at, number, looker = heapq.heappop(self._heap)
            if self._current.get(id(looker)) != number:
                continue
            del self._current[id(looker)]
            try:
                looker.look(now - at)
            except Exception:
                self._failed(looker)
        self._wind()
