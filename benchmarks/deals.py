"""Checked deals of Snatch Solitaire, made one after another: `python -m benchmarks.deals --json FILE`.

Each is what a worker makes for a table: shuffled, searched for a line that empties every
snatch pile, and that line held against the rules.  One process of plain Python; deal `n`
has seed `n`, so that two runs make the same deals.  Seat counts take turns, so that a busy
machine is busy for all of them.  Times are of the CPU, and beside them of the clock.

The file is `{"deals": …, "by_seats": [{…}, …]}`:

| key | holds |
| --- | --- |
| `deals` | deals made for each seat count |
| `by_seats[].seats` | seats dealt to, 1 to 8 |
| `by_seats[].deals_per_s` | deals per second of one core |
| `by_seats[].mean_ms`, `.median_ms` | ms of CPU for one deal |
| `by_seats[].p99_ms`, `.p999_ms`, `.max_ms` | … that 99 of 100, 999 of 1,000, all took at most |
| `by_seats[].clock_median_ms` | ms by the clock for one deal: what else the machine does is in it |
| `by_seats[].clock_p99_ms`, `.clock_p999_ms`, `.clock_max_ms` | … that 99 of 100, 999 of 1,000, all took at most |
| `by_seats[].shuffles` | random deals tried for one that went out, in the mean |
| `by_seats[].play_outs` | play-outs of them, in the mean |
| `by_seats[].from_pool` | deals for which luck was out, so that a stored one was taken |
| `by_seats[].event_bytes` | bytes of the deal with its proof as it is logged, in the mean |
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec

from games.snatch_solitaire import deal

SEATS = range(1, 9)
DEALS = 2000
ROUND = 50
"""Deals of one seat count before the next one's turn."""


class OfSeats(msgspec.Struct):
    """One seat count's figures; the keys are the module's."""

    seats: int
    deals_per_s: float
    mean_ms: float
    median_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float
    clock_median_ms: float
    clock_p99_ms: float
    clock_p999_ms: float
    clock_max_ms: float
    shuffles: float
    play_outs: float
    from_pool: int
    event_bytes: float


class Figures(msgspec.Struct):
    deals: int
    by_seats: list[OfSeats]


class Tally:
    """What the deals of one seat count took: ms of CPU, ms of the clock, and how often what."""

    def __init__(self, seats: int) -> None:
        self.seats = tuple(range(seats))
        self.cpu: list[float] = []
        self.clock: list[float] = []
        self.shuffles = self.play_outs = self.from_pool = self.bytes = 0

    def make(self, seed: int) -> None:
        """One deal, from its dice to the event."""
        dice = Random(seed)
        began, cpu_began = time.perf_counter_ns(), time.thread_time_ns()
        found = deal.search(len(self.seats), dice)
        dealt = deal.finished(self.seats, found, dice)
        self.cpu.append((time.thread_time_ns() - cpu_began) / 1e6)
        self.clock.append((time.perf_counter_ns() - began) / 1e6)
        if found is None:
            self.from_pool += 1
            self.shuffles += deal.SHUFFLES
            self.play_outs += deal.SHUFFLES * deal.PLAY_OUTS
        else:
            self.shuffles += found.shuffles
            self.play_outs += found.play_outs
        self.bytes += len(msgspec.msgpack.encode(dealt))

    def figures(self) -> OfSeats:
        cpu, clock, count = sorted(self.cpu), sorted(self.clock), len(self.cpu)
        return OfSeats(
            seats=len(self.seats),
            deals_per_s=round(1000 * count / sum(cpu), 1),
            mean_ms=round(sum(cpu) / count, 3),
            median_ms=_at(cpu, 500),
            p99_ms=_at(cpu, 990),
            p999_ms=_at(cpu, 999),
            max_ms=_at(cpu, 1000),
            clock_median_ms=_at(clock, 500),
            clock_p99_ms=_at(clock, 990),
            clock_p999_ms=_at(clock, 999),
            clock_max_ms=_at(clock, 1000),
            shuffles=round(self.shuffles / count, 3),
            play_outs=round(self.play_outs / count, 3),
            from_pool=self.from_pool,
            event_bytes=round(self.bytes / count, 1),
        )


def _at(ordered: Sequence[float], per_mille: int) -> float:
    """The value that so many of a thousand don't exceed."""
    return round(ordered[max(0, -(-len(ordered) * per_mille // 1000) - 1)], 3)


def measured(deals: int, seats: Sequence[int]) -> Figures:
    tallies = [Tally(count) for count in seats]
    for first in range(0, deals, ROUND):
        for tally in tallies:
            for seed in range(first, min(first + ROUND, deals)):
                tally.make(seed)
    return Figures(deals, [tally.figures() for tally in tallies])


def show(figures: Figures) -> None:
    print(f"{figures.deals} checked deals for each seat count; ms of CPU, in brackets by the clock")
    print("seats  deals/s    median         p99        p999         max   shuffles  play-outs  pool")
    for of in figures.by_seats:
        pairs = (
            (of.median_ms, of.clock_median_ms),
            (of.p99_ms, of.clock_p99_ms),
            (of.p999_ms, of.clock_p999_ms),
            (of.max_ms, of.clock_max_ms),
        )
        times = "  ".join(f"{cpu:5.1f}({clock:4.0f})" for cpu, clock in pairs)
        print(
            f"{of.seats:>5}  {of.deals_per_s:7.0f}  {times}  {of.shuffles:9.2f}  {of.play_outs:9.2f}  {of.from_pool:4}"
        )


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="python -m benchmarks.deals", description="How long checked deals take.")
    p.add_argument("--deals", type=int, default=DEALS, metavar="N", help=f"for each seat count ({DEALS})")
    p.add_argument("--seats", type=int, nargs="+", default=list(SEATS), choices=SEATS, metavar="N", help="(1 to 8)")
    p.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    told = p.parse_args(argv)
    if told.deals < 1:
        p.error("--deals: at least 1")
    return told


def main(argv: Sequence[str]) -> None:
    told = parsed(argv)
    figures = measured(told.deals, told.seats)
    show(figures)
    if told.json is not None:
        told.json.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=1) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
