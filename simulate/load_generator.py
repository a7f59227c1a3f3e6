"""One generator process of a load run: rooms full of simulated players, told what to do over its standard input.

One scheduler moves them all; there is no task per player.  Garbage collection is off
while the hold runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import resource
import sys
import time
from collections import Counter
from random import Random

import uvloop

from simulate.door import Closed, Door, check_loopback
from simulate.lateness import Lateness
from simulate.load_delays import Buckets, add, as_text, bucketed
from simulate.load_ending import compare
from simulate.load_orders import (
    Compare,
    Drained,
    Final,
    Hold,
    Order,
    Ready,
    RoomEnd,
    Second,
    Stop,
    line,
    order_decoder,
    say_decoder,
)
from simulate.load_room import Room
from simulate.load_schedule import Schedule
from simulate.load_seat import Seat
from simulate.load_spectator import Spectator
from simulate.load_tally import Tally

TICK = 0.001
"""Seconds: no timer of the loop is finer."""
PING_SLOTS = 50
"""Of a ping's period; each seat has one of them."""
DEALS_ABREAST = 8
OPEN_WITHIN = 60.0
"""Seconds for each step of a room's opening."""
RAMP_RATE = 0.25
"""Of the rate, while rooms still come in: those that are there play slowly, so that all are at different points."""
FULL_ROOMS = 1
"""Rooms in each process whose players have a full phone beside them."""
ABREAST_AT_END = 8
"""Rooms compared at once."""


