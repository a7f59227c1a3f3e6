"""`snatch soak`: an hour of people who come and go, compressed, and whether anything grows meanwhile.

Everything people do, and the patience of lobbies with them, goes so many times as fast
that an hour of it fits; the rest of the time is for all rooms to end, and then for
everything to be back where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import uvloop

from simulate.door import Door
from simulate.findings import Findings, as_json, as_text
from simulate.soak_plot import svg
from simulate.soak_rooms import Crowd, Pace, Tally
from simulate.soak_samples import Sample, Sampler
from simulate.soak_verdict import Verdict, judge, shown
from simulate.vigil import Running, Stack, until_gone
from wire.places import PARTITIONS

PLAYED = 0.75
"""The share of the time in which rooms come; the rest is for the last ones to end."""
WARM_UP = 1 / 3
"""The share of the played time that isn't judged: longer than a room that was left lives on."""
HOUR = 60.0
PATIENCE = {
    "SNATCH_ROOM_IDLE": 600.0,
    "SNATCH_REQUEST_MEMORY": 600.0,
    "SNATCH_JOIN_PATIENCE": 60.0,
    "SNATCH_TABLE_CHECK": 30.0,
}
"""Settings of lobbies that are compressed, with their usual seconds.  The rates of the doors are lifted beside."""
LIFTED = {"SNATCH_CREATE_PER_MINUTE": "0", "SNATCH_JOIN_PER_MINUTE": "0", "SNATCH_LOOK_PER_MINUTE": "0"}
SAMPLES = 300
ENDED = "after the last room everything is back where it was"
NO_RESTARTS = "no process died"
BOUNDED = "the log is as long as its tables need"
A_TABLE, BESIDE = 128 * 1024, 1024 * 1024
"""Bytes of the log that a table may need (its snapshot and what came since), and all tables together."""
LATE = 60.0
"""Seconds more that the last rooms may take to end: a busy machine's, not the rooms'."""


@dataclass(frozen=True)
class Wish:
    """What a soak was asked for."""

    minutes: float = 10.0
    rooms: int = 48
    seed: int = 1

    @property
    def played(self) -> float:
        """Seconds in which rooms come."""
        return self.minutes * 60 * PLAYED

    @property
    def pace(self) -> Pace:
        return Pace(HOUR * 60 / self.played)

    @property
    def warm_up(self) -> float:
        return self.played * WARM_UP

    @property
    def every(self) -> float:
        """Seconds between samples."""
        return max(0.5, self.minutes * 60 / SAMPLES)

    def settings(self) -> dict[str, str]:
        """Of a stack for this soak."""
        return LIFTED | {name: f"{seconds / self.pace.faster:.2f}" for name, seconds in PATIENCE.items()}


@dataclass
class Soaked:
    """What came of it."""

    found: Findings = field(default_factory=Findings)
    tally: Tally = field(default_factory=Tally)
    times: list[float] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    came: list[int] = field(default_factory=list)
    """Rooms so far, at each sample."""
    verdicts: list[Verdict] = field(default_factory=list)
    load: float = 1.0
    """How many times as many rooms came in the second half of the judged time as in the first."""
    ended_at: float = 0.0
    """Seconds until everything was back, from the last room's end; 0 when it never was."""

    @property
    def series(self) -> dict[str, list[float]]:
        """By name; what wasn't there at a moment is 0."""
        names = dict.fromkeys(name for sample in self.samples for name in sample)
        return {name: [sample.get(name, 0.0) for sample in self.samples] for name in names}

    def ok(self) -> bool:
        return self.found.ok() and all(v.flat for v in self.verdicts)


def parser() -> argparse.ArgumentParser:
    """Its options."""
    wish = Wish()
    p = argparse.ArgumentParser(prog="snatch soak", description=__doc__)
    p.add_argument("--minutes", type=_minutes, default=wish.minutes, metavar="M", help="what an hour is fitted into")
    p.add_argument("--rooms", type=int, default=wish.rooms, metavar="N", help=f"rooms at once ({wish.rooms})")
    p.add_argument("--seed", type=int, default=wish.seed, metavar="N", help="the same one begins alike")
    p.add_argument("--svg", type=Path, metavar="FILE", help="plot the series there")
    p.add_argument("--json", type=Path, metavar="FILE", help="write verdicts and findings there")
    p.add_argument("--csv", type=Path, metavar="FILE", help="write the series there")
    p.add_argument("--counts-only", action="store_true", help="only counts may fail it: for a short run")
    return p


def _minutes(text: str) -> float:
    minutes = float(text)
    if not 0.3 <= minutes <= 600:
        raise argparse.ArgumentTypeError("0.3 to 600")
    return minutes


