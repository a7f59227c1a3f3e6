"""A room's frames, for whoever reads them here: seats, bots and TVs.

One NATS subscription a room and process, whatever the number of readers: several would
arrive out of order.  Each reader starts from a snapshot and takes the frames after it
by (epoch, number); a gap, a beacon that knows more, or dropped messages mean a new
snapshot, never a guess.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from nats.aio.subscription import Subscription

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.audience import Audience
from servicekit.bus import Bus, barrier
from servicekit.engines import EngineAway, Engines
from wire import frames, subjects

LINGER = 2.0
"""Seconds that a room's subscription outlives its last reader: phones come back."""
SILENCE = 3.5
"""Seconds without frame or beacon (one a second) after which readers ask whether they missed something."""
CHECKS_PER_SECOND = 500


class FeedCounts(msgspec.Struct):
    """For metrics."""

    frames: int = 0
    bad_frames: int = 0
    slow_consumers: int = 0
    snapshots: int = 0


class RoomFeed:
    """The one subscription, and its readers.  Made by `Feeds`."""

    def __init__(self, room: str, counts: FeedCounts) -> None:
        self.room = room
        self.users = 0
        self.heard_at = 0.0
        """Loop time of the last frame or beacon, or of the last check."""
        self.unsure = False
        """To be checked soon, whatever is heard."""
        self.audiences: list[Audience] = []
        self.subscription: Subscription | None = None
        self.heard_by_server = False
        """The server has the subscription for sure."""
        self.opening: asyncio.Task[None] | None = None
        self.closing: asyncio.TimerHandle | None = None
        self._counts = counts
        self._loop = asyncio.get_running_loop()
        self._views: dict[str, asyncio.Task[pb.Snapshot]] = {}
        self._next_views: dict[str, asyncio.Task[pb.Snapshot]] = {}

    def take(self, subject: str, data: bytes) -> None:
        """A NATS message of the room.  Never waits: fan-out to sockets is by their queues."""
        try:
            frame = frames.unpack(data)
            self.heard_at = self._loop.time()
            self._counts.frames += 1
            if frame.kind == frames.TABLE:
                for audience in tuple(self.audiences):
                    audience.take_table(frame)
            elif frame.kind == frames.SEAT:
                seat = int(subject.rpartition(".")[2])
                for audience in tuple(self.audiences):
                    audience.take_seat(seat, frame)
            elif frame.kind == frames.BEACON:
                beacon = msgspec.json.decode(frame.body, type=frames.Beacon)
                for audience in tuple(self.audiences):
                    audience.take_beacon(frame.epoch, beacon)
        except (frames.BadFrame, msgspec.DecodeError, ValueError) as error:
            self._counts.bad_frames += 1
            logs.logger(__name__).warning("a frame can't be understood", subject=subject, error=str(error))

    def doubt(self) -> None:
        """Messages were dropped here: every reader gets a snapshot."""
        for audience in tuple(self.audiences):
            audience.doubt()

    async def shared_view(self, table: str, ask: Callable[[], Awaitable[pb.Snapshot]]) -> pb.Snapshot:
        """One View of a table for all who ask before it starts; at most one is running and one is waiting."""
        waiting = self._next_views.get(table)
        if waiting is None:
            waiting = asyncio.create_task(self._run_view(table, self._views.get(table), ask))
            self._next_views[table] = waiting
            waiting.add_done_callback(_heard)
        return await asyncio.shield(waiting)

    async def _run_view(
        self, table: str, running: asyncio.Task[pb.Snapshot] | None, ask: Callable[[], Awaitable[pb.Snapshot]]
    ) -> pb.Snapshot:
        if running is not None:
            await asyncio.wait({running})
        mine = self._views[table] = self._next_views.pop(table)
        try:
            return await ask()
        finally:
            if self._views.get(table) is mine:
                del self._views[table]


def _heard(view: asyncio.Task[pb.Snapshot]) -> None:
    """A View that failed when all who asked for it were gone is nobody's."""
    if not view.cancelled():
        view.exception()


