"""What every service with browsers' sockets counts of them, by what happened."""

from __future__ import annotations

from collections.abc import Callable

from servicekit.meters import Meters
from servicekit.ties import Ties
from wire.codes import CLOSES, ERRORS, UPGRADES

THEIRS = 0
"""Of a socket that the other side ended, in the metric of closes."""


class SocketMetrics:
    """The beginning of such a service's metrics: `meters` takes those of its own as well."""

    def __init__(self, service: str, whose: str) -> None:
        """`whose` sockets they are, as the metrics' help says: “Players'”, “TVs'”."""
        self.meters = meters = Meters(f"snatch_{service}")
        self.registry = meters.registry
        self.ties = Ties(self.registry, calls=("engine", "rooms"))
        self._sockets = meters.level("sockets", f"{whose} sockets that are open.")
        self._rooms = meters.level("rooms", "Rooms whose frames are heard here.")
        self._unsent = meters.level("unsent_bytes", "Bytes that wait for sockets that don't take them.")
        self._refused = meters.counts("refused", "Errors told to sockets, by code.", code=ERRORS)
        self._closed = meters.counts(
            "closed",
            "Sockets ended, by our close code, 0: theirs; or refused at the upgrade, by HTTP's status.",
            code=map(str, (THEIRS, *CLOSES, *UPGRADES)),
        )
        self._evicted = meters.counts(
            "evicted",
            "Sockets that we ended, by why: they took too little, sent too much, gave no sign; there was no place.",
            why=("too_slow", "too_fast", "silent", "too_many"),
        )

    def socket_opened(self) -> None:
        self._sockets.value += 1

    def socket_closed(self, code: int) -> None:
        self._sockets.value -= 1
        self._closed.add(str(code))

    def socket_refused(self, code: int) -> None:
        """It was never let in: an HTTP status or a close code says why."""
        self._closed.add(str(code))

    def socket_evicted(self, why: str) -> None:
        """`too_slow`: it didn't take what was sent; `too_fast`: it sent too much; `silent`; `too_many`: no place."""
        self._evicted.add(why)

    def error_told(self, code: str) -> None:
        self._refused.add(code)

    def watch_rooms(self, count: Callable[[], int]) -> None:
        self._rooms.read = count

    def watch_unsent(self, count: Callable[[], int]) -> None:
        """Asked for the bytes at each scrape."""
        self._unsent.read = count
