"""Python's garbage collection, where a pause would be a pause of everybody's game: kept small, and measured."""

from __future__ import annotations

import gc
import time
from typing import Any

from servicekit.meters import Meters

THRESHOLDS = 20_000, 10, 5
"""Objects made beyond those freed until the youngest are looked through; how many times until the older ones are.

What a message makes is freed with it, without a collection: only what stays, or goes in
rings, counts up here.  With a tenth of the first an engine of 1,000 rooms spent a fifth
of its samples in collections; with these, none at all costs no measurable less.
"""


GENERATIONS = ("0", "1", "2")


def settle() -> None:
    """Once started: leave what was made to start with out of collection from now on.

    Python collects its oldest generation only when that has grown by a quarter: beside all
    modules, what sockets and rooms leave behind would lie there for minutes.
    """
    gc.collect()
    gc.freeze()
    gc.collect()
    gc.set_threshold(*THRESHOLDS)


class Pauses:
    """How long collections stopped everything, by generation."""

    def __init__(self, meters: Meters) -> None:
        self._seconds = meters.counts("gc_seconds", "Time in garbage collection.", generation=GENERATIONS)
        longest = meters.levels("gc_longest_seconds", "The longest collection since the start.", generation=GENERATIONS)
        self._most = [0.0, 0.0, 0.0]
        longest.read = lambda: {(g,): most for g, most in zip(GENERATIONS, self._most, strict=True)}
        self._began = 0.0

    def start(self) -> None:
        gc.callbacks.append(self._on)

    def stop(self) -> None:
        if self._on in gc.callbacks:
            gc.callbacks.remove(self._on)

    def _on(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
            return
        took, generation = time.perf_counter() - self._began, int(info["generation"])
        self._seconds.add(GENERATIONS[generation], by=took)
        self._most[generation] = max(self._most[generation], took)
