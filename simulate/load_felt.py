"""What a simulated player's page reports to have felt, as the real one does (`web/src/lib/felt.ts`)."""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from wire.client_in import FELT_MS, Felt

MOST_MOVES, MOST_EVENTS = 600, 60
LONGEST_MS = 60_000

_encode = msgspec.json.Encoder().encode


class FeltReport:
    """Of one page; times are seconds of a clock that only goes forward."""

    def __init__(self) -> None:
        self._every = 0.0
        self._at = 0.0
        self._moves = [0] * (len(FELT_MS) + 1)
        self._ms = self._reconnects = 0

    def asked(self, every: int, now: float) -> None:
        """A gateway's welcome wants one every so many seconds; 0: none."""
        self._every, self._at = every, now + every

    def seen(self, seconds: float) -> None:
        """What became of an own move, so long after it was made."""
        ms = round(1000 * seconds)
        if self._every and 0 <= ms <= LONGEST_MS:
            self._moves[bisect_left(FELT_MS, ms)] += 1
            self._ms += ms

    def reconnected(self) -> None:
        self._reconnects += 1

    def due(self, now: float) -> bytes | None:
        """The message, when it is time for one and there is something to say."""
        made = sum(self._moves)
        if not self._every or now < self._at or not (made or self._reconnects):
            return None
        self._at = now + self._every
        report = Felt(reconnects=min(MOST_EVENTS, self._reconnects))
        if 0 < made <= MOST_MOVES:
            report.moves, report.ms = self._moves, self._ms
        self._moves = [0] * (len(FELT_MS) + 1)
        self._ms = self._reconnects = 0
        return _encode(report)
