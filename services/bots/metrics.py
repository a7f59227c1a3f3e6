"""All metrics of bots.  No room and no seat is ever a label."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_LATE = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_THOUGHT = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025)


class BotsMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._driven = Gauge("snatch_bots_seats", "Seats driven now.", registry=self.registry)
        self._room = Gauge("snatch_bots_capacity", "Seats that this worker takes.", registry=self.registry)
        self._late = Histogram(
            "snatch_bots_look_late_seconds", "How late bots look.", buckets=_LATE, registry=self.registry
        )
        self._thought = Histogram(
            "snatch_bots_look_seconds", "CPU time of a look.", buckets=_THOUGHT, registry=self.registry
        )
        self._moves = Counter("snatch_bots_moves", "Moves, by their answer.", ["answer"], registry=self.registry)
        self._wanted = Counter(
            "snatch_bots_wanted", "Seats that wanted a driver, by what came of it.", ["outcome"], registry=self.registry
        )
        self._let_go = Counter("snatch_bots_let_go", "Seats let go, by why.", ["why"], registry=self.registry)
        self._snapshots = Counter("snatch_bots_snapshots", "Snapshots read.", registry=self.registry)

    def seats_are(self, driven: int, capacity: int) -> None:
        self._driven.set(driven)
        self._room.set(capacity)

    def looked(self, late: float, thought: float) -> None:
        self._late.observe(late)
        self._thought.observe(thought)

    def move_answered(self, answer: str) -> None:
        self._moves.labels(answer).inc()

    def seat_wanted(self, outcome: str) -> None:
        self._wanted.labels(outcome).inc()

    def seat_let_go(self, why: str) -> None:
        self._let_go.labels(why).inc()

    def snapshot_read(self) -> None:
        self._snapshots.inc()
