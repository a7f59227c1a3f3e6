"""Watch's metrics, by what happened."""

from __future__ import annotations

from servicekit.feed import FeedCounts
from servicekit.feed_metrics import count_feeds
from servicekit.socket_metrics import SocketMetrics


class WatchMetrics(SocketMetrics):
    def __init__(self) -> None:
        super().__init__("watch", "TVs'")
        meters = self.meters
        self._frames = meters.count("frames_sent", "Frames written to TVs.")
        self._frame_bytes = meters.count("frame_bytes", "Their bytes.")
        self._dropped = meters.count("overflows", "Times that a room told more than its TVs could be sent.")
        self._snapshots = meters.count("snapshots_sent", "Snapshots written to TVs.")
        self._feeds = count_feeds(meters)

    def frames_sent(self, messages: int, size: int) -> None:
        """So many messages in all, and the bytes of all of them."""
        self._frames.value += messages
        self._frame_bytes.value += size

    def frames_dropped(self) -> None:
        self._dropped.value += 1

    def snapshots_sent(self, tvs: int) -> None:
        self._snapshots.value += tvs

    def watch_feeds(self, counts: FeedCounts) -> None:
        self._feeds(counts)
