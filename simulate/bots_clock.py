"""A clock that nobody waits for: time goes on to whatever is due next."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from services.bots.agenda import Looker


class Clock:
    """Seconds from 0.  What falls due at the same time happens in the order in which it was asked for.

    It is the agenda of the bots on it as well (`services.bots.agenda.Timer`): a looker has one entry.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._looks: dict[int, int] = {}
        """By looker: which of its looks counts."""

    def now(self) -> float:
        return self._now

    @property
    def ms(self) -> int:
        """Whole milliseconds, as tables count."""
        return round(self._now * 1000)

    def call_at(self, at: float, do: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._due, (max(at, self._now), self._count, do))

    def call_in(self, seconds: float, do: Callable[[], None]) -> None:
        self.call_at(self._now + seconds, do)

    def put(self, at: float, looker: Looker) -> None:
        number = self._count + 1
        self._looks[id(looker)] = number

        def look() -> None:
            if self._looks.get(id(looker)) == number:
                del self._looks[id(looker)]
                looker.look(0.0)

        self.call_at(at, look)

    def drop(self, looker: Looker) -> None:
        self._looks.pop(id(looker), None)

    def run(self, until: Callable[[], bool], limit: float) -> bool:
        """Let time pass until this is so; False when `limit` came first, or nothing is due any more."""
        while not until():
            if not self._due or self._due[0][0] > limit:
                return False
            self._now, _, do = heapq.heappop(self._due)
            do()
        return True
