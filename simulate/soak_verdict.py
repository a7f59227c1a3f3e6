"""Whether what a stack holds grows: each series judged after the warm-up, by numbers that outliers don't move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

MIB = 1024.0 * 1024.0
FEWEST = 8
"""Samples after the warm-up below which nothing is judged."""
AT_MOST = 200
"""Samples that a slope is taken of: more are thinned out evenly."""


@dataclass(frozen=True)
class Tolerance:
    """What a series may rise in the judged time: the greater of so much, and of a share of its level."""

    absolute: float
    share: float

    def at(self, level: float) -> float:
        return max(self.absolute, self.share * level)


MEMORY = Tolerance(8 * MIB, 0.12)
"""Allocators keep what they had at a peak, and peaks are chance.  A few hundred tables that stay are more."""
STORED = Tolerance(2 * MIB, 0.5)
"""The log is as long as rooms have been busy since their last snapshots: it goes up and down."""
COUNTS = Tolerance(24, 0.4)
"""As many rooms are busy all the time, but not with the same."""
HANDLES = Tolerance(8, 0.25)
POOLED = Tolerance(40, 0.5)
"""A rooms worker keeps each connection to Redis that it ever needed at once, 32 at most."""

TOLERANCES = {
    "memory/nats": Tolerance(24 * MIB, 0.5),
    "memory": MEMORY,
    "redis/bytes": Tolerance(1 * MIB, 0.1),
    "disk": Tolerance(16 * MIB, 0.5),
    "log/bytes": STORED,
    "placement/bytes": STORED,
    "log/messages": Tolerance(200, 0.5),
    "placement/messages": HANDLES,
    "files/rooms": POOLED,
    "files/valkey": POOLED,
    "files": HANDLES,
    "threads": HANDLES,
    "nats/connections": HANDLES,
}
"""By how a series begins, the first that fits; all others are `COUNTS`.

Go's heap may double before it is collected.
"""
AS_THE_LOAD = ("tables", "sockets", "seats", "heard", "queue", "redis/keys", "log", "nats/subscriptions")
"""What is there for each room that is busy: it may rise as much as the number of rooms that came did."""
NOT_JUDGED = ("rss",)
"""Told beside what is judged: pages that several processes share count in each."""


def tolerance(series: str) -> Tolerance:
    return next((tolerance for begin, tolerance in TOLERANCES.items() if series.startswith(begin)), COUNTS)


@dataclass(frozen=True)
class Verdict:
    """Of one series.  `rise` is how much it rose in the judged time, by both measures at least."""

    series: str
    early: float
    late: float
    """Medians of the judged time's halves."""
    rise: float
    allowed: float
    highest: float

    @property
    def flat(self) -> bool:
        return self.rise <= self.allowed


def judge(
    series: str, times: Sequence[float], values: Sequence[float], warm_up: float, load: float = 1.0
) -> Verdict | None:
    """None when there is too little to judge.  `load`: how many times as many rooms came in the second half.

    The rise is the Theil–Sen slope (the median of the slopes between all pairs) times the
    judged time, or what the halves' medians say of it if that is less: a leak shows in both.
    """
    judged = [(t, v) for t, v in zip(times, values, strict=True) if t >= warm_up]
    if len(judged) < FEWEST or series.startswith(NOT_JUDGED):
        return None
    half = len(judged) // 2
    early, late = median(v for _, v in judged[:half]), median(v for _, v in judged[half:])
    step = -(-len(judged) // AT_MOST)
    span = judged[-1][0] - judged[0][0]
    rise = min(theil_sen(judged[::step]) * span, 2 * (late - early))
    more = early * max(0.0, load - 1) if series.startswith(AS_THE_LOAD) else 0.0
    return Verdict(series, early, late, max(0.0, rise), tolerance(series).at(early) + more, max(v for _, v in judged))


def theil_sen(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between all pairs of points.

    >>> theil_sen([(0, 1), (1, 3), (2, 5), (3, 100)])
    2.0
    """
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[i + 1 :] if b[0] != a[0]]
    return float(median(slopes)) if slopes else 0.0


def shown(series: str, value: float) -> str:
    """A value as people read it: MiB for bytes, else a count."""
    if in_bytes(series) and value:
        return f"{value / MIB:,.1f} MiB" if value >= MIB / 10 else f"{value / 1024:,.1f} KiB"
    return f"{value:,.0f}"


def in_bytes(series: str) -> bool:
    return series.startswith(("memory/", "rss/", "disk/")) or series.endswith("/bytes")
