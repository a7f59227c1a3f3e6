"""The gateway's metrics, by what happened."""

from __future__ import annotations

import msgspec
from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from servicekit.engines import Counts
from servicekit.feed import FeedCounts
from servicekit.socket_metrics import SocketMetrics

BUCKETS = (0.001, 0.002, 0.004, 0.006, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10)


class SentCounts(msgspec.Struct):
    """Plain numbers: counted for every frame and socket."""

    frames_sent: int = 0
    frame_bytes: int = 0


class GatewayMetrics(SocketMetrics):
    def __init__(self) -> None:
        super().__init__("gateway", "Players'")
        r = self.registry
        self._seats = Gauge("snatch_gateway_seats", "Sockets that are attached to a seat.", registry=r)
        self._received = Counter("snatch_gateway_received", "Messages from browsers.", ["kind"], registry=r)
        self._sent = SentCounts()
        r.register(_Counts({"": self._sent}))
        self._throttled = Counter("snatch_gateway_throttled", "Messages that had to wait for their turn.", registry=r)
        self._answered = Histogram(
            "snatch_gateway_move_seconds", "From a move's arrival to its answer.", buckets=BUCKETS, registry=r
        )
        self._attached = Histogram(
            "snatch_gateway_attach_seconds", "From wanting a seat to its snapshot.", buckets=BUCKETS, registry=r
        )
        self._http = Counter("snatch_gateway_http", "API calls.", ["call", "status"], registry=r)

    def seat_taken(self, seconds: float) -> None:
        self._seats.inc()
        self._attached.observe(seconds)

    def seat_given_up(self) -> None:
        self._seats.dec()

    def message_received(self, kind: str) -> None:
        self._received.labels(kind).inc()

    def frame_sent(self, size: int) -> None:
        self._sent.frames_sent += 1
        self._sent.frame_bytes += size

    def message_throttled(self) -> None:
        self._throttled.inc()

    def move_answered(self, seconds: float) -> None:
        self._answered.observe(seconds)

    def called(self, call: str, status: int) -> None:
        self._http.labels(call, str(status)).inc()

    def watch_counts(self, engines: Counts, feeds: FeedCounts) -> None:
        """Export what the engines' and feeds' clients count."""
        self.registry.register(_Counts({"commands": engines, "feed": feeds}))


class _Counts(Collector):
    def __init__(self, parts: dict[str, Counts | FeedCounts | SentCounts]) -> None:
        self._parts = parts

    def collect(self) -> list[Metric]:
        found: list[Metric] = []
        for part, counts in self._parts.items():
            for field in counts.__struct_fields__:
                name = f"snatch_gateway_{part}_{field}" if part else f"snatch_gateway_{field}"
                help_text = f"Counted by the {part} client." if part else "Written to sockets."
                found.append(CounterMetricFamily(name, help_text, value=getattr(counts, field)))
        return found