class Generator:
    """`run` until its input ends or the final was said."""

    def __init__(self, order: Order, door: Door) -> None:
        self.order = order
        self.tally = Tally()
        self._door = door
        self._dice = Random(f"{order.seed}:{order.index}")
        self._flat_out = order.rate == 0
        self._schedule: Schedule[Seat] | None = None if self._flat_out else Schedule(order.rate * RAMP_RATE, self._dice)
        self.rooms: list[Room] = []
        self._spectators: list[Spectator] = []
        self._tv_url = order.tv_url
        self._scheduled: set[int] = set()
        self._slots: list[list[Seat]] = [[] for _ in range(PING_SLOTS)]
        self._homes: dict[Seat, Room] = {}
        self._timers: list[asyncio.TimerHandle] = []
        self._lateness = Lateness()
        self._hold: Hold | None = None
        self._hold_lag: Buckets = {}
        self._cpu_from = self._cpu_to = 0.0
        self._bytes_from = self._bytes_to = (0, 0)
        self._tasks: list[asyncio.Task[None]] = []

    # ---- the ramp ----

    async def ramp(self) -> None:
        """Open all rooms, a few at once, spread over the ramp's time."""
        order, loop = self.order, asyncio.get_running_loop()
        self._tv_url = order.tv_url or await self._door.watch_url()
        check_loopback(self._tv_url)
        self._lateness.start()
        self._tasks += [loop.create_task(self._seconds()), loop.create_task(self._pings())]
        if self._schedule is not None:
            loop.call_soon(self._tick)
        doors, deals = asyncio.Semaphore(order.abreast), asyncio.Semaphore(DEALS_ABREAST)
        began = loop.time()
        failed: list[str] = []

        async def one(number: int) -> None:
            await asyncio.sleep(max(0.0, began + order.ramp * number / order.rooms - loop.time()))
            room = Room(
                order.first_room + number,
                order.seats,
                self._door,
                self._dice,
                self.tally,
                flat_out=self._flat_out,
                full=number < FULL_ROOMS,
            )
            room.started = lambda: self._started(room)
            self.rooms.append(room)
            try:
                async with doors, asyncio.timeout(OPEN_WITHIN):
                    await room.open()
                for seat in room.seats:
                    self._slots[self._dice.randrange(PING_SLOTS)].append(seat)
                async with deals, asyncio.timeout(OPEN_WITHIN):
                    await room.deal()
                async with asyncio.timeout(OPEN_WITHIN):
                    await room.until(lambda: room.playing)
            except (OSError, TimeoutError, Closed) as error:
                failed.append(f"{error!r}, {room.described()}")
                room.stop()
                self.rooms.remove(room)
                return
            self._watch(number, room)

        await asyncio.gather(*(one(number) for number in range(order.rooms)))
        gc.collect()
        gc.freeze()
        self._say(Ready(len(self.rooms), len(failed), failed[0] if failed else ""))

    def _started(self, room: Room) -> None:
        """A hand went live: its players' moves are due from now on."""
        now = time.monotonic()
        for seat in room.seats:
            self._homes[seat] = room
            if self._schedule is None:
                seat.kick(now)
            elif id(seat) not in self._scheduled:
                self._scheduled.add(id(seat))
                self._schedule.add(seat, now)

    def _watch(self, number: int, room: Room) -> None:
        order = self.order
        for _ in range(order.tvs // order.rooms + (number < order.tvs % order.rooms)):
            slow = self._dice.random() < order.slow
            url = self._tv_url.rstrip("/").replace("http", "ws", 1) + "/tv"
            tv = Spectator(url, room.code, room.picture, Random(self._dice.random()), self.tally, slow)
            self._spectators.append(tv)
            tv.start()

    # ---- moves ----

    def _tick(self) -> None:
        schedule = self._schedule
        assert schedule is not None
        now = time.monotonic()
        homes = self._homes
        for due, seat in schedule.due(now):
            if homes[seat].playing and not seat.asleep:
                seat.due(due)
        next_at = schedule.next_at
        wait = TICK if next_at is None else max(TICK, next_at - time.monotonic())
        asyncio.get_running_loop().call_later(min(wait, 0.05), self._tick)

    async def _pings(self) -> None:
        slot = 0
        every = self.order.ping or 5.0
        while True:
            await asyncio.sleep(every / PING_SLOTS)
            slot = (slot + 1) % PING_SLOTS
            if self.order.ping:
                for seat in self._slots[slot]:
                    seat.ping()
            for room in self.rooms[slot % 10 :: 10]:  # once a second
                room.steer()

    # ---- the hold ----

    def hold(self, hold: Hold) -> None:
        self._hold = hold
        self.tally.hold_it(hold.start, hold.end)
        gc.collect()
        gc.freeze()
        gc.disable()
        if self._schedule is not None:
            self._schedule.faster(self.order.rate, time.monotonic())
        loop = asyncio.get_running_loop()
        late = loop.time() - time.monotonic()
        loop.call_at(hold.start + late, self._hold_begins)
        loop.call_at(hold.end + late, self._hold_ends)
        if hold.spike != 1 and self._schedule is not None:
            rate = self.order.rate
            loop.call_at(hold.spike_from + late, self._schedule.faster, rate * hold.spike, hold.spike_from)
            loop.call_at(hold.spike_to + late, self._schedule.faster, rate, hold.spike_to)
        self._troubles(hold, late)

    def _hold_begins(self) -> None:
        self._lateness.take()
        self._cpu_from = time.process_time()
        self._bytes_from = (self.tally.received, self.tally.sent)
        self._hold_lag = {}

    def _hold_ends(self) -> None:
        add(self._hold_lag, bucketed(self._lateness.take()[0]))
        self._cpu_to = time.process_time()
        self._bytes_to = (self.tally.received, self.tally.sent)

    def _troubles(self, hold: Hold, late: float) -> None:
        """Reconnects, sleeping tabs and slow readers, at their own times in the hold."""
        loop, order, dice = asyncio.get_running_loop(), self.order, self._dice
        long = hold.end - hold.start
        for room in self.rooms:
            for seat in room.seats:
                if dice.random() < order.reconnects:
                    loop.call_at(hold.start + late + dice.random() * long, seat.drop)
                elif dice.random() < order.sleepers:
                    at, until = sorted((dice.random() * long, dice.random() * long))
                    loop.call_at(hold.start + late + at, seat.sleep)
                    loop.call_at(hold.start + late + until, seat.wake)
        for tv in self._spectators:
            if tv.slow:
                loop.call_at(hold.start + late, tv.stop_reading)
                loop.call_at(hold.end + late, tv.read_on)

    def _counts(self) -> dict[str, int]:
        tally = self.tally
        return {
            "due": tally.due,
            "moves": tally.moves,
            "answered": tally.answered,
            "refused": sum(tally.refusals.values()),
            "errors": sum(tally.errors.values()),
            "reconnects": tally.reconnects,
        }

    async def _seconds(self) -> None:
        """Tell what was counted, once a second."""
        tally = self.tally
        before = self._counts()
        received, cpu, at = 0, time.process_time(), time.monotonic()
        while True:
            await asyncio.sleep(round(at) + 1 - time.monotonic())  # a timer may fire a little too soon
            now, used = time.monotonic(), time.process_time()
            counts = self._counts()
            got = tally.received
            lag = bucketed(self._lateness.take()[0])
            if tally.start <= now < tally.end:
                add(self._hold_lag, lag)
            players = sum(len(room.seats) for room in self.rooms if room.playing)
            watching = sum(tv.live for tv in self._spectators)
            new = {name: count - before[name] for name, count in counts.items()}
            share = (used - cpu) / (now - at)
            self._say(
                Second(
                    at=now,
                    players=players,
                    spectators=watching,
                    received=got - received,
                    lag=lag,
                    cpu=share,
                    delays=tally.second(),
                    **new,
                )
            )
            before, received, cpu, at = counts, got, used, now

    # ---- the end ----

    async def stop(self, stop: Stop) -> None:
        """Nobody moves; wait for the answers."""
        if self._schedule is not None:
            self._schedule.clear()
        for room in self.rooms:
            room.stop()
        gc.enable()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(stop.within):
                await asyncio.gather(*(room.until_quiet() for room in self.rooms))
        self._say(Drained(sum(len(seat.pending) for room in self.rooms for seat in room.seats)))

    async def end(self) -> None:
        """Compare all rooms and say everything."""
        url = self._door.url.replace("http", "ws", 1) + "/ws"
        compared: Counter[str] = Counter()
        ends: list[RoomEnd] = []
        gate = asyncio.Semaphore(ABREAST_AT_END)

        async def one(room: Room) -> None:
            async with gate:
                ends.append(await compare(room, url, self.tally, compared))

        await asyncio.gather(*(one(room) for room in self.rooms))
        for tv in self._spectators:
            tv.leave()
        tally = self.tally
        tally.second()
        contested = [room.picture.contested for room in self.rooms]
        self._say(
            Final(
                players=sum(len(room.seats) for room in self.rooms),
                moves=tally.moves,
                answered=tally.answered,
                hold_due=tally.hold_due,
                hold_moves=tally.hold_moves,
                hold_idle=tally.hold_idle,
                lost=tally.lost,
                doubled=tally.doubled,
                gaps=tally.gaps,
                hold_received=self._bytes_to[0] - self._bytes_from[0],
                hold_sent=self._bytes_to[1] - self._bytes_from[1],
                won=sum(len(spots) for spots in contested),
                snatched=tally.refusals["snatched"],
                refusals=dict(tally.refusals),
                errors=dict(tally.errors),
                closes=dict(tally.closes),
                hands=dict(tally.hands),
                compared=dict(compared),
                told=tally.told,
                delays={name: as_text(buckets) for name, buckets in tally.hold.items()},
                cpu=self._cpu_to - self._cpu_from,
                lag=as_text(self._hold_lag),
                rooms=ends,
            )
        )

    def _say(self, message: Second | Ready | Drained | Final) -> None:
        sys.stdout.buffer.write(line(message))
        sys.stdout.buffer.flush()


async def run() -> None:
    """Obey what comes on standard input until it ends."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a player is an open file
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    order = order_decoder.decode(await reader.readline())
    async with Door(order.url) as door:
        generator = Generator(order, door)
        ramp = loop.create_task(generator.ramp())
        ramp.add_done_callback(lambda done: reader.feed_eof() if not done.cancelled() and done.exception() else None)
        while data := await reader.readline():
            match say_decoder.decode(data):
                case Hold() as hold:
                    await ramp
                    generator.hold(hold)
                case Stop() as stop:
                    await generator.stop(stop)
                case Compare():
                    await generator.end()
                    return
        if ramp.done():
            ramp.result()  # why it ended before its time


if __name__ == "__main__":
    uvloop.run(run())
