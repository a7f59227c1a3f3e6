"""Units and round numbers on a plot's axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """What a number is of, and how it is told."""

    name: str
    show: Callable[[float], str]
    step: float = 1.0
    """Ticks are round in multiples of this, or of a 1024th: 2**20 for bytes shown as MiB or KiB."""


def number(value: float) -> str:
    """Three digits that count.

    >>> number(1234567.0), number(0.0123), number(12.0)
    ('1.23 M', '0.0123', '12')
    """
    for limit, letter in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if abs(value) >= limit:
            return f"{value / (1e3 if letter == ' k' else limit):.3g}{letter}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def bytes_in_words(value: float) -> str:
    """
    >>> bytes_in_words(3 * 2**20), bytes_in_words(512)
    ('3 MiB', '0.5 KiB')
    """
    for size, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value >= size / 2:
            return f"{value / size:.3g} {name}"
    return f"{value:.0f}"


def milliseconds(value: float) -> str:
    """
    >>> milliseconds(0.25), milliseconds(12.34), milliseconds(1500)
    ('0.25 ms', '12.3 ms', '1.5 s')
    """
    return f"{value / 1000:.3g} s" if value >= 1000 else f"{value:.3g} ms"


MINUTES_FROM = 180.0
"""Seconds from which on time is told in minutes."""

NUMBER = Unit("", number)
PER_SECOND = Unit("per second", number)
MS = Unit("ms", milliseconds)
CORES = Unit("cores", lambda value: f"{value:.3g}")
MB = Unit("MB", lambda value: f"{number(value)} MB")
BYTES = Unit("", bytes_in_words, 2**20)
TIME = Unit("s", lambda value: f"{value:.0f} s" if abs(value) < MINUTES_FROM else f"{value / 60:.3g} min")
MINUTES = Unit("min", lambda value: f"{value / 60:.3g} min")
"""Of an axis that goes past MINUTES_FROM."""


def ticks(low: float, high: float, about: int, unit: float = 1.0) -> list[float]:
    """Round numbers from below `low` to above `high`, some `about` of them.

    >>> ticks(0, 870, 5)
    [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]
    """
    while unit > 1 and high < unit / 2:
        unit /= 1024
    span = max((high - low) / unit, 1e-9)
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.8) * power * unit
    first = math.floor(low / step)
    last = max(first + 1, math.ceil(high / step - 1e-9))
    return [round(n * step, 9) for n in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, … around both; 1, 10, 100, … when that would be many.

    >>> log_ticks(3, 80)
    [2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
    """
    low, high = max(low, 1e-3), max(high, low * 2, 2e-3)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    found = [round(m * 10.0**p, 9) for p in range(first, last + 1) for m in steps]
    begin = max(i for i, tick in enumerate(found) if tick <= low)
    end = min((i for i, tick in enumerate(found) if tick >= high), default=len(found) - 1)
    return found[begin : max(end, begin + 1) + 1]


def time_ticks(first: float, last: float) -> list[float]:
    """Seconds, at most eight.

    >>> time_ticks(-8, 60)
    [0, 10, 20, 30, 40, 50, 60]
    """
    step = next((s for s in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800) if (last - first) / s <= 8), 3600)
    return [n * step for n in range(math.ceil(first / step), math.floor(last / step) + 1)]
