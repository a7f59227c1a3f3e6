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
        self._dropped = Counter(
            "snatch_watch_overflows", "Times that a room told more than its TVs could be sent.", registry=r
        )
        self._snapshots = Counter("snatch_watch_snapshots_sent", "Snapshots written to TVs.", registry=r)

    def frames_sent(self, messages: int, size: int) -> None:
        """So many messages in all, and the bytes of all of them."""
        self._frames.inc(messages)
        self._frame_bytes.inc(size)

    def frames_dropped(self) -> None:
        self._dropped.inc()

    def snapshots_sent(self, tvs: int) -> None:
        self._snapshots.inc(tvs)
