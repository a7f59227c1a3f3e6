"""What traces cost a move, where our own code has it: `python -m benchmarks.tracing --json FILE`.

A bots' hand is decided again, move by move, by the code of gateway and engine: a seat's
session sends, an owner takes, decides, appends and tells, and NATS' stream brings the
frame to the session.  What lies between (sockets, gRPC, NATS, turns of the loop) is left
out: it doesn't change, and would hide what does.  Each move is a record of its own.
`plain` is what runs unless traces are asked for; others take turns with it, round by round.

Keys of the JSON; times in µs a move, each as `{"p50", "best"}`, the last one the median of
each move's fastest round, which a busy machine changes least:

- `plain`: nothing is traced, and nothing of it is loaded
- `ratio=0.001`, `ratio=0.01`, `ratio=1`: that share of moves is; spans are made, and dropped
- `moves`, `rounds`, `seed`, `python`
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import platform
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec

from benchmarks.rules import ROOM, Hand, ledger_of, played
from games.registry import GAMES
from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.listening import Listeners, Reading
from servicekit.seat import MakeSeat, SeatSession
from services.engine import records as r
from services.engine import table_store as store
from services.engine.floor import Floor
from services.engine.items import CommandItem, MakeCommand
from services.engine.metrics import EngineMetrics
from services.engine.owner import MakeOwner, Owner
from services.engine.partition import EMPTY, Partition, Slot, Verdict
from wire import frames

if TYPE_CHECKING:
    from servicekit.tracing_spans import Traces

SEATS = 4
RATIOS = (0.001, 0.01, 1.0)
now_ns = time.perf_counter_ns


class _Log:
    """Takes every record at once."""

    async def append(self, partition: Partition, slot: Slot) -> Verdict:
        return partition.acked(slot.expected + 1)

    async def trim(self, partition: int, oldest: int) -> bool:
        return True


class _Bus:
    """What was published, as NATS' stream brings it to who listens."""

    def __init__(self) -> None:
        self.told = b""

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        if headers is None:
            self.told += b"MSG %b 1 %d\r\n%b\r\n" % (subject.encode(), len(payload), payload)
            return
        block = "NATS/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
        sizes = (subject.encode(), len(block), len(block) + len(payload))
        self.told += b"HMSG %b 1 %d %d\r\n%b%b\r\n" % (*sizes, block.encode(), payload)


class _Nobody:
    """A socket, a caller, a seat's screen, the rest of an engine: takes all, says nothing."""

    def __getattr__(self, name: str) -> Any:
        return _nothing


def _nothing(*_: object, **__: object) -> None:
    """Of `_Nobody`."""


class Way:
    """A move's way through our code, and back."""

    def __init__(self, hand: Hand, seat: MakeSeat, owner: MakeOwner, item: MakeCommand, listeners: Listeners) -> None:
        table = store.load(hand.table, GAMES)
        self._bus, self._item = _Bus(), item
        nobody: Any = _Nobody()
        floor = SimpleNamespace(
            boot="boot",
            games=GAMES,
            bus=self._bus,
            log=_Log(),
            metrics=EngineMetrics(),
            trim_after=0.0,
            writes=r.VERSION,
            lease_proof=lambda since: since,
            **dict.fromkeys(("told", "touched", "forgotten"), _nothing),
        )
        self.owner = owner(0, cast(Floor, floor))
        self.owner.ledger = ledger_of(table, hand.start)
        partition = self.owner.partition
        partition.claim(EMPTY, 0)
        partition.won(b"")
        partition.acked(1)
        partition.replayed()
        self._sent: list[pb.Command] = []
        engines = SimpleNamespace(send=lambda session, command: self._sent.append(command))
        feeds: Any = SimpleNamespace(engines=engines)
        self.seats: list[SeatSession] = []
        for number in range(hand.seats):
            session = seat(feeds, pb.AttachRequest(room=ROOM), nobody)
            session.seat, session.session = number, 1
            self.seats.append(session)
        listeners.add(1, self._hear)
        self._reading = Reading(listeners)
        self._nobody = nobody

    def _hear(self, subject: str, data: bytes) -> None:
        frame = frames.unpack(data)
        for session in self.seats:
            if frame.kind == frames.TABLE or subject.endswith(f".{session.seat}"):
                session.on_frame(frame)

    async def move(self, seat: int, id: int, body: bytes) -> None:
        self.seats[seat].send(id, body)
        command = self._sent.pop()
        self.owner.submit(self._item(command, self._nobody))
        await self.owner._turn()
        told, self._bus.told = self._bus.told, b""
        self._reading.take(told)


def plain(hand: Hand) -> Way:
    return Way(hand, SeatSession, Owner, CommandItem, Listeners())


def traced(traces: Traces, hand: Hand) -> Way:
    from servicekit.tracing_seat import TracedSeat
    from services.engine.tracing import TracedItems, TracedOwner

    listeners = Listeners()
    listeners.within = traces.heard
    return Way(hand, partial(TracedSeat, traces), partial(TracedOwner, traces), TracedItems(traces), listeners)


async def timed(way: Way, hand: Hand) -> list[int]:
    """Nanoseconds of each move of the hand."""
    loop, owner, took = asyncio.get_running_loop(), way.owner, []
    for sent in hand.sent:
        # Room time is what it was when the move came.
        owner._room_time = loop.time() - (sent.at - owner.ledger.now) / 1000
        began = now_ns()
        await way.move(sent.seat, sent.id, sent.body)
        took.append(now_ns() - began)
    answered = [session.answered for session in way.seats]
    assert answered == [max(s.id for s in hand.sent if s.seat == seat) for seat in range(hand.seats)], answered
    return took


def dropping(ratio: float) -> Traces:
    """Makes spans, and sends them nowhere."""
    from opentelemetry.sdk.trace import SpanProcessor

    from servicekit.settings import Settings
    from servicekit.tracing_spans import Traces

    return Traces("bench", Settings(trace_ratio=ratio), SpanProcessor(), Random(1).random)


async def measured(rounds: int, seed: int) -> dict[str, Any]:
    hand = played(SEATS, "medium", seed)
    ways = {"plain": plain} | {f"ratio={ratio:g}": partial(traced, dropping(ratio)) for ratio in RATIOS}
    took: dict[str, list[list[int]]] = {name: [] for name in ways}
    gc.collect()
    for _ in range(rounds):
        for name, way in ways.items():
            took[name].append(await timed(way(hand), hand))
    shown = {name: _shown(rounds_of) for name, rounds_of in took.items()}
    return {**shown, "moves": len(hand.sent), "rounds": rounds, "seed": seed, "python": platform.python_version()}


def _shown(rounds: list[list[int]]) -> dict[str, float]:
    every = sorted(took for one in rounds for took in one)
    fastest = sorted(map(min, zip(*rounds, strict=True)))
    return {
        "p50": round(every[len(every) // 2] / 1000, 2),
        "best": round(fastest[len(fastest) // 2] / 1000, 2),
    }


def main(argv: Sequence[str]) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.tracing", description=__doc__)
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--json", type=Path)
    told = p.parse_args(argv)
    found = asyncio.run(measured(told.rounds, told.seed))
    print(f"{'µs a move':<14} {'p50':>7} {'best':>7}")
    for name in ("plain", *(f"ratio={ratio:g}" for ratio in RATIOS)):
        of = found[name]
        print(f"{name:<14} {of['p50']:7.2f} {of['best']:7.2f}")
    if told.json is not None:
        told.json.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
