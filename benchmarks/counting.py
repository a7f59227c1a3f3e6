"""What counting costs: `python -m benchmarks.counting`, as JSON; times in µs, each the best of many rounds.

- `move_engine`: all that an engine counts of a move that is alone in its record
- `move_gateway`: all that a gateway counts of it, and of four frames
- `lock`: one count by prometheus_client's own counter, with a label, for comparison
- `scrape_engine`, `scrape_gateway`: one whole answer of `/metrics`, with `tables` open at the engine
- `held_engine`, `held_gateway`: of those the longest piece for which the event loop had no turn
- `series_engine`, `series_gateway`: how many each of them tells
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise

from prometheus_client import Counter

from games.registry import GAMES
from servicekit.health import exposition
from servicekit.meters import Registry
from servicekit.process_metrics import ProcessMetrics
from services.engine.ledger import Ledger, Room
from services.engine.metrics import EngineMetrics
from services.engine.records import Newcomer, Opened
from services.engine.table import Table
from services.engine.tables_seen import TablesLook
from services.gateway.metrics import GatewayMetrics

GAME = next(iter(GAMES))
ROUNDS, TIMES, SCRAPES = 30, 10_000, 30
TABLES = 1000


def best(act: Callable[[], object]) -> float:
    """µs of one call."""
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter_ns()
        for _ in range(TIMES):
            act()
        found.append((time.perf_counter_ns() - began) / TIMES / 1000)
    return round(min(found), 2)


def tables(count: int) -> Ledger:
    """So many, of two players each."""
    ledger = Ledger(GAMES)
    members = [Newcomer(f"p{n}", "Ann", n) for n in range(2)]
    for n in range(count):
        event = Opened(f"t{n}", f"room{n}", GAME, 0, members, {}, 0)
        ledger.rooms[f"room{n}"] = Room(Table.open(GAMES[GAME], event, 0), 0, 0)
    return ledger


async def scraped(registry: Registry) -> tuple[float, float, int]:
    """µs of a scrape, of the longest piece of it, and its series."""
    whole, held, text = [], [], b""
    for _ in range(SCRAPES):
        turns = [time.perf_counter()]
        over = asyncio.Event()

        async def beside(turns: list[float] = turns, over: asyncio.Event = over) -> None:
            while not over.is_set():
                await asyncio.sleep(0)
                turns.append(time.perf_counter())

        task = asyncio.create_task(beside())
        began = time.perf_counter()
        text = await exposition(registry)
        whole.append(time.perf_counter() - began)
        over.set()
        await task
        held.append(max(b - a for a, b in pairwise(turns)))
    series = sum(1 for line in text.splitlines() if not line.startswith(b"#"))
    return round(1e6 * min(whole)), round(1e6 * min(held)), series


def registry_of(metrics: EngineMetrics | GatewayMetrics, service: str) -> Registry:
    registry = metrics.registry
    assert isinstance(registry, Registry)
    ProcessMetrics(registry, service, "build", "commit")
    return registry


def measured() -> dict[str, object]:
    engine, gateway, theirs = EngineMetrics(), GatewayMetrics(), Counter("moves", "Moves.", ["result"], registry=None)
    decided = [(GAME, 1, list[str]())]

    def move_engine() -> None:
        engine.turn(1, decided, 2, 0.002)
        engine.moves_answered([1.0], 1.002, 1.003)
        engine.appended(0.002, 400)

    def move_gateway() -> None:
        gateway.received.move += 1
        gateway.move_answered(0.004)
        for _ in range(4):
            gateway.sent.frames_sent += 1
            gateway.sent.frame_bytes += 200

    found: dict[str, object] = {
        "move_engine": best(move_engine),
        "move_gateway": best(move_gateway),
        "lock": best(lambda: theirs.labels("done").inc()),
        "tables": TABLES,
    }
    look, ledger = TablesLook(), tables(TABLES)
    engine.watch_tables(lambda: look.look([ledger], time.monotonic()))
    for name, metrics in (("engine", engine), ("gateway", gateway)):
        whole, held, series = asyncio.run(scraped(registry_of(metrics, name)))
        found |= {f"scrape_{name}": whole, f"held_{name}": held, f"series_{name}": series}
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured(), indent=1) + "\n")
