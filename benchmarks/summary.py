"""What many runs come to: ratios within a round, and how far rounds lie apart.  Void runs count for nothing."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.results import PathRun

Read = Callable[[PathRun], float]


class Spread(NamedTuple):
    """Of one figure over all rounds that count."""

    median: float
    low: float
    high: float
    rounds: int

    def shown(self, digits: int = 2) -> str:
        """
        >>> Spread(0.81, 0.79, 0.84, 2).shown(), Spread(0.8, 0.8, 0.8, 1).shown(1), Spread(1612, 1400, 1800, 2).shown(0)
        ('0.81 (0.79–0.84)', '0.8', '1,612 (1,400–1,800)')
        """
        if self.rounds == 1:
            return f"{self.median:,.{digits}f}"
        return f"{self.median:,.{digits}f} ({self.low:,.{digits}f}–{self.high:,.{digits}f})"


def spread(values: Sequence[float]) -> Spread | None:
    """None of none.

    >>> spread([3.0, 1.0, 2.0]), spread([])
    (Spread(median=2.0, low=1.0, high=3.0, rounds=3), None)
    """
    return Spread(statistics.median(values), min(values), max(values), len(values)) if values else None


class Series(NamedTuple):
    """Runs that differ in nothing but their round."""

    who: str
    mode: str
    engines: int
    players: int
    rate: float


def series(run: PathRun) -> Series:
    return Series(run.who, run.mode, run.engines, run.players, run.rate)


def counted(runs: Iterable[PathRun], which: Series) -> dict[int, PathRun]:
    """By round: those of a series that aren't void."""
    return {run.round: run for run in runs if series(run) == which and not run.void}


def figure(runs: Iterable[PathRun], which: Series, read: Read) -> Spread | None:
    """One figure of a series."""
    return spread([read(run) for run in counted(runs, which).values()])


def ratio(runs: Sequence[PathRun], ours: Series, theirs: Series, read: Read) -> Spread | None:
    """How many times as much ours is, round by round; a round counts only if neither of its two runs is void."""
    mine, other = counted(runs, ours), counted(runs, theirs)
    return spread([read(mine[n]) / read(other[n]) for n in sorted(mine.keys() & other.keys()) if read(other[n]) > 0])


def cpu(run: PathRun) -> float:
    return run.cpu_us_per_move


def p50(run: PathRun) -> float:
    return run.p50_ms


def p99(run: PathRun) -> float:
    return run.p99_ms


def kb_per_player(run: PathRun) -> float:
    """A quarter of a room in it."""
    return run.grown_mb * 1000 / run.players


def moves(run: PathRun) -> float:
    return run.moves_per_s