class Feeds:
    """All rooms that this process reads.  `seats` False: only what a TV's server may hear."""

    def __init__(self, nc: Bus, engines: Engines, *, seats: bool = True) -> None:
        self.engines = engines
        self.counts = FeedCounts()
        self._nc = nc
        self._subject = subjects.room_frames if seats else subjects.open_frames
        self._rooms: dict[str, RoomFeed] = {}
        self._watchdog: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._watchdog = asyncio.create_task(self._watch(), name="feeds-watchdog")
        if isinstance(self._nc, Bus):
            self._nc.slow_listeners.append(self._on_slow)
            self._nc.reconnect_listeners.append(self._check_all)

    async def stop(self) -> None:
        if isinstance(self._nc, Bus) and self._on_slow in self._nc.slow_listeners:
            self._nc.slow_listeners.remove(self._on_slow)
            self._nc.reconnect_listeners.remove(self._check_all)
        if self._watchdog is not None:
            self._watchdog.cancel()
            await asyncio.gather(self._watchdog, return_exceptions=True)
        for feed in self._rooms.values():
            if feed.closing is not None:
                feed.closing.cancel()
            for audience in tuple(feed.audiences):
                audience.close()
            if feed.subscription is not None:
                await self._nc.unlisten(feed.subscription)
        self._rooms.clear()
        await asyncio.gather(*self._closing, return_exceptions=True)

    @property
    def rooms(self) -> int:
        return len(self._rooms)

    async def enter(self, room: str) -> RoomFeed:
        """The room's feed, subscribed for sure; `leave` it once for each `enter`.

        Raises EngineAway when NATS can't be reached.
        """
        feed = self._rooms.get(room)
        if feed is None:
            feed = self._rooms[room] = RoomFeed(room, self.counts)
        feed.users += 1
        if feed.closing is not None:
            feed.closing.cancel()
            feed.closing = None
        try:
            if not feed.heard_by_server:
                if feed.opening is None:
                    feed.opening = asyncio.create_task(self._subscribe(feed))
                await asyncio.shield(feed.opening)
        except BaseException:
            self.leave(feed)
            raise
        return feed

    def leave(self, feed: RoomFeed) -> None:
        feed.users -= 1
        if feed.users == 0 and feed.closing is None:
            feed.closing = asyncio.get_running_loop().call_later(LINGER, self._close, feed)

    async def _subscribe(self, feed: RoomFeed) -> None:
        try:
            if feed.subscription is None:
                feed.subscription = await self._nc.listen(self._subject(feed.room), feed.take)
            await barrier(self._nc)
            feed.heard_at = asyncio.get_running_loop().time()
            feed.heard_by_server = True
        except Exception as error:
            raise EngineAway(f"nats: {error!r}") from error
        finally:
            feed.opening = None

    def _close(self, feed: RoomFeed) -> None:
        if feed.users or self._rooms.get(feed.room) is not feed:
            return
        del self._rooms[feed.room]
        if feed.subscription is not None:
            task = asyncio.create_task(self._nc.unlisten(feed.subscription))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _on_slow(self, subscription: Subscription) -> None:
        for feed in self._rooms.values():
            if feed.subscription is subscription:
                self.counts.slow_consumers += 1
                feed.doubt()

    def _check_all(self) -> None:
        """We were away for others: frames may be missing here, and our seats may have been given up."""
        for feed in self._rooms.values():
            feed.unsure = True

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        before = loop.time()
        while True:
            await asyncio.sleep(1.0)
            now, budget = loop.time(), CHECKS_PER_SECOND
            if now - before > SILENCE:  # this process slept
                self._check_all()
            before = now
            for feed in list(self._rooms.values()):
                if not feed.audiences or budget <= 0 or not (feed.unsure or now - feed.heard_at >= SILENCE):
                    continue
                feed.unsure, feed.heard_at = False, now
                budget -= len(feed.audiences)
                for audience in tuple(feed.audiences):
                    audience.check()
