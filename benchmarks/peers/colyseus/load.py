"""Plays on the Colyseus server as `snatch load` plays on ours: open loop, seen from the sender's own screen.

    python -m benchmarks.peers.colyseus.load --port P --pid PID --players 400 --rate 1

Prints one line of JSON: the keys of `Played`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import psutil
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from simulate.gaps import percentile

JOINED, MESSAGE, STATE, PATCH = 10, 13, 14, 15
"""The first byte of what Colyseus sends and is sent."""
MOVE = bytes([MESSAGE]) + msgspec.msgpack.encode("move")
OWN = {bytes([MESSAGE]) + msgspec.msgpack.encode(name) for name in ("moved", "taken")}
(HEAD,) = {len(head) for head in OWN}
JOINING = 16
"""Players on their way in at once."""
TICK = 0.02
"""Seconds between two looks at how late the loop is."""
BUSY, LATE = 0.9, 25.0
"""A generator that used more of its core, or whose loop was later in one tick of a hundred (ms), measured itself."""
SHORT = 0.97
"""Of the rate that was asked for: with less, the load was another one."""
DRAIN = 5.0
"""Seconds at most for the last answers."""


class Move(msgspec.Struct):
    id: int
    seat: int
    spot: int


class Own(msgspec.Struct):
    """Of `moved` and of `taken`: the rest isn't looked at."""

    id: int


class Seat(msgspec.Struct, rename="camel"):
    """Where a player was given a seat."""

    process_id: str
    room_id: str
    session_id: str


class Played(msgspec.Struct):
    """What one run gave; the keys are documented in docs/benchmarks.md."""

    cpu_us_per_move: float
    p50_ms: float
    p99_ms: float
    lost: int
    doubled: int
    void: bool
    void_why: str
    p90_ms: float
    p999_ms: float
    max_ms: float
    moves_per_s: float
    frames_per_s: float
    server_cpu_share: float
    server_mb: float
    server_idle_mb: float
    generator_cpu_share: float
    generator_lag_p99_ms: float


@dataclass
class Tally:
    """What all players counted since `clear`."""

    sent: int = 0
    frames: int = 0
    doubled: int = 0
    delays: list[float] = field(default_factory=list)
    """Seconds from when a move was due to its sender's frame."""

    def clear(self) -> None:
        self.sent = self.frames = self.doubled = 0
        self.delays.clear()


class Player(WSListener):
    """One browser.  `flat`: it moves again as soon as it sees its move."""

    def __init__(self, number: int, tally: Tally, flat: bool) -> None:
        self._tally, self._flat = tally, flat
        self._seat = number % 4
        self._next = number << 24
        self._decode = msgspec.msgpack.Decoder(Own).decode
        self._encode = msgspec.msgpack.Encoder().encode
        self.due: dict[int, float] = {}
        """By id: when each unanswered move was due."""
        self.settled = 0
        self.in_room = asyncio.Event()
        self.playing = True

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type is not WSMsgType.BINARY:
            return
        body = frame.get_payload_as_memoryview()
        kind = body[0]
        if kind == JOINED:
            transport.send(WSMsgType.BINARY, bytes([JOINED]))
            self.in_room.set()
        elif kind == MESSAGE:
            self._tally.frames += 1
            if bytes(body[:HEAD]) in OWN:
                self._seen(self._decode(body[HEAD:]).id)
        elif kind in (STATE, PATCH):
            self._tally.frames += 1

    def _seen(self, move: int) -> None:
        if move >> 24 != self._next >> 24:
            return
        now = time.perf_counter()
        due = self.due.pop(move, None)
        if due is None:
            self._tally.doubled += 1
            return
        self._tally.delays.append(now - due)
        if self._flat and self.playing:
            self.move(now)

    def move(self, due: float) -> None:
        self._next += 1
        self._tally.sent += 1
        self.due[self._next] = due
        body = Move(self._next, self._seat, (self._next + self._seat) % 16)
        self._transport.send(WSMsgType.BINARY, MOVE + self._encode(body))

    def leave(self) -> None:
        self._transport.disconnect(graceful=False)


class Lateness:
    """How late the loop comes to what is due, tick by tick; milliseconds."""

    def __init__(self) -> None:
        self.ticks: list[float] = []
        self._loop = asyncio.get_running_loop()
        self._at = self._loop.time()
        self._tick()

    def _tick(self) -> None:
        now = self._loop.time()
        self.ticks.append(max(0.0, now - self._at) * 1000)
        self._at = now + TICK
        self._handle = self._loop.call_at(self._at, self._tick)

    def stop(self) -> None:
        self._handle.cancel()


