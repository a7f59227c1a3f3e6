"""What a spectator costs: `python -m benchmarks.watch --spectators 5000 --json FILE`.

A watch process, a NATS, twins of engine and rooms that tell frames of one room, and the
spectators in a process of their own, which hold every byte they get against what was
told.  CPU and memory are the watch process's alone, all of its system calls included.

Keys of the JSON: `runs`, one for each count of `--spectators`:

- `spectators`; `idle_kb`: memory of each, in 1024 bytes, all at a table and nothing told
  (what the process grew by, after a first crowd had come and gone)
- `steady`, by turns without (`reading`) and with sockets that don't read (`stopped`), each
  a list of rounds: `frames` told one at a time, `frame_bytes`, `per_second` of them,
  `deliveries` (messages times who reads), `deliveries_per_cpu_s`, `cpu_us` each,
  `p50_ms`, `p99_ms`, `max_ms` from when it was told to when it was read, `wrong`:
  spectators that got one byte more, less or other than was told
- `flat_out`: the same, told as fast as NATS takes them: frames go out joined
- `cut`: `stopped` sockets that read nothing, `closed_slow` of them with 1013 while large
  frames were told, `wrong` of the others
- `gc_longest_ms`: the longest garbage collection of each generation since watch has started
- `wrong`: the sum of all, which must be 0
- `machine`, `python`, `load_average`
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib
from collections.abc import AsyncIterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec
import psutil
import uvloop

from benchmarks.spectators import crowd
from servicekit import bus
from servicekit.sockets import CLOSE_WITHIN
from servicekit.websocket import text_frame
from stack.data import ROOT
from stack.ports import free_ports
from tests.servers import NatsServer
from tests.services.twin_engine import TwinEngine, TwinTable, TwinTables
from tests.services.twin_rooms import TwinRooms
from wire import client_out, frames, subjects

ROOM = "BCDFG"
STOPPED = 10
"""Spectators that don't read, in the rounds that have them."""
FIRST = 20
"""Spectators that come and go before memory is looked at."""
MOST_AT_CUT = 100
STEP = {"t": "middle", "seat": 3, "card": "5h", "spot": 7, "from": "snatch", "left": 11, "score": 5}


class Stage:
    """A watch under load."""

    def __init__(self, nc: bus.Bus, table: TwinTable, engine: TwinEngine, watch: psutil.Process, ops: int) -> None:
        self.nc, self.table, self.engine, self.watch, self.ops = nc, table, engine, watch, ops

    async def tell(self, size: int) -> tuple[float, bytes]:
        """Publish one frame; when, and as it must arrive."""
        table = self.table
        table.frames += 1
        table.seq += 1
        step = client_out.Step(ev=[STEP, "x" * size] if size else [STEP])
        body = msgspec.json.encode(client_out.TableFrame(table.frames, table.seq, [step]))
        at = time.monotonic()
        data = frames.pack(frames.TABLE, self.engine.epoch, table.frames, (), body)
        await self.nc.publish(subjects.table(ROOM), data)
        return at, text_frame(body)

    def cpu(self) -> float:
        if sys.platform == "linux":  # in nanoseconds: the clock of a process, clock_getcpuclockid(3)
            return time.clock_gettime((~self.watch.pid << 3) | 2)
        used = self.watch.cpu_times()
        return float(used.user + used.system)

    def memory(self) -> int:
        return int(self.watch.memory_full_info().uss)

    async def metric(self, name: str) -> float:
        """As watch's operations port has it; 0 if it hasn't."""
        url = f"http://127.0.0.1:{self.ops}/metrics"
        text = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=5).read().decode())
        found = re.search(f"^{re.escape(name)} (\\S+)", text, re.M)
        return float(found[1]) if found else 0.0

    async def closed_slow(self) -> int:
        """Sockets that watch has closed with 1013."""
        return int(await self.metric('snatch_watch_closed_total{code="1013"}'))

    async def collections(self) -> list[float]:
        """The longest garbage collection of each generation, ms."""
        names = [f'snatch_gc_longest_seconds{{generation="{n}"}}' for n in range(3)]
        return [round(await self.metric(name) * 1e3, 2) for name in names]


@contextlib.asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[tuple[Stage, int]]:
    nats = NatsServer(folder)
    nats.start()
    nc = await bus.connect(nats.url, "benchmark")
    tables = TwinTables()
    engine, rooms = TwinEngine(nc, tables), TwinRooms(nc)
    await engine.start()
    await engine.claim()
    await rooms.start()
    rooms.room(ROOM, "p1", table="t1")
    table = tables.open(ROOM)
    port, ops = free_ports(2)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SNATCH_")},
        "NATS_URL": nats.url,
        "SNATCH_ROOMS_ADDR": rooms.addr,
        "SNATCH_WATCH_PORT": str(port),
        "SNATCH_OPS_PORT": str(ops),
        "SNATCH_TVS_PER_MINUTE": "0",
        "SNATCH_MAX_SOCKETS": "10000",
        "SNATCH_LOG_LEVEL": "warning",
    }
    watch = subprocess.Popen([sys.executable, "-m", "services.watch"], cwd=ROOT, env=environment)
    try:
        while True:
            await asyncio.sleep(0.1)
            if watch.poll() is not None:
                raise SystemExit(f"watch did not start: {watch.returncode}")
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                break
        yield Stage(nc, table, engine, psutil.Process(watch.pid), ops), port
    finally:
        watch.terminate()
        watch.wait(15)
        await rooms.stop()
        await engine.stop()
        await nc.close()
        nats.stop()


