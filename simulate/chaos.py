"""`snatch chaos`: processes of a running stack are killed, stopped and ended while rooms play on it.

Afterwards every side is compared: what players were told, what their screens show, what a
second tab is given, and what the log says when it is replayed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import uvloop

from servicekit import logs
from simulate import chaos_cells as cells
from simulate import chaos_report as report
from simulate.chaos_cells import BadCell, Cell
from simulate.chaos_failover import Failover, Raise
from simulate.chaos_room import RoomWish
from simulate.chaos_run import CellResult, ChaosRun
from simulate.cli import NoStack, count
from simulate.door import ONE_ADDRESS, NotLoopback, check_loopback
from simulate.vigil import Running, Stack

TWO = {"engine": 2, "gateway": 2, "rooms": 2, "bots": 2, "watch": 2}
"""What a running stack is raised to before it is hit."""
OPTIONS = {
    "engine": "--engines",
    "gateway": "--gateways",
    "rooms": "--rooms",
    "bots": "--bots",
    "watch": "--watches",
}
"""What `snatch play` calls them."""
SETTINGS = {**ONE_ADDRESS, "SNATCH_TRIM_AFTER": "30"}
"""Of a stack of our own: its log can be read at leisure.  The environment's own go before these."""

Started = Callable[..., AbstractContextManager[Stack]]


def parser() -> argparse.ArgumentParser:
    """Its options."""
    p = argparse.ArgumentParser(prog="snatch chaos", description=__doc__)
    p.add_argument("--rooms", type=count, default=100, metavar="N", help="rooms that play (100)")
    p.add_argument("--seats", type=int, default=2, choices=range(1, 9), metavar="N", help="people a room (2)")
    p.add_argument("--bots", type=int, default=1, choices=range(4), metavar="N", help="bots a room (1)")
    p.add_argument("--speed", type=float, default=1.0, metavar="X", help="how many times as fast as a bot (1)")
    p.add_argument("--seed", type=int, default=1, metavar="N", help="the same one plays alike")
    p.add_argument("--no-tv", action="store_true", help="no TV in each room")
    p.add_argument("--kill", default="engine", metavar="KIND", help=f"which part is hit: {', '.join(cells.KINDS)}")
    p.add_argument("--signal", default="KILL", metavar="SIG", help="KILL, STOP or TERM (KILL)")
    p.add_argument("--every", type=cells.seconds, metavar="T", help="between faults (10s; STOP: 15s)")
    p.add_argument("--duration", type=cells.seconds, default=120.0, metavar="T", help="of the faults together (120s)")
    p.add_argument("--hold", type=cells.seconds, default=10.0, metavar="T", help="how long a STOP lasts (10s)")
    p.add_argument("--nats", type=int, default=1, choices=(1, 3), help="servers of a stack of our own (1)")
    p.add_argument("--matrix", action="store_true", help="every part with every fault, and three NATS servers")
    p.add_argument("--failover", action="store_true", help="the only engine is killed as a second one appears")
    p.add_argument("--short", action="store_true", help="a few cells, a few seconds each")
    p.add_argument("--strict", action="store_true", help="times count too")
    p.add_argument("--own", action="store_true", help="on a stack of our own, whatever runs")
    p.add_argument("--keep", type=Path, metavar="DIR", help="the folder of our own stack, which stays, logs and all")
    p.add_argument("--data", type=Path, metavar="DIR", help="the running stack's folder (.snatch, or SNATCH_DATA)")
    p.add_argument("--json", type=Path, metavar="FILE", help="write what was found there too")
    return p


def main(argv: Sequence[str], running: Running, started: Started, raise_to: Raise) -> int:
    """0 when all held, 1 when something was lost, doubled or unequal (strict: or too slow), 2 when asked wrongly."""
    arguments = parser().parse_args(argv)
    logs.set_up("chaos", "", level="error")  # that NATS is away is no news here
    try:
        plan = planned(arguments)
    except BadCell as error:
        print(f"✗ {error}", file=sys.stderr)
        return 2
    wish = RoomWish(
        arguments.seats,
        arguments.bots,
        "hard",
        max(0.1, arguments.speed),
        arguments.seed,
        not arguments.no_tv,
        arguments.rooms,
    )
    results: list[CellResult] = []
    told: list[str] = []
    try:
        for nats, its in plan.items():
            with _stack(arguments, nats, running, started, raise_to) as stack:
                check_loopback(stack["url"])
                players = Players(stack, running, wish, arguments.rooms, raise_to)
                uvloop.run(_run(its, players, results, told))
    except (NotLoopback, NoStack) as error:
        print(f"✗ {error}", file=sys.stderr)
        return 2
    print(f"\n{report.table(results)}\n\n{report.words(results, told, strict=arguments.strict)}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"cells": report.as_json(results), "told": told}, indent=1) + "\n")
    return 0 if report.well(results, strict=arguments.strict) else 1


def planned(arguments: argparse.Namespace) -> dict[int, list[Cell]]:
    """The cells, by how many NATS servers their stack has.  Raises BadCell."""
    if arguments.matrix:
        return {1: cells.matrix(arguments.hold), 3: cells.cluster(arguments.hold)}
    if arguments.short:
        return {1: cells.short()}
    if arguments.failover:
        return {1: cells.failover()}
    one = cells.cell(
        arguments.kill, arguments.signal, arguments.every, arguments.duration, arguments.hold, arguments.nats
    )
    return {arguments.nats: [one]}


def _stack(
    arguments: argparse.Namespace, nats: int, running: Running, started: Started, raise_to: Raise
) -> AbstractContextManager[Stack]:
    """The one that runs, raised to two of each; else, and for other NATS servers, one of our own.  Raises NoStack."""
    if arguments.failover:
        return _own(arguments, {**TWO, "engine": 1}, nats, started)
    there = running(arguments.data)
    if arguments.data is not None and there is None:
        raise NoStack(f"no stack runs on {arguments.data}")
    if there is not None and not arguments.own and sum(p["kind"] == "nats" for p in there["parts"]) == nats:
        return nullcontext(raise_to(Path(there["data"]), TWO))
    return _own(arguments, TWO, nats, started)


def _own(
    arguments: argparse.Namespace, counts: Mapping[str, int], nats: int, started: Started
) -> AbstractContextManager[Stack]:
    folder = arguments.keep / f"nats-{nats}" if arguments.keep else None
    settings = {name: os.environ.get(name, usual) for name, usual in SETTINGS.items()}
    return started(*_options(counts), "--nats", str(nats), folder=folder, settings=settings)


def _options(counts: Mapping[str, int]) -> list[str]:
    return [word for kind, count in counts.items() for word in (OPTIONS[kind], str(count))]


@dataclass(frozen=True)
class Players:
    """Who plays where."""

    stack: Stack
    running: Running
    wish: RoomWish
    rooms: int
    raise_to: Raise


async def _run(plan: Sequence[Cell], players: Players, results: list[CellResult], told: list[str]) -> None:
    stack, wish = players.stack, players.wish
    folder = Path(stack["data"])

    def say(text: str) -> None:
        print(text, flush=True)

    def state() -> Stack | None:
        return players.running(folder)

    say(f"{players.rooms} rooms, {wish.seats} people and {wish.bots} bots each, on {stack['url']}")
    async with ChaosRun(stack, state, wish, players.rooms, say) as run:
        gc.collect()
        gc.freeze()
        for cell in plan:
            faulter = Failover(state, stack, players.raise_to) if cell.failover else None
            result = await run.cell(cell, faulter)
            results.append(result)
            say(report.table([result]).splitlines()[-1])
        told += run.found.told
