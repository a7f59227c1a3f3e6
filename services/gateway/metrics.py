"""The gateway's metrics, by what happened."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

import msgspec
from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from servicekit.engines import Counts
from servicekit.feed import FeedCounts
from servicekit.socket_metrics import SocketMetrics

BUCKETS = (0.001, 0.002, 0.004, 0.006, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10)


class SentCounts(msgspec.Struct):
    """Plain numbers: counted for every frame and socket."""

    frames_sent: int = 0
    frame_bytes: int = 0


class ReceivedCounts(msgspec.Struct):
    """Messages from browsers by what they are."""

    move: int = 0
    ping: int = 0
    lobby: int = 0
    bad: int = 0


class GatewayMetrics(SocketMetrics):
    def __init__(self) -> None:
        super().__init__("gateway", "Players'")
        r = self.registry
        self._seats = Gauge("snatch_gateway_seats", "Sockets that are attached to a seat.", registry=r)
        self.received = ReceivedCounts()
        r.register(_Received(self.received))
        self.sent = SentCounts()
        r.register(_Counts({"": self.sent}))
        self._throttled = Counter("snatch_gateway_throttled", "Messages that had to wait for their turn.", registry=r)
        self._answered = _Seconds("snatch_gateway_move_seconds", "From a move's arrival to its answer.")
        self.move_answered = self._answered.observe
        """Told the seconds of each."""
        r.register(self._answered)
        self._attached = Histogram(
            "snatch_gateway_attach_seconds", "From wanting a seat to its snapshot.", buckets=BUCKETS, registry=r
        )
        self._http = Counter("snatch_gateway_http", "API calls.", ["call", "status"], registry=r)

    def seat_taken(self, seconds: float) -> None:
        self._seats.inc()
        self._attached.observe(seconds)

    def seat_given_up(self) -> None:
        self._seats.dec()

    def message_throttled(self) -> None:
        self._throttled.inc()

    def called(self, call: str, status: int) -> None:
        self._http.labels(call, str(status)).inc()

    def watch_counts(self, engines: Counts, feeds: FeedCounts) -> None:
        """Export what the engines' and feeds' clients count."""
        self.registry.register(_Counts({"commands": engines, "feed": feeds}))


class _Seconds(Collector):
    """A histogram for what happens thousands of times a second: prometheus_client's own takes a lock each time."""

    def __init__(self, name: str, help_text: str) -> None:
        self._name, self._help = name, help_text
        self._counts = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(BUCKETS, seconds)] += 1
        self._sum += seconds

    def collect(self) -> list[Metric]:
        bounds = [*map(str, map(float, BUCKETS)), "+Inf"]
        buckets = list(zip(bounds, accumulate(self._counts), strict=True))
        return [HistogramMetricFamily(self._name, self._help, buckets=buckets, sum_value=self._sum)]


class _Received(Collector):
    def __init__(self, counts: ReceivedCounts) -> None:
        self._counts = counts

    def collect(self) -> list[Metric]:
        family = CounterMetricFamily("snatch_gateway_received", "Messages from browsers.", labels=["kind"])
        for kind in self._counts.__struct_fields__:
            family.add_metric([kind], getattr(self._counts, kind))
        return [family]


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
