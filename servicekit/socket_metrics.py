"""What every service with browsers' sockets counts of them, by what happened."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge


class SocketMetrics:
    """The beginning of such a service's metrics: `registry` takes those of its own as well."""

    def __init__(self, service: str, whose: str) -> None:
        """`whose` sockets they are, as the metrics' help says: “Players'”, “TVs'”."""
        self.registry = CollectorRegistry()
        r, prefix = self.registry, f"snatch_{service}"
        self._sockets = Gauge(f"{prefix}_sockets", f"{whose} sockets that are open.", registry=r)
        self._rooms = Gauge(f"{prefix}_rooms", "Rooms whose frames are heard here.", registry=r)
        self._refused = Counter(f"{prefix}_refused", "Errors told to sockets.", ["code"], registry=r)
        self._closed = Counter(f"{prefix}_closed", "Sockets ended, by our close code; 0: theirs.", ["code"], registry=r)

    def socket_opened(self) -> None:
        self._sockets.inc()

    def socket_closed(self, code: int) -> None:
        self._sockets.dec()
        self._closed.labels(str(code)).inc()

    def socket_refused(self, code: int) -> None:
        """It was never let in: an HTTP status or a close code says why."""
        self._closed.labels(str(code)).inc()

    def error_told(self, code: str) -> None:
        self._refused.labels(code).inc()

    def watch_rooms(self, count: Callable[[], int]) -> None:
        self._rooms.set_function(count)