class Desk:
    """Where seats are given, asked over one connection: a client of the usual kind takes longer than the server."""

    REQUEST = (
        b"POST /matchmake/joinOrCreate/race HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )
    LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def seat(self) -> Seat:
        """Raises msgspec.ValidationError for an answer that gives none."""
        self._writer.write(self.REQUEST)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = self.LENGTH.search(head)
        body = await self._reader.readexactly(int(length[1]) if length else 0)
        return msgspec.json.decode(body, type=Seat)


async def joined(port: int, count: int, tally: Tally, flat: bool) -> list[Player]:
    """All players, in rooms of four."""
    players: list[Player] = []
    numbers = iter(range(1, count + 1))

    async def some() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        desk = Desk(reader, writer)
        for number in numbers:
            seat = await desk.seat()
            at = f"ws://127.0.0.1:{port}/{seat.process_id}/{seat.room_id}?sessionId={seat.session_id}"
            player = Player(number, tally, flat)
            await ws_connect(lambda player=player: player, at)
            await player.in_room.wait()
            players.append(player)
        writer.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(JOINING):
            group.create_task(some())
    return players


async def paced(players: Sequence[Player], rate: float) -> None:
    """Each makes its move when it is due, whatever became of the last one; one timer serves all."""
    dice = random.Random(1)
    phases = sorted((dice.random() / rate, number) for number, _ in enumerate(players))
    began = time.perf_counter()
    turn = 0
    while True:
        for phase, number in phases:
            due = began + phase + turn / rate
            while (wait := due - time.perf_counter()) > 0:  # noqa: ASYNC110 - timers may be early by a millisecond
                await asyncio.sleep(wait)
            players[number].move(due)
        turn += 1


def cpu(process: psutil.Process) -> float:
    """Seconds of CPU so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


async def play(args: argparse.Namespace) -> Played:
    server, own, tally = psutil.Process(args.pid), psutil.Process(), Tally()
    idle = server.memory_info().rss
    flat = args.rate == 0
    players = await joined(args.port, args.players, tally, flat)
    pacing: asyncio.Task[None] | None = None
    if flat:
        for player in players:
            player.move(time.perf_counter())
    else:
        pacing = asyncio.create_task(paced(players, args.rate))
    await asyncio.sleep(args.warm)
    tally.clear()
    lateness = Lateness()
    used, mine, began = cpu(server), cpu(own), time.perf_counter()
    await asyncio.sleep(args.seconds)
    took = time.perf_counter() - began
    used, mine = cpu(server) - used, cpu(own) - mine
    sent, frames, delays = tally.sent, tally.frames, [delay * 1000 for delay in tally.delays]
    lateness.stop()
    memory = server.memory_info().rss
    for player in players:
        player.playing = False
    if pacing is not None:
        pacing.cancel()
        await asyncio.wait([pacing])
    last = time.perf_counter() + DRAIN
    while any(player.due for player in players) and time.perf_counter() < last:  # noqa: ASYNC110 - one of thousands
        await asyncio.sleep(0.05)
    lost = sum(len(player.due) for player in players)
    for player in players:
        player.leave()
    share, lag = mine / took, percentile(lateness.ticks, 99)
    why = void(share, lag, sent / took, args.players * args.rate)
    return Played(
        cpu_us_per_move=round(1e6 * used / max(1, sent), 1),
        p50_ms=round(percentile(delays, 50), 2),
        p99_ms=round(percentile(delays, 99), 2),
        lost=lost,
        doubled=tally.doubled,
        void=bool(why),
        void_why=why,
        p90_ms=round(percentile(delays, 90), 2),
        p999_ms=round(percentile(delays, 99.9), 2),
        max_ms=round(max(delays, default=0.0), 2),
        moves_per_s=round(sent / took, 1),
        frames_per_s=round(frames / took, 1),
        server_cpu_share=round(used / took, 3),
        server_mb=round(memory / 1e6, 1),
        server_idle_mb=round(idle / 1e6, 1),
        generator_cpu_share=round(share, 3),
        generator_lag_p99_ms=round(lag, 2),
    )


def void(share: float, lag: float, moves_per_s: float, asked: float) -> str:
    """Why a run says nothing of the server, or "".  Flat out (`asked` 0) generator and server wait for each other.

    >>> void(0.4, 3.0, 4000, 4000), void(0.95, 3.0, 4000, 4000), void(0.95, 60.0, 20000, 0)
    ('', 'the generator used 95 % of its core', '')
    >>> void(0.4, 30.0, 4000, 4000), void(0.4, 3.0, 3000, 4000)
    ("the generator's loop was 30 ms late", 'only 75 % of the rate was reached')
    """
    if not asked:
        return ""
    if share > BUSY:
        return f"the generator used {share:.0%} of its core".replace("%", " %")
    if lag > LATE:
        return f"the generator's loop was {lag:.0f} ms late"
    if moves_per_s < SHORT * asked:
        return f"only {moves_per_s / asked:.0%} of the rate was reached".replace("%", " %")
    return ""


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.colyseus.load", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pid", type=int, required=True, help="the server's process")
    parser.add_argument("--players", type=int, default=400)
    parser.add_argument("--rate", type=float, default=1.0, help="moves a second of each; 0: flat out")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--warm", type=float, default=2.0, help="seconds of play before")
    gc.disable()  # its pauses would be counted as the server's
    played = uvloop.run(play(parser.parse_args(argv)))
    print(msgspec.json.encode(played).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
