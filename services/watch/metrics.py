"""Watch's metrics, by what happened."""

from __future__ import annotations

from prometheus_client import Counter

from servicekit.socket_metrics import SocketMetrics


class WatchMetrics(SocketMetrics):
    def __init__(self) -> None:
        super().__init__("watch", "TVs'")
        r = self.registry
        self._frames = Counter("snatch_watch_frames_sent", "Frames written to TVs.", registry=r)
        self._frame_bytes = Counter("snatch_watch_frame_bytes", "Their bytes.", registry=r)
        self._snapshots = Counter("snatch_watch_snapshots_sent", "Snapshots written to TVs.", registry=r)

    def frame_sent(self, size: int) -> None:
        self._frames.inc()
        self._frame_bytes.inc(size)

    def snapshot_sent(self) -> None:
        self._snapshots.inc()
