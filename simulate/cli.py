"""`snatch simulate`: bots' minds through the public WebSocket, and what must hold meanwhile."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

from simulate.door import Door, NotLoopback, check_loopback, silence
from simulate.findings import Findings, as_json, as_text
from simulate.log_witness import LOGGED, REPLAYED, LogWitness, NatsError, Unread
from simulate.table_run import TableRun, Wish
from simulate.vigil import Running, Stack, ended, until_gone

FINISHED = "every room was played to its end"

GOODBYE = 2.0
"""Seconds for leaving a stack that is gone."""


def parser() -> argparse.ArgumentParser:
    """Its options."""
    wish = Wish()
    p = argparse.ArgumentParser(prog="snatch simulate", description=__doc__)
    p.add_argument("--rooms", type=count, default=wish.rooms, metavar="N", help=f"rooms at once ({wish.rooms})")
    p.add_argument(
        "--seats",
        type=int,
        default=wish.seats,
        choices=range(1, 9),
        metavar="N",
        help=f"players a room, 1 to 8 ({wish.seats})",
    )
    p.add_argument("--hands", type=count, default=wish.hands, metavar="N", help=f"hands a room plays ({wish.hands})")
    p.add_argument(
        "--level", default=wish.level, choices=("easy", "medium", "hard"), help=f"how well they play ({wish.level})"
    )
    p.add_argument(
        "--speed", type=float, default=wish.speed, metavar="X", help=f"how many times as fast as a bot ({wish.speed:g})"
    )
    p.add_argument("--seed", type=int, default=wish.seed, metavar="N", help=f"the same one plays alike ({wish.seed})")
    p.add_argument("--limit", type=float, default=wish.limit, metavar="S", help=f"seconds at most ({wish.limit:.0f})")
    p.add_argument("--url", default="", help="the players' address; else SNATCH_PORT, the running stack, or a new one")
    p.add_argument(
        "--data", type=Path, metavar="DIR", help="the stack's data (.snatch, or SNATCH_DATA), for its address and log"
    )
    p.add_argument("--no-tv", action="store_true", help="no TV in each room")
    p.add_argument("--json", type=Path, metavar="FILE", help="write what was found there too")
    return p


def count(text: str) -> int:
    """For argparse: 1 or more."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def main(
    argv: Sequence[str],
    running: Running = lambda _: None,
    started: Callable[[], AbstractContextManager[Stack]] | None = None,
) -> int:
    """0 when all held; 2 when asked wrongly.

    1 when an invariant broke, a room was not played to its end, or the stack was ended meanwhile.
    """
    arguments = parser().parse_args(argv)
    wish = Wish(
        rooms=arguments.rooms,
        seats=arguments.seats,
        hands=arguments.hands,
        level=arguments.level,
        speed=max(0.1, arguments.speed),
        seed=arguments.seed,
        limit=arguments.limit,
    )
    try:
        with target(arguments.url, running, started, arguments.data) as stack:
            if (why := silence(stack["url"])) is not None:
                print(f"✗ nobody answers at {stack['url']}: {why}\n→ start a stack: snatch play", file=sys.stderr)
                return 2
            print(f"{wish.rooms} rooms, {wish.seats} seats, {wish.hands} hand(s) each, on {stack['url']}", flush=True)
            began = time.monotonic()
            found = uvloop.run(simulate(wish, stack, running, tv=not arguments.no_tv))
            seconds = time.monotonic() - began
    except (NotLoopback, NoStack) as error:
        print(f"✗ {error}", file=sys.stderr)
        return 2
    print(as_text(found, seconds))
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(found, seconds, asdict(wish)), indent=1) + "\n")
    if found.gone:
        print(f"✗ {found.gone}", file=sys.stderr)
    return 0 if found.ok() else 1


class NoStack(Exception):
    """There is no stack as was asked for, in words."""


def target(
    url: str,
    running: Running,
    started: Callable[[], AbstractContextManager[Stack]] | None,
    data: Path | None = None,
) -> AbstractContextManager[Stack]:
    """Where to play: what was said, else SNATCH_PORT if somebody is there, else the stack that runs, else our own.

    `data`: the folder of the stack that is meant.  Raises NoStack, NotLoopback.
    """
    there = running(data)
    if data is not None and there is None:
        raise NoStack(f"no stack runs on {data}")
    if not url and data is None and os.environ.get("SNATCH_PORT"):
        usual = f"http://127.0.0.1:{os.environ['SNATCH_PORT']}"
        url = usual if silence(usual) is None else ""
    if url:
        check_loopback(url)
        if there is not None and urlsplit(there["url"]).port == urlsplit(url).port:
            return nullcontext({**there, "url": url})
        if data is not None and there is not None:
            raise NoStack(f"the stack on {data} is at {there['url']}, not at {url}")
        return nullcontext({"url": url})
    if there is not None:
        return nullcontext(there)
    if started is None:
        raise SystemExit("no stack runs: start one with `snatch play`, or give --url")
    return started()


async def simulate(wish: Wish, stack: Stack, running: Running = lambda _: None, *, tv: bool = True) -> Findings:
    """Play all rooms side by side, at most `wish.limit` seconds, and only for as long as the stack is there."""
    found = Findings()
    witness = await _witness(stack, found)
    runs: list[TableRun] = []
    try:
        async with Door(stack["url"]) as door:
            tv_url = (stack.get("watch_url") or await door.watch_url()) if tv else None
            if tv_url is not None:
                check_loopback(tv_url)
            runs = [TableRun(number, wish, door, tv_url, found) for number in range(1, wish.rooms + 1)]
            tasks = [asyncio.create_task(_one(run, witness, found)) for run in runs]
            playing = asyncio.create_task(asyncio.wait(tasks, timeout=wish.limit))
            vigil = asyncio.create_task(until_gone(stack, running))
            await asyncio.wait([playing, vigil], return_when=asyncio.FIRST_COMPLETED)
            if vigil.done() or (found.broken and ended(stack, running)):
                found.gone = f"the stack at {stack['url']} was ended while it was played on"
            for task in [*tasks, playing, vigil]:
                task.cancel()
            await asyncio.wait(tasks, timeout=GOODBYE if found.gone else None)
    finally:
        if witness is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(witness.stop(), GOODBYE)
    if not found.gone:
        for run in runs:
            if run.at != "done" and not run.at.startswith("failed"):
                late = f"{run.room or run.number}: {run.at} when the {wish.limit:.0f} s were over"
                found.check(FINISHED, False, late)
    return found


async def _one(run: TableRun, witness: LogWitness | None, found: Findings) -> None:
    try:
        await run.run(witness)
    except Exception as error:
        causes = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
        found.check(FINISHED, False, f"{run.room or run.number}: {run.at}: {'; '.join(map(repr, causes))}")
        run.at = f"failed {run.at}"
    else:
        found.check(FINISHED, True, "")


async def _witness(stack: Stack, found: Findings) -> LogWitness | None:
    url = stack.get("nats_url")
    if url:
        witness = LogWitness(url, found)
        try:
            await witness.start()
            return witness
        except (OSError, NatsError, TimeoutError, Unread) as error:
            why = f"the log could not be read: {error!r}"
    else:
        why = f"it is not known where {stack['url']} has its log (--data DIR names the stack's folder)"
    found.unchecked |= dict.fromkeys((LOGGED, REPLAYED), why)
    return None