def main(argv: Sequence[str], running: Running, started: Callable[..., AbstractContextManager[Stack]]) -> int:
    """0 when nothing grew and nothing was left behind, else 1.  It has a stack of its own: time is compressed in it."""
    arguments = parser().parse_args(argv)
    wish = Wish(arguments.minutes, max(1, arguments.rooms), arguments.seed)
    with _environment(wish.settings()), started() as stack:
        print(
            f"an hour in {wish.played / 60:.1f} min ({wish.pace.faster:.0f} times as fast as people), "
            f"{wish.rooms} rooms at once, on {stack['url']}",
            flush=True,
        )
        soaked = uvloop.run(soak(wish, stack, running, show=sys.stdout.isatty()))
    if arguments.counts_only:
        soaked.verdicts = []
    print(text(soaked, wish))
    if arguments.svg:
        arguments.svg.write_text(plot(soaked, wish))
    if arguments.csv:
        _write_csv(arguments.csv, soaked)
    if arguments.json:
        arguments.json.write_text(json.dumps(report(soaked, wish), indent=1) + "\n")
    return 0 if soaked.ok() else 1


@contextlib.contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """What a stack that is started in here inherits."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# ---- the run -------------------------------------------------------------------


async def soak(wish: Wish, stack: Stack, running: Running, *, show: bool = False) -> Soaked:
    """Rooms come for `wish.played` seconds, then the last ones end, and everything must be as before."""
    soaked = Soaked()
    found = soaked.found
    async with Sampler(stack, running) as sampler, Door(stack["url"]) as door:
        before = await settled(sampler)
        began = time.monotonic()
        sampling = asyncio.create_task(_keep_sampling(sampler, soaked, wish.every, began, show))
        crowd = Crowd(wish.rooms, door, stack.get("watch_url"), wish.pace, Random(wish.seed), found)
        soaked.tally = crowd.tally
        coming = asyncio.create_task(crowd.run())
        vigil = asyncio.create_task(until_gone(stack, running))
        await asyncio.wait({coming, vigil, sampling}, timeout=wish.played, return_when=asyncio.FIRST_COMPLETED)
        for task in (coming, vigil):
            if not task.done():
                task.cancel()
        await asyncio.wait({coming, vigil})
        if vigil.done() and not vigil.cancelled():
            found.gone = f"the stack at {stack['url']} was ended while it was soaked"
        else:
            over = time.monotonic()
            if not coming.cancelled() and (error := coming.exception()) is not None:
                raise error
            left = await back(sampler, before, wish.minutes * 60 * (1 - PLAYED) + LATE)
            soaked.ended_at = 0.0 if left else time.monotonic() - over
            found.check(ENDED, not left, "; ".join(left))
            restarts = sampler.restarts()
            found.check(NO_RESTARTS, not restarts, str(restarts))
            await asyncio.sleep(wish.every)
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
    for sample in soaked.samples:
        bytes, tables = sample.get("log/bytes", 0.0), sample.get("tables/engines", 0.0)
        needed = bytes <= BESIDE + A_TABLE * tables
        found.check(BOUNDED, needed, f"{shown('log/bytes', bytes)} for {tables:.0f} tables")
    judged = range(sum(t <= wish.played for t in soaked.times))
    soaked.load = load(soaked, wish)
    verdicts = (
        judge(name, [soaked.times[i] for i in judged], [values[i] for i in judged], wish.warm_up, soaked.load)
        for name, values in soaked.series.items()
    )
    soaked.verdicts = [v for v in verdicts if v is not None]
    return soaked


def load(soaked: Soaked, wish: Wish) -> float:
    """How many times as many rooms came in the judged time's second half: a machine that others use is not steady."""

    def came(by: float) -> int:
        return next((n for t, n in zip(soaked.times, soaked.came, strict=True) if t >= by), soaked.tally.rooms)

    middle = (wish.warm_up + wish.played) / 2
    first, second = came(middle) - came(wish.warm_up), came(wish.played) - came(middle)
    return second / first if first else 1.0


async def _keep_sampling(sampler: Sampler, soaked: Soaked, every: float, began: float, show: bool) -> None:
    while True:
        at = time.monotonic()
        soaked.samples.append(await sampler.sample())
        soaked.came.append(soaked.tally.rooms)
        soaked.times.append(round(at - began, 2))
        if show:
            newest = soaked.samples[-1]
            said = f"{at - began:5.0f} s  {soaked.tally.rooms:,} rooms  {newest.get('tables/engines', 0):.0f} tables"
            print(f"\r{said}  {soaked.found.moves:,} moves ", end="", flush=True)
        await asyncio.sleep(max(0.0, at + every - time.monotonic()))


