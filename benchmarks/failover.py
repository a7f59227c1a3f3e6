"""How long 500 live rooms stand still when their engine is killed, drained or stopped: `python -m benchmarks.failover`.

One NATS, one engine with all rooms, then a second one: as soon as that is heard of, the
first one gets the signal.  This process is the gateway.  Everything is printed, nothing
asserted but that every room comes back.  `--json FILE`: keys in `benchmarks.results.RecoveryRun`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from random import Random

import msgspec
from nats.aio.msg import Msg

from benchmarks.results import RecoveryRun
from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import bus, logs
from servicekit.engines import Engines
from servicekit.feed import Feeds
from servicekit.seat import SeatSession
from services.engine.settings import SetupSettings
from services.engine.setup import set_up
from simulate.gaps import percentile
from stack.ports import free_ports
from stack.servers import nats_program
from wire import subjects
from wire.news import Entry
from wire.places import PARTITIONS

CONSONANTS = "BCDFGHJKLMNPQRSTVWXYZ"


class Room:
    """A table of one player and a bot that stands still; its player moves, waits for the answer, thinks."""

    def __init__(self, feeds: Feeds, code: str, think: float, dice: Random) -> None:
        self.code, self._think, self._dice = code, think, dice
        request = pb.AttachRequest(room=code, table="t1", player="p0", tab=1, name="P")
        self.seat = SeatSession(feeds, request, self, timed=self._timed)
        self.answered_at: list[float] = []
        self.waits: list[tuple[float, float]] = []
        self.live = asyncio.Event()
        self.over = ""
        self._answered = asyncio.Event()
        self._id = 0

    async def play(self, stop: asyncio.Event) -> None:
        await asyncio.sleep(self._dice.random() * self._think)
        while not stop.is_set():
            await self.move("turn")
            await asyncio.sleep(self._think * (0.5 + self._dice.random()))

    async def move(self, t: str) -> None:
        self._id += 1
        self._answered.clear()
        body = {"t": "move", "id": self._id, "basis": 0, "m": {"t": t}}
        self.seat.send(self._id, msgspec.json.encode(body))
        await self._answered.wait()

    def _timed(self, seconds: float) -> None:
        now = time.monotonic()
        self.answered_at.append(now)
        self.waits.append((now - seconds, now))
        self._answered.set()

    def on_snapshot(self, body: bytes) -> None:
        if b'"phase":"live"' in body:
            self.live.set()

    def on_frame(self, kind: int, body: bytes) -> None:
        if b'"live"' in body:
            self.live.set()

    def on_answer(self, body: bytes) -> None: ...

    def on_waiting(self) -> None: ...

    def on_superseded(self) -> None: ...

    def on_taken_over(self) -> None:
        self.over = "taken over"

    def on_no_table(self) -> None:
        self.over = "no table"


class Placements:
    """When each partition was heard to be opening and open at another engine."""

    def __init__(self) -> None:
        self.opening: dict[int, float] = {}
        self.open: dict[int, float] = {}
        self.owners: dict[int, str] = {}
        self.engines: set[str] = set()
        self.heard = asyncio.Event()

    async def hear(self, message: Msg) -> None:
        kind, _, name = message.subject.removeprefix("own.").partition(".")
        if kind == "e":
            self.engines.add(name)
        elif kind == "p":
            entry = msgspec.json.decode(message.data, type=Entry)
            at = self.open if entry.state == "open" else self.opening
            at[int(name)] = time.monotonic()
            if entry.state == "open":
                self.owners[int(name)] = entry.owner
        self.heard.set()

    async def until(self, *, engine: str = "", owner: str = "") -> None:
        while not (engine in self.engines or (owner and list(self.owners.values()).count(owner) == PARTITIONS)):
            self.heard.clear()
            await self.heard.wait()


async def engine(url: str, name: str, folder: Path) -> asyncio.subprocess.Process:
    log = (folder / f"{name}.log").open("wb")
    environment = {**os.environ, "NATS_URL": url, "SNATCH_INSTANCE": name, "SNATCH_LOG_LEVEL": "debug"}
    program = [sys.executable, "-m", "services.engine"]
    if os.environ.get("PROFILE") == name:
        program = [sys.executable, "-m", "cProfile", "-o", str(folder / f"{name}.prof"), "-m", "services.engine"]
    return await asyncio.create_subprocess_exec(*program, env=environment, stdout=log, stderr=log)


async def run(args: argparse.Namespace, folder: Path) -> int:
    (port,) = free_ports(1)
    url = f"nats://127.0.0.1:{port}"
    server = subprocess.Popen(
        [nats_program(), "-js", "-a", "127.0.0.1", "-p", str(port), "-sd", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    engines: list[asyncio.subprocess.Process] = []
    try:
        await set_up(SetupSettings(nats_url=url))
        engines.append(await engine(url, "e1", folder))
        return await measure(args, url, folder, engines)
    finally:
        for process in engines:
            if process.returncode is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGTERM if os.environ.get("PROFILE") else signal.SIGKILL)
                await process.wait()
        server.kill()
        server.wait()


async def measure(args: argparse.Namespace, url: str, folder: Path, engines: list[asyncio.subprocess.Process]) -> int:
    nc = await bus.connect(url, "benchmark")
    placements = Placements()
    await nc.subscribe(subjects.OWN_REPUBLISH, cb=placements.hear)
    client = Engines(nc, "benchmark", timeout=60)
    await client.start()
    feeds = Feeds(nc, client)
    await feeds.start()
    await placements.until(owner="e1")
    dice = Random(1)
    codes = ["".join(c) for c in product(CONSONANTS[:5], repeat=4)]
    rooms = [Room(feeds, f"B{code}", args.think, dice) for code in dice.sample(codes, args.rooms)]
    for at in range(0, len(rooms), 20):
        await asyncio.gather(*(begin(client, room) for room in rooms[at : at + 20]))
    await asyncio.gather(*(room.live.wait() for room in rooms))
    print(f"{len(rooms)} rooms live")
    stop = asyncio.Event()
    playing = [asyncio.create_task(room.play(stop)) for room in rooms]
    await asyncio.sleep(args.warm)
    before = [now - sent for room in rooms for sent, now in room.waits]
    print(f"answers before: p50 {statistics.median(before) * 1000:.0f} ms, p99 {percentile(before, 99) * 1000:.0f} ms")
    engines.append(await engine(url, "e2", folder))
    await placements.until(engine="e2")
    placements.opening.clear()
    placements.open.clear()
    hit_at = time.monotonic()
    engines[0].send_signal(getattr(signal, f"SIG{args.signal}"))
    if args.signal == "STOP":
        asyncio.get_running_loop().call_later(10, engines[0].send_signal, signal.SIGCONT)
    await placements.until(owner="e2")
    await asyncio.sleep(args.after)
    if args.signal == "STOP":
        await asyncio.sleep(12)
    stop.set()
    await asyncio.wait(playing, timeout=10)
    found = recovered(args.signal, rooms, placements, hit_at)
    print(as_text(found))
    if args.json:
        args.json.write_bytes(msgspec.json.encode(found))
    for task in playing:
        task.cancel()
    await feeds.stop()
    await client.stop()
    await nc.close()
    stuck = [room.code for room in rooms if room.over or room.seat.waiting_for_answers]
    if stuck:
        print(f"NOT BACK: {len(stuck)} rooms, {stuck[:5]}")
    return 1 if stuck else 0


async def begin(client: Engines, room: Room) -> None:
    members = [
        pb.OpenMember(player="p0", name="P", colour=0),
        pb.OpenMember(player="b", name="B", colour=1, bot="easy"),
    ]
    await client.open_table(
        pb.OpenRequest(room=room.code, table="t1", game="snatch_solitaire", host="p0", members=members)
    )
    await room.seat.attach()
    await room.move("deal")


def recovered(signal_name: str, rooms: list[Room], placements: Placements, hit_at: float) -> RecoveryRun:
    """Seconds after the signal."""
    gaps, back = [], []
    for room in rooms:
        waits = [(sent, now) for sent, now in room.waits if now > hit_at]
        gaps.append(max((now - max(sent, hit_at) for sent, now in waits), default=0.0))
        back.append(min((now - hit_at for _, now in waits if now > hit_at + 0.1), default=0.0))
    return RecoveryRun(
        rooms=len(rooms),
        signal=signal_name,
        first_claim_s=round(min(placements.opening.values(), default=hit_at) - hit_at, 3),
        last_open_s=round(max(placements.open.values()) - hit_at, 3),
        last_answer_s=round(max(back), 3),
        gap_p50_s=round(statistics.median(gaps), 3),
        gap_p99_s=round(percentile(gaps, 99), 3),
        gap_max_s=round(max(gaps), 3),
        not_back=sum(1 for room in rooms if room.over or room.seat.waiting_for_answers),
    )


def as_text(found: RecoveryRun) -> str:
    return (
        f"first claim {found.first_claim_s:.2f} s, last partition open {found.last_open_s:.2f} s after the signal\n"
        f"last room's first answer {found.last_answer_s:.2f} s\n"
        f"gap per room: p50 {found.gap_p50_s:.2f} s, p99 {found.gap_p99_s:.2f} s, max {found.gap_max_s:.2f} s"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", type=int, default=500)
    parser.add_argument("--think", type=float, default=2.0, help="seconds between a room's moves, about")
    parser.add_argument("--signal", choices=("KILL", "STOP", "TERM"), default="KILL")
    parser.add_argument("--warm", type=float, default=10.0, help="seconds of play before")
    parser.add_argument("--after", type=float, default=5.0, help="seconds of play after")
    parser.add_argument("--json", type=Path, help="write what was found there")
    parser.add_argument("--keep", help="a folder to keep logs in")
    args = parser.parse_args()
    logs.set_up("benchmark", "1", "text", "ERROR")
    if args.keep:
        Path(args.keep).mkdir(parents=True, exist_ok=True)
        return asyncio.run(run(args, Path(args.keep)))
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(run(args, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
