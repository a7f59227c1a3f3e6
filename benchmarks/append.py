"""What durability costs: fenced 1 KB appends by sync setting and servers: `python -m benchmarks.append`.

One append is in flight per partition, as at an engine.  Rounds take turns, so that a busy
machine is busy for all of them; of each the fastest round by its median is shown, and how
many times as long it takes as one server that syncs by `2m`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from servicekit import bus
from services.engine.settings import SetupSettings
from services.engine.setup import set_up
from services.engine.stream import Asker, Stream
from stack import servers
from stack.ports import free_ports
from wire import subjects

WRITERS = (1, 16, 64)
BODY = 1024


@dataclass(frozen=True)
class Took:
    """Milliseconds an append, and appends a second."""

    p50: float
    p99: float
    rate: float


@asynccontextmanager
async def nats_servers(count: int, sync: str) -> AsyncIterator[str]:
    """So many servers with nothing in them; their URLs."""
    uses = ("nats", "monitor", "route")[: 2 if count == 1 else 3]
    free = free_ports(len(uses) * count)
    ports = {name: {use: free.pop() for use in uses} for name in servers.nats_names(count)}
    with tempfile.TemporaryDirectory(prefix="snatch-append-") as folder:
        parts = servers.nats(Path(folder), ports, sync)
        quiet = subprocess.DEVNULL
        processes = [subprocess.Popen(part.command, stdout=quiet, stderr=quiet) for part in parts]
        try:
            url = ",".join(f"nats://127.0.0.1:{part.ports['nats']}" for part in parts)
            while any([await part.probe() for part in parts]):  # noqa: ASYNC110 - a server tells nobody
                await asyncio.sleep(0.05)
            await set_up(SetupSettings(nats_url=url, log_replicas=count, log_max_bytes=1024**3))
            yield url
        finally:
            for process in processes:
                process.kill()
                process.wait()


async def measured(url: str, writers: int, seconds: float) -> Took:
    """Each writes a partition of its own, one append after another."""
    nc = await bus.connect(url, "append")
    asker = Asker(nc)
    await asker.start()
    stream = Stream(asker, subjects.LOG_STREAM)
    body, took = os.urandom(BODY), list[float]()
    until = time.perf_counter() + seconds

    async def write(partition: int) -> None:
        subject = f"log.{partition}"
        last = await stream.last(subject)
        expected = last.sequence if last else 0
        while (began := time.perf_counter()) < until:
            done = await stream.append(subject, body, expected)
            if done is None:  # busy or slow: the leader knows
                last = await stream.last(subject)
                expected = last.sequence if last else 0
                continue
            expected = done
            took.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(write(p) for p in range(writers)))
    await asker.stop()
    await nc.close()
    took.sort()
    return Took(took[len(took) // 2], took[len(took) * 99 // 100], len(took) / seconds)


async def main(counts: Sequence[int], syncs: Sequence[str], rounds: int, seconds: float) -> None:
    best: dict[tuple[int, str, int], Took] = {}
    for _ in range(rounds):
        for count in counts:
            for sync in syncs:
                async with nats_servers(count, sync) as url:
                    for writers in WRITERS:
                        now = await measured(url, writers, seconds)
                        key = (count, sync, writers)
                        best[key] = min(best.get(key, now), now, key=lambda took: took.p50)
    print(f"{'servers':>7} {'sync':>7} {'writers':>8} {'p50 ms':>8} {'p99 ms':>8} {'a second':>9} {'times':>6}")
    for (count, sync, writers), took in best.items():
        usual = best.get((1, servers.SYNC, writers))
        times = f"{took.p50 / usual.p50:6.1f}" if usual else ""
        print(f"{count:>7} {sync:>7} {writers:>8} {took.p50:8.2f} {took.p99:8.2f} {took.rate:9.0f} {times}")


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="python -m benchmarks.append", description=__doc__)
    p.add_argument("--servers", type=int, nargs="+", default=list(servers.NATS_COUNTS), choices=servers.NATS_COUNTS)
    p.add_argument("--sync", nargs="+", default=[servers.SYNC, "always"], metavar="T")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=3.0, help="a round of one setting and so many writers (3)")
    return p.parse_args(argv)


if __name__ == "__main__":
    told = parsed(sys.argv[1:])
    asyncio.run(main(told.servers, told.sync, told.rounds, told.seconds))
