"""All that an engine counts, by what happened.  No room and no player in a label."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

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


class EngineMetrics:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"snatch_engine_{name}", text, labels, registry=registry)

        def seconds(name: str, text: str) -> Histogram:
            return Histogram(f"snatch_engine_{name}_seconds", text, buckets=_FAST, registry=registry)

        self._items = counter("items", "Commands, calls and deals taken from partitions' queues.")
        self._moves = counter("moves", "Moves decided, refused ones too.")
        self._refused = counter("refusals", "Moves refused, by reason.", ("code",))
        self._frames = counter("frames", "Frames sent.")
        self._beacons = counter("beacons", "Beacons sent.")
        self._records = counter("records", "Records appended.")
        self._bytes = counter("record_bytes", "Bytes of records appended.")
        self._doubts = counter("append_doubts", "Appends not plainly acknowledged, by what it came to.", ("verdict",))
        self._claims = counter("claims", "Partitions claimed and opened.")
        self._halts = counter("halted", "Partitions halted: an operator must look.")
        self._faults = counter("faults", "Faults in rooms, caught.")
        self._calls = counter("calls", "Unary calls, by method and status.", ("method", "status"))
        self._lease = counter("lease_renewals", "Renewals of the own lease, by result.", ("result",))
        self._wanted = counter("bots_wanted", "Times a bot's seat was offered to workers.")
        self._turn_s = seconds("turn", "From taking a batch to its frames sent.")
        self._append_s = seconds("append", "From taking a batch to its record's acknowledgement.")
        self._claim_s = seconds("claim", "From a claim to an open partition.")
        self._deals = counter("deals", "Deals that tables asked for; `ready` yes: it was there already.", ("ready",))
        self._deal_wait_s = seconds("deal_wait", "How long a table waited whose deal was not there yet.")

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """A gauge that is read when it is scraped."""
        Gauge(f"snatch_engine_{name}", text, registry=self.registry).set_function(value)

    def turn(self, items: int, moves: int, refused: list[str], frames: int, seconds: float) -> None:
        self._items.inc(items)
        self._moves.inc(moves)
        self._frames.inc(frames)
        for code in refused:
            self._refused.labels(code if code in _CODES else "other").inc()
        if items:
            self._turn_s.observe(seconds)

    def appended(self, seconds: float, size: int) -> None:
        self._append_s.observe(seconds)
        self._records.inc()
        self._bytes.inc(size)

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