async def order(pipe: Connection, what: str, argument: Any = None) -> Any:
    pipe.send((what, argument))
    return await asyncio.to_thread(pipe.recv)


async def beacons(s: Stage) -> None:
    """Once a second, as an engine sends them: else TVs ask whether they missed something."""
    while True:
        await s.engine.beacon(s.table)
        await asyncio.sleep(1.0)


async def told(s: Stage, pipe: Connection, count: int, per_second: float, size: int = 0) -> dict[str, Any]:
    """Tell so many frames, at this rate (0: as fast as they go), and what came of it."""
    await order(pipe, "mark")
    at: list[float] = []
    crc, length = 0, 0
    before, start = s.cpu(), time.monotonic()
    for n in range(count):
        if per_second:
            await asyncio.sleep(start + n / per_second - time.monotonic())
        when, frame = await s.tell(size)
        at.append(when)
        crc, length = zlib.crc32(frame, crc), len(frame)
    await s.nc.flush()
    found = await order(pipe, "found", count)
    cpu = s.cpu() - before
    wrong = sum(m != count or c != crc for m, c in zip(found["messages"], found["crcs"], strict=True))
    late = sorted((t - w) * 1e3 for times in found["times"] for w, t in zip(at, times, strict=False))
    deliveries = sum(found["messages"])
    return {
        "frames": count,
        "frame_bytes": length,
        "per_second": round(per_second or count / (time.monotonic() - start), 1),
        "deliveries": deliveries,
        "deliveries_per_cpu_s": round(deliveries / cpu) if cpu else 0,
        "cpu_us": round(cpu / deliveries * 1e6, 2),
        "p50_ms": round(late[len(late) // 2], 2),
        "p99_ms": round(late[len(late) * 99 // 100], 2),
        "max_ms": round(late[-1], 2),
        "wrong": wrong + found["lost"],
    }


async def measure(s: Stage, pipe: Connection, spectators: int, seconds: float, rounds: int) -> dict[str, Any]:
    await order(pipe, "open", FIRST)
    await order(pipe, "close")
    await asyncio.sleep(3)
    before = s.memory()
    await order(pipe, "open", spectators)
    await asyncio.sleep(3)
    run: dict[str, Any] = {"spectators": spectators, "idle_kb": round((s.memory() - before) / spectators / 1024, 2)}
    rate = min(50.0, 30_000 / spectators)
    run["steady"] = {"reading": [], "stopped": []}
    stopped = min(STOPPED, spectators // 2)
    for _ in range(rounds):
        for what, silent in (("reading", 0), ("stopped", stopped)):
            await order(pipe, "stop_reading", silent)
            run["steady"][what].append(await told(s, pipe, max(10, int(rate * seconds)), rate))
            await order(pipe, "replace_stopped")
    run["flat_out"] = await told(s, pipe, max(20, int(150_000 / spectators)), 0)
    slow = await s.closed_slow()
    if spectators <= MOST_AT_CUT:  # with more, gigabytes would be told to fill the kernel's buffers of a few
        await order(pipe, "stop_reading", stopped)
        large = await told(s, pipe, 150, 50.0, size=60_000)
        await asyncio.sleep(CLOSE_WITHIN + 1)
        run["cut"] = {"stopped": stopped, "closed_slow": await s.closed_slow() - slow, "wrong": large["wrong"]}
    run["gc_longest_ms"] = await s.collections()
    await order(pipe, "close")
    parts = [*run["steady"]["reading"], *run["steady"]["stopped"], run["flat_out"], run.get("cut", {"wrong": 0})]
    run["wrong"] = sum(part["wrong"] for part in parts)
    return run


async def main(spectators: list[int], seconds: float, rounds: int) -> dict[str, Any]:
    runs = []
    with tempfile.TemporaryDirectory(prefix="snatch-bench-") as folder:
        for count in spectators:
            place = Path(folder) / str(count)
            place.mkdir()
            async with stage(place) as (s, port):
                context = multiprocessing.get_context("spawn")
                pipe, theirs = context.Pipe()
                process = context.Process(target=crowd, args=(theirs, port, ROOM), daemon=True)
                process.start()
                theirs.close()
                telling = asyncio.create_task(beacons(s))
                try:
                    runs.append(await measure(s, pipe, count, seconds, rounds))
                finally:
                    telling.cancel()
                    pipe.send(("end", None))
                    process.join(5)
                    process.kill()
            say(runs[-1])
    return {
        "runs": runs,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "python": platform.python_version(),
        "load_average": os.getloadavg()[0],
    }


def say(run: dict[str, Any]) -> None:
    print(f"{run['spectators']} spectators of one room: {run['idle_kb']} KB each when idle")
    for what, rounds in run["steady"].items():
        for r in rounds:
            print(
                f"  {what:8} {r['deliveries_per_cpu_s']:7,} deliveries per CPU second, {r['cpu_us']} µs each, "
                f"p50 {r['p50_ms']} p99 {r['p99_ms']} max {r['max_ms']} ms, wrong {r['wrong']}"
            )
    r = run["flat_out"]
    print(f"  flat out {r['deliveries_per_cpu_s']:7,} deliveries per CPU second, {r['cpu_us']} µs each")
    if "cut" in run:
        c = run["cut"]
        print(f"  of {c['stopped']} that don't read {c['closed_slow']} closed with 1013; others wrong: {c['wrong']}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watch")
    parser.add_argument("--spectators", type=int, nargs="+", default=[100, 1000, 5000])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    result = uvloop.run(main(arguments.spectators, arguments.seconds, arguments.rounds))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(any(run["wrong"] for run in result["runs"]))
