"""How long a room's players waited: the gap, measured at their phones.

A room **waits** while at least one move of its players is made and neither answered nor
given up by its page.  A **gap** is a stretch of time in which a room waits and none of its
moves is answered: it begins when the room begins to wait, or at an answer while others still
wait, and ends with the next answer.  A move counts from the moment the player makes it,
whether their socket is up or not; a snapshot that holds what a move did answers it.
"""

from __future__ import annotations

from collections.abc import Sequence

NOTABLE = 0.25
"""Seconds: shorter gaps are play, longer ones are what a fault did."""

REACTION = 2.0
"""Seconds after a fault in which rooms begin to feel it: what comes later is the new process's start, or play."""


class RoomGaps:
    """Of one room.  Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self.waiting = 0
        self.longest = 0.0
        self.ended: list[tuple[float, float]] = []
        """(begin, end) of the notable gaps, oldest first."""
        self._since = 0.0

    def made(self, at: float) -> None:
        if self.waiting == 0:
            self._since = at
        self.waiting += 1

    def answered(self, at: float) -> None:
        self._end(at)

    def dropped(self, at: float) -> None:
        """A page gave a move up undecided: that is no answer, the gap goes on while others wait."""
        self.waiting -= 1
        if self.waiting == 0:
            self._note(at)

    def _end(self, at: float) -> None:
        self._note(at)
        self.waiting -= 1
        self._since = at

    def _note(self, at: float) -> None:
        length = at - self._since
        self.longest = max(self.longest, length)
        if length >= NOTABLE:
            self.ended.append((self._since, at))

    def open_for(self, now: float) -> float:
        """Seconds that the gap of this moment has lasted; 0 when nobody waits."""
        return now - self._since if self.waiting else 0.0

    def take(self, now: float) -> float:
        """The longest since the last call, one that still lasts included."""
        longest = max(self.longest, self.open_for(now))
        self.longest = 0.0
        return longest

    def back_after(self, fault: float) -> float | None:
        """Seconds from a fault until this room went on: the end of the gap that the fault made.

        That is the first notable one that begins, or lasts, in the `REACTION` after it; None without one.
        """
        ends = [end for begin, end in self.ended if end > fault and begin < fault + REACTION]
        return ends[0] - fault if ends else None


def percentile(values: Sequence[float], p: float) -> float:
    """The smallest value that at least `p` per cent of them don't exceed; 0 of none.

    >>> percentile([1, 2, 3, 4], 50), percentile([1, 2, 3, 4], 99)
    (2, 4)
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    rank = -(-len(ordered) * p // 100)
    return ordered[max(0, min(len(ordered), int(rank)) - 1)]
