"""`snatch simulate`: bots' minds through the public WebSocket, and what must hold meanwhile."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import uvloop

from simulate.door import Door, NotLoopback, check_loopback, silence
from simulate.findings import Findings, as_json, as_text
from simulate.log_witness import LogWitness, NatsError
from simulate.table_run import TableRun, Wish

FINISHED = "every room was played to its end"

Stack = dict[str, Any]
"""What `.snatch/stack.json` holds: `url`, `watch_url`, `nats_url` are read."""


def parser() -> argparse.ArgumentParser:
    """Its options."""
    wish = Wish()
    p = argparse.ArgumentParser(prog="snatch simulate", description=__doc__)
    p.add_argument("--rooms", type=_count, default=wish.rooms, metavar="N", help=f"rooms at once ({wish.rooms})")
    p.add_argument(
        "--seats",
        type=int,
        default=wish.seats,
        choices=range(1, 9),
        metavar="N",
        help=f"players a room, 1 to 8 ({wish.seats})",
    )
    p.add_argument("--hands", type=_count, default=wish.hands, metavar="N", help=f"hands a room plays ({wish.hands})")
    p.add_argument(
        "--level", default=wish.level, choices=("easy", "medium", "hard"), help=f"how well they play ({wish.level})"
    )
    p.add_argument(
        "--speed", type=float, default=wish.speed, metavar="X", help=f"how many times as fast as a bot ({wish.speed:g})"
    )
    p.add_argument("--seed", type=int, default=wish.seed, metavar="N", help=f"the same one plays alike ({wish.seed})")
    p.add_argument("--limit", type=float, default=wish.limit, metavar="S", help=f"seconds at most ({wish.limit:.0f})")
    p.add_argument("--url", default="", help="the players' address; else SNATCH_PORT, the running stack, or a new one")
    p.add_argument("--no-tv", action="store_true", help="no TV in each room")
    p.add_argument("--json", type=Path, metavar="FILE", help="write what was found there too")
    return p


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def main(
    argv: Sequence[str],
    running: Callable[[], Stack | None] = lambda: None,
    started: Callable[[], AbstractContextManager[Stack]] | None = None,
) -> int:
    """0 when all held; 1 when an invariant broke or a room was not played to its end; 2 when asked wrongly."""
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
        with target(arguments.url, running, started) as stack:
            if (why := silence(stack["url"])) is not None:
                print(f"✗ nobody answers at {stack['url']}: {why}\n→ start a stack: snatch play", file=sys.stderr)
                return 2
            print(f"{wish.rooms} rooms, {wish.seats} seats, {wish.hands} hand(s) each, on {stack['url']}", flush=True)
            began = time.monotonic()
            found = uvloop.run(simulate(wish, stack, tv=not arguments.no_tv))
            seconds = time.monotonic() - began
    except NotLoopback as error:
        print(f"✗ {error}", file=sys.stderr)
        return 2
    print(as_text(found, seconds))
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(found, seconds, asdict(wish)), indent=1) + "\n")
    return 0 if found.ok() else 1


def target(
    url: str, running: Callable[[], Stack | None], started: Callable[[], AbstractContextManager[Stack]] | None
) -> AbstractContextManager[Stack]:
    """Where to play: what was said, else SNATCH_PORT if somebody is there, else the stack that runs, else our own."""
    there = running()
    if not url and os.environ.get("SNATCH_PORT"):
        usual = f"http://127.0.0.1:{os.environ['SNATCH_PORT']}"
        url = usual if silence(usual) is None else ""
    if url:
        same = there is not None and there["url"] == url.rstrip("/")
        return nullcontext(there if same and there is not None else {"url": url})
    if there is not None:
        return nullcontext(there)
    if started is None:
        raise SystemExit("no stack runs: start one with `snatch play`, or give --url")
    return started()


async def simulate(wish: Wish, stack: Stack, *, tv: bool = True) -> Findings:
    """Play all rooms side by side, at most `wish.limit` seconds."""
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
            _, late = await asyncio.wait(tasks, timeout=wish.limit)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        if witness is not None:
            await witness.stop()
    for run in runs:
        if run.at != "done" and not run.at.startswith("failed"):
            found.check(FINISHED, False, f"{run.room or run.number}: {run.at} when the {wish.limit:.0f} s were over")
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
    if not url:
        found.notes.append("the log was not read: this stack does not say where its NATS is")
        return None
    witness = LogWitness(url)
    try:
        await witness.start()
    except (OSError, NatsError, TimeoutError) as error:
        found.notes.append(f"the log was not read: {error!r}")
        return None
    return witness
