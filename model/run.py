"""Many seeds, in as many processes as wanted, and what came of them together.

Processes are spawned, never forked.  A world depends on nothing but its seed: not on the
process, nor on the worlds that were before it there.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from model.world import Result, run

CHUNK = 20
"""Seeds given to a process at once."""
COLLECT_EVERY = 50
"""Worlds between two collections of garbage: rings of coroutines and callbacks, some MB each time."""


@dataclass
class Totals:
    """What all seeds came to.  `cpu_s` is of all processes together."""

    seeds: int = 0
    broken: list[Result] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    virtual_s: float = 0.0
    steps: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0

    def add(self, results: list[Result], cpu_s: float) -> None:
        self.cpu_s += cpu_s
        for result in results:
            self.seeds += 1
            self.counts.update(result.counts)
            self.virtual_s += result.lasted
            self.steps += result.steps
            if result.broken is not None:
                self.broken.append(result)


Heard = Callable[[Totals], bool]
"""Told of each chunk that is done; True: enough."""


def chunk(task: tuple[int, int, str]) -> tuple[list[Result], float]:
    """Seeds from … to …, with a fault planted or none; and the seconds of CPU."""
    first, last, plant = task
    began = time.process_time()
    gc.disable()
    results = []
    for seed in range(first, last):
        result = run(seed, plant)
        results.append(result)
        if seed % COLLECT_EVERY == 0:
            gc.collect()
        if plant and result.broken is not None:
            break
    return results, time.process_time() - began


def many(first: int, seeds: int, jobs: int, plant: str = "", heard: Heard | None = None) -> Totals:
    """All of these seeds, or as many as are enough."""
    totals = Totals()
    began = time.monotonic()
    tasks = [(at, min(at + CHUNK, first + seeds), plant) for at in range(first, first + seeds, CHUNK)]
    for results, cpu_s in _done(tasks, jobs):
        totals.add(results, cpu_s)
        totals.wall_s = time.monotonic() - began
        if heard is not None and heard(totals):
            break
    return totals


def _done(tasks: list[tuple[int, int, str]], jobs: int) -> Iterator[tuple[list[Result], float]]:
    """In order of the seeds, so that what is found first is the same in every run."""
    if jobs <= 1:
        yield from map(chunk, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, _alone) as pool:
        yield from pool.imap(chunk, tasks)


def _alone() -> None:
    """A worker's first acts: make way for whoever uses the machine, and leave Ctrl-C to who started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(5)


def until_found(plant: str, most: int, jobs: int) -> Totals:
    """A planted fault: seeds until one shows it, or so many."""
    return many(0, most, jobs, plant, lambda totals: bool(totals.broken))
