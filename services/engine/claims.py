"""Which engine should hold which partition, and which ones are to be claimed now.

Rendezvous hashing: every engine scores every partition; the highest score among the living
should hold it.  An engine that comes or goes moves only its own share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from services.engine.records import VERSION
from wire.news import Entry
from wire.places import PARTITIONS

PER_RANK = 0.2
OFFER_STALE = 0.5
STABLE = 5.0


class Placed(NamedTuple):
    """A placement, and the bucket's revision to change it from."""

    entry: Entry
    revision: int


def ranking(partition: int, engines: Iterable[str]) -> list[str]:
    """The engines that should hold a partition, the best first."""

    return sorted(engines, key=lambda e: (_score(partition, e), e), reverse=True)


@lru_cache(maxsize=64 * PARTITIONS)
def _score(partition: int, engine: str) -> bytes:
    """Asked of all partitions at each of their openings, when there is least time for it."""
    return hashlib.blake2b(f"{partition}:{engine}".encode(), digest_size=8).digest()


class Claims:
    """What to claim, asked again and again; times are seconds of a monotonic clock."""

    def __init__(self, me: str, partitions: Sequence[int] = range(PARTITIONS)) -> None:
        self._me, self._partitions = me, partitions
        self._orphan_since: dict[int, float] = {}
        self._offer_since: dict[int, tuple[int, float]] = {}

    def due(
        self,
        placed: Mapping[int, Placed],
        peers: set[str],
        held: set[int],
        now: float,
        leaving: Collection[str] = (),
    ) -> list[int]:
        """Partitions without a living owner whose turn it is for this engine.

        `held`: has, claims, or can't have.  `leaving`: peers that own, and claim nothing.
        """
        live = peers | {self._me}
        rivals = (peers - set(leaving)) | {self._me}
        found = []
        for partition in self._partitions:
            if partition in held:
                self._orphan_since.pop(partition, None)
                continue
            wait = self._wait(partition, placed.get(partition), live, rivals, now)
            if wait is None:
                self._orphan_since.pop(partition, None)
                continue
            since = self._orphan_since.setdefault(partition, now)
            if now - since >= wait:
                found.append(partition)
        return found

    def orphaned(self, partition: int) -> float | None:
        """Since when it is known to be without a living owner; None: it has one, or is held here."""
        return self._orphan_since.get(partition)

    def _wait(self, partition: int, at: Placed | None, live: set[str], rivals: set[str], now: float) -> float | None:
        """Seconds to wait before claiming; None: it has an owner."""
        if at is not None and at.entry.reads > VERSION:
            return None  # For an engine of a later release.
        if at is not None and at.entry.owner == self._me:
            return 0.0  # Offered to me, or mine in an earlier life.
        orphan = at is None or at.entry.owner not in live
        if at is not None and at.entry.state == "offer" and not orphan:
            revision, since = self._offer_since.get(partition, (0, 0.0))
            if revision != at.revision:
                self._offer_since[partition] = (at.revision, now)
                return None
            orphan = now - since >= OFFER_STALE
        if not orphan:
            return None
        return PER_RANK * ranking(partition, rivals).index(self._me)


def to_hand_over(held: Iterable[int], me: str, live: set[str]) -> list[tuple[int, str]]:
    """Of the partitions held here, those that another living engine should hold."""
    found = []
    for partition in held:
        best = ranking(partition, live | {me})[0]
        if best != me:
            found.append((partition, best))
    return found
