"""How late this process's event loop is: what everybody here waits for before anything is done for them."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from servicekit.meters import Meters

EVERY = 0.1
"""Seconds between two looks."""
RECENT = 300
"""Looks, of half a minute."""
SHARE = 0.99
LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Lag:
    """Sets itself a timer again and again; how long after it was due each came is the lag.

    Where turns are paced (`servicekit.pace`) up to 5 ms of it are on purpose.
    """

    def __init__(self, meters: Meters) -> None:
        self._late = meters.spread(
            "event_loop_lag_seconds", "How late a timer of the event loop was, ten times a second.", LAG_SECONDS
        )
        meters.level(
            "event_loop_lag_recent_seconds", "Of the last half minute's timers 99 in 100 were late by less.", self.most
        )
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """From within the loop that is looked at."""
        self._due = time.perf_counter() + EVERY
        self._timer = asyncio.get_running_loop().call_later(EVERY, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def most(self) -> float:
        """Seconds that all but the worst hundredth of the last looks were late by; 0 before the first."""
        looks = sorted(self._recent)
        return looks[int(SHARE * (len(looks) - 1))] if looks else 0.0

    def _look(self) -> None:
        self.saw(time.perf_counter() - self._due)
        self.start()

    def saw(self, late: float) -> None:
        """A timer was late by so many seconds; the loop's clock is coarser than ours, and may be early."""
        late = max(0.0, late)
        self._late.observe(late)
        self._recent.append(late)
