"""Token buckets: how much one socket, or one address, may ask for."""

from __future__ import annotations

from collections import OrderedDict

MAX_ADDRESSES = 50_000
"""Addresses remembered; the longest unheard goes first, which is the fullest bucket."""


class Bucket:
    """`rate` a second, up to `burst` at once.  Time in seconds of any clock that only rises."""

    __slots__ = ("_at", "_left", "burst", "rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate = rate
        self.burst = burst
        self._left = burst
        self._at = now

    def take(self, now: float) -> float:
        """Take one.  0.0: taken.  Else nothing was taken, and that many seconds from now there is one."""
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left >= 1.0:
            self._left -= 1.0
            return 0.0
        return (1.0 - self._left) / self.rate


class AddressLimit:
    """One bucket an address.  `per_minute` 0: no limit."""

    def __init__(self, per_minute: float) -> None:
        self._rate = per_minute / 60
        self._burst = max(1.0, per_minute)
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, address: str, now: float) -> float:
        """As `Bucket.take`."""
        if self._rate <= 0:
            return 0.0
        bucket = self._buckets.get(address)
        if bucket is None:
            bucket = self._buckets[address] = Bucket(self._rate, self._burst, now)
            if len(self._buckets) > MAX_ADDRESSES:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(address)
        return bucket.take(now)
