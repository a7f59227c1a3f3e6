"""All that an engine counts, by what happened.  No room and no player in a label."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

_FAST = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_CODES = frozenset(
    [
        "snatched",
        "no_pile",
        "no_fit",
        "stale",
        "not_allowed",
        "nothing_to_undo",
        "nothing_to_turn",
        "bad_move",
        "not_host",
        "watching",
        "not_live",
        "paused",
        "too_few",
        "bad_options",
    ]
)


class Spread:
    """Observations in seconds, counted by bucket."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(_FAST) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(_FAST, seconds)] += 1
        self.sum += seconds

    def family(self, name: str, text: str) -> HistogramMetricFamily:
        total, buckets = 0, list[tuple[str, float]]()
        for bound, count in zip((*map(str, _FAST), "+Inf"), self.counts, strict=True):
            total += count
            buckets.append((bound, total))
        return HistogramMetricFamily(f"snatch_engine_{name}_seconds", text, buckets, self.sum)


class Hot(Collector):
    """What is counted at every record: plain numbers, made into metrics when they are scraped."""

    def __init__(self) -> None:
        self.items = self.moves = self.frames = self.records = self.bytes = 0
        self.refused: dict[str, int] = {}
        self.turn, self.append = Spread(), Spread()

    def collect(self) -> Iterator[Metric]:
        for name, text, value in (
            ("items", "Commands, calls and deals taken from partitions' queues.", self.items),
            ("moves", "Moves decided, refused ones too.", self.moves),
            ("frames", "Frames sent.", self.frames),
            ("records", "Records appended.", self.records),
            ("record_bytes", "Bytes of records appended.", self.bytes),
        ):
            yield CounterMetricFamily(f"snatch_engine_{name}", text, value)
        refusals = CounterMetricFamily("snatch_engine_refusals", "Moves refused, by reason.", labels=["code"])
        for code, count in self.refused.items():
            refusals.add_metric([code], count)
        yield refusals
        yield self.turn.family("turn", "From taking a batch to its frames sent.")
        yield self.append.family("append", "From taking a batch to its record's acknowledgement.")


class EngineMetrics:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"snatch_engine_{name}", text, labels, registry=registry)

        def seconds(name: str, text: str) -> Histogram:
            return Histogram(f"snatch_engine_{name}_seconds", text, buckets=_FAST, registry=registry)

        self._hot = Hot()
        registry.register(self._hot)
        self._beacons = counter("beacons", "Beacons sent.")
        self._doubts = counter("append_doubts", "Appends not plainly acknowledged, by what it came to.", ("verdict",))
        self._claims = counter("claims", "Partitions claimed and opened.")
        self._halts = counter("halted", "Partitions halted: an operator must look.")
        self._faults = counter("faults", "Faults in rooms, caught.")
        self._calls = counter("calls", "Unary calls, by method and status.", ("method", "status"))
        self._lease = counter("lease_renewals", "Renewals of the own lease, by result.", ("result",))
        self._wanted = counter("bots_wanted", "Times a bot's seat was offered to workers.")
        self._claim_s = seconds("claim", "From a claim to an open partition.")
        self._deals = counter("deals", "Deals that tables asked for; `ready` yes: it was there already.", ("ready",))
        self._deal_wait_s = seconds("deal_wait", "How long a table waited whose deal was not there yet.")

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """A gauge that is read when it is scraped."""
        Gauge(f"snatch_engine_{name}", text, registry=self.registry).set_function(value)

    def turn(self, items: int, moves: int, refused: list[str], frames: int, seconds: float) -> None:
        hot = self._hot
        hot.items += items
        hot.moves += moves
        hot.frames += frames
        for code in refused:
            code = code if code in _CODES else "other"
            hot.refused[code] = hot.refused.get(code, 0) + 1
        if items:
            hot.turn.observe(seconds)

    def appended(self, seconds: float, size: int) -> None:
        hot = self._hot
        hot.append.observe(seconds)
        hot.records += 1
        hot.bytes += size

    def append_doubted(self, verdict: str) -> None:
        self._doubts.labels(verdict).inc()

    def claimed(self, seconds: float) -> None:
        self._claims.inc()
        self._claim_s.observe(seconds)

    def halted(self) -> None:
        self._halts.inc()

    def faulted(self) -> None:
        self._faults.inc()

    def called(self, method: str, status: str) -> None:
        self._calls.labels(method, status).inc()

    def lease_renewed(self, done: bool) -> None:
        self._lease.labels("renewed" if done else "failed").inc()

    def beacon_sent(self) -> None:
        self._beacons.inc()

    def bot_wanted(self) -> None:
        self._wanted.inc()

    def dealt(self, seconds: float, ready: bool) -> None:
        self._deals.labels("yes" if ready else "no").inc()
        if not ready:
            self._deal_wait_s.observe(seconds)
