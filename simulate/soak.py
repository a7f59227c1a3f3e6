"""`snatch soak`: an hour of people who come and go, compressed, and whether anything grows meanwhile.

Everything people do, and the patience of lobbies with them, goes so many times as fast
that an hour of it fits; the rest of the time is for all rooms to end, and then for
everything to be back where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random

import uvloop

from simulate.cli import count
from simulate.door import Door
from simulate.soak_ends import back, settled
from simulate.soak_report import IDLE, PATIENCE, Soaked, Wish, plot, report, text, write_csv
from simulate.soak_rooms import Crowd
from simulate.soak_samples import Sampler
from simulate.soak_verdict import judge, shown
from simulate.vigil import Running, Stack, until_gone

ENDED = "after the last room everything is back where it was"
NO_RESTARTS = "no process died"
BOUNDED = "the log is as long as its tables need"
A_TABLE, BESIDE = 128 * 1024, 1024 * 1024
"""Bytes of the log that a table may need (its snapshot and what came since), and all tables together."""
LATE = 120.0
"""Seconds more that the last rooms may take to end: a socket whose end nobody told of is believed for a minute."""


def parser() -> argparse.ArgumentParser:
    """Its options."""
    wish = Wish()
    p = argparse.ArgumentParser(prog="snatch soak", description=__doc__)
    p.add_argument("--minutes", type=_minutes, default=wish.minutes, metavar="M", help="what an hour is fitted into")
    p.add_argument("--rooms", type=count, default=wish.rooms, metavar="N", help=f"rooms at once ({wish.rooms})")
    p.add_argument("--seed", type=int, default=wish.seed, metavar="N", help="the same one begins alike")
    p.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="soak the idle stack that runs there, not one of our own; its SNATCH_ROOM_IDLE is read from here too",
    )
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
    """0 when nothing grew and nothing was left behind, 1 when something did, 2 when no stack runs where one was named.

    On a stack of its own lobbies' patience is compressed too; another one has its own.
    """
    arguments = parser().parse_args(argv)
    wish = Wish(arguments.minutes, arguments.rooms, arguments.seed)
    settings = wish.settings()
    idle = float(os.environ.get(IDLE, PATIENCE[IDLE]) if arguments.data else settings[IDLE])
    if arguments.data and running(arguments.data) is None:
        print(f"✗ no stack runs on {arguments.data}", file=sys.stderr)
        return 2
    with _there(arguments.data, running) or started(settings=settings) as stack:
        print(
            f"an hour in {wish.played / 60:.1f} min ({wish.pace.faster:.0f} times as fast as people), "
            f"{wish.rooms} rooms at once, on {stack['url']}",
            flush=True,
        )
        soaked = uvloop.run(soak(wish, stack, running, idle, show=sys.stdout.isatty()))
    if arguments.counts_only:
        soaked.verdicts = []
    print(text(soaked, wish))
    if arguments.svg:
        arguments.svg.write_text(plot(soaked, wish))
    if arguments.csv:
        write_csv(arguments.csv, soaked)
    if arguments.json:
        arguments.json.write_text(json.dumps(report(soaked, wish), indent=1) + "\n")
    return 0 if soaked.ok() else 1


def _there(data: Path | None, running: Running) -> AbstractContextManager[Stack] | None:
    stack = running(data) if data is not None else None
    return contextlib.nullcontext(stack) if stack is not None else None


# ---- the run -------------------------------------------------------------------


async def soak(wish: Wish, stack: Stack, running: Running, idle: float, *, show: bool = False) -> Soaked:
    """Rooms come for `wish.played` seconds, then the last ones end, and everything must be as before.

    `idle`: seconds that the stack's rooms outlive their last human.
    """
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
            left = await back(sampler, before, idle + LATE)
            soaked.ended_at = 0.0 if left else time.monotonic() - over
            found.check(ENDED, not left, "; ".join(left))
            restarts = sampler.restarts()
            found.check(NO_RESTARTS, not restarts, str(restarts))
            await asyncio.sleep(wish.every)
        sampling.cancel()
        await asyncio.wait({sampling})
        if not sampling.cancelled():
            sampling.result()  # It failed: what was not looked at can't be said to be flat.
    for sample in soaked.samples:
        if (bounded := log_is_bounded(sample)) is not None:
            found.check(
                BOUNDED, bounded, f"{shown('log/bytes', sample['log/bytes'])} for {sample['tables/engines']:.0f} tables"
            )
    judged = range(sum(t <= wish.played for t in soaked.times))
    soaked.load = load(soaked, wish)
    verdicts = (
        judge(name, [soaked.times[i] for i in judged], [values[i] for i in judged], wish.warm_up, soaked.load)
        for name, values in soaked.series.items()
    )
    soaked.verdicts = [v for v in verdicts if v is not None]
    return soaked


def log_is_bounded(sample: Mapping[str, float]) -> bool | None:
    """Whether the log holds no more than its tables need; None where either didn't answer in time.

    >>> log_is_bounded({"log/bytes": 2e6, "tables/engines": 200}), log_is_bounded({"log/bytes": 2e6})
    (True, None)
    >>> log_is_bounded({"log/bytes": 2e6, "tables/engines": 0})
    False
    """
    bytes, tables = sample.get("log/bytes"), sample.get("tables/engines")
    return None if bytes is None or tables is None else bytes <= BESIDE + A_TABLE * tables


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
