"""Delays counted cheaply while players play, and as HDR histograms when they are told.

Recording is an append; once a second what came is counted in buckets a thousandth wide
(the top ten bits of a float's mantissa).  Histograms are made of those at the end, sent as
text, and merged over processes.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hdrh.histogram import HdrHistogram

from simulate.load_record import Delay

MICROSECOND, TEN_MINUTES = 1, 600_000_000
DIGITS = 3
_SHIFT = 13
"""Bits of a float32 that are let go: ten of its mantissa stay."""
NOTHING = Delay(0, 0.0, 0.0, 0.0, 0.0, 0.0)

Buckets = dict[int, int]
"""How often each bucket was met."""


def bucketed(seconds: Iterable[float]) -> Buckets:
    """Count delays by bucket; what is negative is none.

    >>> bucketed([0.001, 0.0010001, 0.5])
    {119832: 2, 129024: 1}
    """
    bits = memoryview(array("f", [s if s > 0 else 0.0 for s in seconds])).cast("B").cast("I")
    return dict(Counter([b >> _SHIFT for b in bits]))


def seconds_of(bucket: int) -> float:
    """The middle of a bucket.

    >>> abs(seconds_of(129024) - 0.5) < 0.0005
    True
    """
    low = memoryview(array("I", [bucket << _SHIFT])).cast("B").cast("f")[0]
    high = memoryview(array("I", [(bucket + 1) << _SHIFT])).cast("B").cast("f")[0]
    return float((low + high) / 2) if bucket else 0.0


def add(into: Buckets, more: Mapping[int, int]) -> None:
    """Merge counts."""
    for bucket, count in more.items():
        into[bucket] = into.get(bucket, 0) + count


def histogram(buckets: Mapping[int, int]) -> Any:
    """An HDR histogram, in µs."""
    h = HdrHistogram(MICROSECOND, TEN_MINUTES, DIGITS)
    for bucket, count in buckets.items():
        h.record_value(max(MICROSECOND, min(TEN_MINUTES, round(seconds_of(bucket) * 1e6))), count)
    return h


def merged(texts: Iterable[str]) -> Any:
    """One HDR histogram of those that `as_text` gave, of as many processes as there are."""
    h = HdrHistogram(MICROSECOND, TEN_MINUTES, DIGITS)
    for text in texts:
        h.decode_and_add(text)
    return h


def as_text(buckets: Mapping[int, int]) -> str:
    """An HDR histogram as its usual compressed text."""
    return bytes(histogram(buckets).encode()).decode()


def told(h: Any) -> Delay:
    """What is printed of an HDR histogram."""
    if not h.get_total_count():
        return NOTHING

    def ms(percentile: float) -> float:
        return float(round(h.get_value_at_percentile(percentile) / 1000, 3))

    return Delay(h.get_total_count(), ms(50), ms(90), ms(99), ms(99.9), ms(100))


def glance(buckets: Mapping[int, int]) -> Delay:
    """The same, of one second's buckets, without a histogram."""
    total = sum(buckets.values())
    if not total:
        return NOTHING
    rows = sorted(buckets.items())

    def ms(share: float) -> float:
        left = share * total
        for bucket, count in rows:
            left -= count
            if left <= 0:
                return round(seconds_of(bucket) * 1000, 3)
        return round(seconds_of(rows[-1][0]) * 1000, 3)

    return Delay(total, ms(0.5), ms(0.9), ms(0.99), ms(0.999), ms(1.0))
