"""Watch's metrics, by what happened."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge


class WatchMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        r = self.registry
        self._sockets = Gauge("snatch_watch_sockets", "TVs that are on.", registry=r)
        self._rooms = Gauge("snatch_watch_rooms", "Rooms whose frames are heard here.", registry=r)
        self._frames = Counter("snatch_watch_frames_sent", "Frames written to TVs.", registry=r)
        self._frame_bytes = Counter("snatch_watch_frame_bytes", "Their bytes.", registry=r)
        self._snapshots = Counter("snatch_watch_snapshots_sent", "Snapshots written to TVs.", registry=r)
        self._refused = Counter("snatch_watch_refused", "Errors told to TVs.", ["code"], registry=r)
        self._closed = Counter(
            "snatch_watch_closed", "Sockets ended, by our close code; 0: theirs.", ["code"], registry=r
        )

    def socket_opened(self) -> None:
        self._sockets.inc()

    def socket_closed(self, code: int) -> None:
        self._sockets.dec()
        self._closed.labels(str(code)).inc()

    def socket_refused(self, code: int) -> None:
        self._closed.labels(str(code)).inc()

    def frame_sent(self, size: int) -> None:
        self._frames.inc()
        self._frame_bytes.inc(size)

    def snapshot_sent(self) -> None:
        self._snapshots.inc()

    def error_told(self, code: str) -> None:
        self._refused.labels(code).inc()

    def watch_rooms(self, count: Callable[[], int]) -> None:
        self._rooms.set_function(count)
