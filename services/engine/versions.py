"""Which version of the log this engine writes, while engines of two releases run side by side.  Sans I/O.

Each engine's lease says what it reads.  A newer version is written when every engine that
ever had a lease reads it, or every living one has for a while: one that is away just now
may come back as it was.  An older engine that comes is written for from that moment on.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.engine import records as r

RAISE_AFTER = 60.0
"""Seconds, of a monotonic clock: an older engine that was killed may be an heir for so long."""


class Versions:
    """`writes`: what records are written as now."""

    def __init__(self) -> None:
        self.writes = r.BEFORE
        self._higher = 0
        self._since = 0.0

    def look(self, living: Iterable[int], gone: Iterable[int], now: float) -> None:
        """What each other engine reads: those that live, and those of which only the lease is left."""
        common = _common(living)
        if common <= self.writes or common <= _common(gone):
            self.writes, self._higher = common, 0
        elif common != self._higher:
            self._higher, self._since = common, now
        elif now - self._since >= RAISE_AFTER:
            self.writes, self._higher = common, 0


def _common(reads: Iterable[int]) -> int:
    return max(r.BEFORE, min([r.VERSION, *reads]))
