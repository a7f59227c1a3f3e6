"""What gateway and watch export of their rooms' feeds."""

from __future__ import annotations

from collections.abc import Callable

from servicekit.feed import FeedCounts
from servicekit.meters import Meters


def count_feeds(meters: Meters) -> Callable[[FeedCounts], None]:
    """Declare them; call what is returned with the counts once there are any."""
    frames = meters.count("feed_frames", "Frames heard of rooms that are read here.")
    bad = meters.count("feed_bad_frames", "Frames that could not be read: a fault, or another's words.")
    slow = meters.count("feed_slow_consumers", "Times that NATS' client dropped frames: too much came at once.")
    snapshots = meters.count("feed_snapshots", "Snapshots that engines were asked for.")

    def watch(counts: FeedCounts) -> None:
        frames.read = lambda: counts.frames
        bad.read = lambda: counts.bad_frames
        slow.read = lambda: counts.slow_consumers
        snapshots.read = lambda: counts.snapshots

    return watch
