"""All metrics of bots.  No room and no seat is ever a label."""

from __future__ import annotations

from servicekit.meters import Meters
from servicekit.ties import Ties
from wire.codes import REFUSALS

LATE_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
LOOK_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025)


class BotsMetrics:
    def __init__(self) -> None:
        self.meters = meters = Meters("snatch_bots")
        self.registry = meters.registry
        self.ties = Ties(self.registry, calls=("engine",))
        self._driven = meters.level("seats", "Seats driven now.")
        self._room = meters.level("capacity", "Seats that this worker takes.")
        self._late = meters.spread("look_late_seconds", "How late bots look.", LATE_SECONDS)
        self._thought = meters.spread("look_seconds", "CPU time of a look.", LOOK_SECONDS)
        self._moves = meters.counts(
            "moves", "Moves, by their answer; `again`: they were sent twice.", answer=("ok", *REFUSALS, "again")
        )
        self._wanted = meters.counts(
            "wanted",
            "Seats that wanted a driver, by what came of it; `passed`: it was left to other workers.",
            outcome=("taken", "passed", "not_taken", "unknown"),
        )
        self._let_go = meters.counts(
            "let_go",
            "Seats let go, by why.",
            why=(
                "closed",
                "no_table",
                "taken_over",
                "wanted_again",
                "not_taken",
                "unreadable",
                "failed",
                "stumbled",
                "stopping",
            ),
        )
        self._snapshots = meters.count("snapshots", "Snapshots read.")

    def seats_are(self, driven: int, capacity: int) -> None:
        self._driven.value, self._room.value = driven, capacity

    def looked(self, late: float, thought: float) -> None:
        self._late.observe(late)
        self._thought.observe(thought)

    def move_answered(self, answer: str) -> None:
        self._moves.add(answer)

    def seat_wanted(self, outcome: str) -> None:
        self._wanted.add(outcome)

    def seat_let_go(self, why: str) -> None:
        self._let_go.add(why)

    def snapshot_read(self) -> None:
        self._snapshots.value += 1
