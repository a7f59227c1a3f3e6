"""When each player's next move is due: an open loop, that waits for nobody's answer.

A player's moves are due every 1/rate seconds from a phase of its own.  A late generator
or a slow server changes nothing about that, so a delay that is counted from when its move
was due leaves nothing out.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from random import Random
from typing import Generic, TypeVar

T = TypeVar("T")


class Schedule(Generic[T]):
    """Times are seconds of whatever clock the caller has.

    >>> schedule = Schedule(rate=2.0, dice=Random(1))
    >>> schedule.add("ann", now=10.0, phase=0.5)
    >>> list(schedule.due(11.0)), schedule.next_at
    ([(10.25, 'ann'), (10.75, 'ann')], 11.25)
    """

    def __init__(self, rate: float, dice: Random) -> None:
        """`rate`: moves a second and player, above 0."""
        self._every = 1 / rate
        self._dice = dice
        self._heap: list[tuple[float, int, T]] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def next_at(self) -> float | None:
        """When the next move of anybody is due."""
        return self._heap[0][0] if self._heap else None

    def add(self, player: T, now: float, phase: float | None = None) -> None:
        """`phase`: 0 to 1 of a period from now until its first move; None: by chance."""
        share = self._dice.random() if phase is None else phase
        self._order += 1
        heapq.heappush(self._heap, (now + share * self._every, self._order, player))

    def faster(self, rate: float, now: float) -> None:
        """At this rate from now on: what is left of each player's pause shrinks or grows with it."""
        every = 1 / rate
        factor = every / self._every
        self._heap = [(now + (at - now) * factor if at > now else at, n, player) for at, n, player in self._heap]
        heapq.heapify(self._heap)
        self._every = every

    def due(self, now: float) -> Iterator[tuple[float, T]]:
        """Every move that was due until now and was not given yet, with its own time."""
        heap, every = self._heap, self._every
        while heap and heap[0][0] <= now:
            at, order, player = heap[0]
            heapq.heapreplace(heap, (at + every, order, player))
            yield at, player

    def clear(self) -> None:
        """Nothing is due any more."""
        self._heap.clear()