async def settled(sampler: Sampler, within: float = 20.0) -> Sample:
    """What an empty stack holds, once NATS' subscriptions are the same twice in a row."""
    last = await sampler.sample()
    end = time.monotonic() + within
    while time.monotonic() < end:
        await asyncio.sleep(1.0)
        now = await sampler.sample()
        if now.get("nats/subscriptions") == last.get("nats/subscriptions"):
            return now
        last = now
    return last


async def back(sampler: Sampler, before: Sample, within: float) -> list[str]:
    """What is not as it was, in words, when the time is up; empty as soon as all is."""
    end = time.monotonic() + within
    while True:
        now = await sampler.sample()
        left = left_behind(before, now)
        if not left and (keys := await sampler.keys()):
            left = [f"Redis still has {', '.join(sorted(keys)[:5])}"]
        if not left or time.monotonic() > end:
            return left
        await asyncio.sleep(0.5)


RECORDS_LEFT = 2 * PARTITIONS
"""A partition's last record is never trimmed; one before it may wait for the next record to come."""
BYTES_LEFT = 512 * 1024
FILES_MORE = 48
"""A process may keep more open than before its first room: rooms has up to 32 connections to Redis."""


def left_behind(before: Sample, now: Sample) -> list[str]:
    """Everything of the rooms that is still there.

    >>> left_behind({"nats/subscriptions": 80}, {"nats/subscriptions": 81, "tables/engines": 0})
    ['nats/subscriptions: 81, and 80 before']
    """
    left = []
    for name, value in now.items():
        kind = name.partition("/")[0]
        if kind in ("tables", "sockets", "seats", "heard", "queue"):
            allowed = 0.0
        elif name == "nats/subscriptions":  # who asked NATS something has an inbox from then on
            allowed = before.get(name, 0.0) + before.get("nats/connections", 0.0)
        elif name in ("nats/connections", "nats/consumers"):
            allowed = before.get(name, 0.0)
        elif name == "log/messages":
            allowed = RECORDS_LEFT
        elif name == "log/bytes":
            allowed = BYTES_LEFT
        elif kind == "files":
            allowed = before.get(name, value) + FILES_MORE
        else:
            continue
        if value > allowed:
            left.append(f"{name}: {shown(name, value)}, and {shown(name, before.get(name, 0.0))} before")
    return left


# ---- what is said ----------------------------------------------------------------


def text(soaked: Soaked, wish: Wish) -> str:
    """For people."""
    tally = soaked.tally
    lines = [
        "",
        f"rooms      {tally.rooms:,}: " + " · ".join(f"{name} {count}" for name, count in tally.stories.most_common()),
        f"beside     {tally.drops:,} sockets dropped and back · {tally.takeovers} taken over · {tally.tvs} TVs",
        as_text(soaked.found, soaked.times[-1] if soaked.times else 0.0),
        f"ended      {soaked.ended_at:.0f} s after the last room" if soaked.ended_at else "ended      never",
        "",
        f"{'':2}{'series':<28}{'early':>12}{'late':>12}{'highest':>12}{'rise':>12}{'allowed':>12}",
    ]
    for v in sorted(soaked.verdicts, key=lambda v: (v.flat, v.series)):
        cells = (v.early, v.late, v.highest, v.rise, v.allowed)
        lines.append(
            f"{'✓' if v.flat else '✗'} {v.series:<28}" + "".join(f"{shown(v.series, cell):>12}" for cell in cells)
        )
    judged = wish.played - wish.warm_up
    lines.append(f"rooms came {soaked.load:.2f} times as often in the second half as in the first")
    lines.append(f"medians of the halves of {judged:.0f} s after {wish.warm_up:.0f} s of warm-up; rise by Theil–Sen")
    return "\n".join(lines)


def report(soaked: Soaked, wish: Wish) -> dict[str, Any]:
    """For machines."""
    return {
        **as_json(soaked.found, soaked.times[-1] if soaked.times else 0.0, asdict(wish)),
        "rooms": soaked.tally.rooms,
        "stories": dict(soaked.tally.stories),
        "drops": soaked.tally.drops,
        "takeovers": soaked.tally.takeovers,
        "tvs": soaked.tally.tvs,
        "load": round(soaked.load, 3),
        "ended_after": round(soaked.ended_at, 1),
        "series": {
            v.series: {k: round(x, 1) for k, x in asdict(v).items() if k != "series"} | {"flat": v.flat}
            for v in soaked.verdicts
        },
        "last": soaked.samples[-1] if soaked.samples else {},
    }


def plot(soaked: Soaked, wish: Wish) -> str:
    """An SVG."""
    title = f"An hour of rooms that come and go, in {wish.played / 60:.1f} min: {soaked.tally.rooms:,} rooms"
    return svg(title, soaked.times, soaked.series, [wish.warm_up, wish.played])


def _write_csv(path: Path, soaked: Soaked) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["seconds", *soaked.series])
        writer.writerows(zip(soaked.times, *soaked.series.values(), strict=True))
