"""What arrives at a busy process gathers for a moment, so that one turn of its loop serves many.

A turn for one message costs several times what the message does: the process is woken, and
so are those whom it tells, each by a message of their own.  From some hundred messages a
second on, a process therefore sleeps out a short gap after each turn.  The kernel keeps
what comes meanwhile, in order; nothing is read late by more than the gap.

Messages are counted, not the pieces of the stream that bring them: where others have
gathered them already, pieces are few however busy it is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

QUIET_GAP, BUSY_GAP = 0.002, 0.005
QUIET_RATE, BUSY_RATE = 200.0, 800.0
"""Messages a second, below which nothing is waited for, and from which on the gap is the longer one."""
LOOKS = 0.1
"""Seconds over which the rate is counted."""
TURNS = 3
"""Turns of the loop until what was read has been passed on: tasks that it woke, and what those wrote."""


def gap_at(rate: float) -> float:
    """Seconds between two turns at so many messages a second; 0: as they come.

    >>> gap_at(100), gap_at(200), gap_at(500), gap_at(10_000)
    (0.0, 0.002, 0.0035, 0.005)
    """
    if rate < QUIET_RATE:
        return 0.0
    return QUIET_GAP + (BUSY_GAP - QUIET_GAP) * min(1.0, (rate - QUIET_RATE) / (BUSY_RATE - QUIET_RATE))


class Pace:
    """`heard` is called by whatever reads.  Does nothing until `start`: one process may run many services in tests."""

    def __init__(self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> None:
        self._now, self._sleep = now, sleep
        self._call_soon: Callable[[Callable[[], None]], object] | None = None
        self._turns = 0
        self._heard = 0
        self._since = 0.0
        self._next = 0.0
        self.gap = 0.0
        """Seconds between turns at present; 0: none is waited for."""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Pace this process, whose only loop it is."""
        self._call_soon = loop.call_soon

    def heard(self, messages: int = 1) -> None:
        """Something was read in this turn: so many whole messages."""
        self._heard += messages
        if not self._turns and self._call_soon is not None:
            self._turns = TURNS
            self._call_soon(self._turn)

    def _turn(self) -> None:
        self._turns -= 1
        if self._turns and self._call_soon is not None:
            self._call_soon(self._turn)
            return
        now = self._now()
        if now - self._since > LOOKS:
            self.gap = gap_at(self._heard / (now - self._since))
            self._heard, self._since = 0, now
        if now < self._next and self.gap:
            self._sleep(min(self._next - now, self.gap))
            self._next += self.gap
        else:
            self._next = now + self.gap


pace = Pace()
"""This process's."""
