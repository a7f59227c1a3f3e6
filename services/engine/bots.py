"""Bots' seats and their drivers: a seat whose driver is missing or silent is offered to the workers."""

from __future__ import annotations

import asyncio

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from servicekit.bus import Bus
from services.engine.metrics import EngineMetrics
from services.engine.owner import Owner
from services.engine.table import Member, Table
from wire import subjects
from wire.news import BotWanted, WorkerBeat

SILENT = 1.5
AGAIN = 1.0


class _Room:
    __slots__ = ("offers", "owner", "since", "table", "wanted_at")

    def __init__(self, owner: Owner, table: Table, since: float) -> None:
        self.owner, self.table, self.since = owner, table, since
        self.wanted_at: dict[int, float] = {}
        self.offers: dict[int, int] = {}
        """How often a seat was offered since it was driven last."""


class BotSeats:
    """Times are seconds of the loop's clock."""

    def __init__(self, bus: Bus, metrics: EngineMetrics) -> None:
        self._bus, self._metrics = bus, metrics
        self._rooms: dict[str, _Room] = {}
        self._heard: dict[str, float] = {}
        self._ended: set[str] = set()
        """Of those heard: the ones that said goodbye."""
        self._turn = 0
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        if self._subscription is None:
            self._subscription = await self._bus.subscribe(subjects.BOTS_BEAT, cb=self._beat)

    async def stop(self) -> None:
        if self._subscription is not None and not self._bus.is_closed:
            await self._subscription.unsubscribe()

    def opened(self, owner: Owner, table: Table) -> None:
        """A driver of before has a moment to be heard of."""
        if any(m.bot is not None for m in table.state.members):
            self._rooms[table.state.room] = _Room(owner, table, asyncio.get_running_loop().time())

    def touched(self, owner: Owner, table: Table) -> None:
        room = self._rooms.get(table.state.room)
        if room is None or room.table is not table:
            self.opened(owner, table)

    def forgotten(self, room: str) -> None:
        self._rooms.pop(room, None)

    async def tick(self) -> None:
        """Offer every seat that wants a driver, once a second."""
        now = asyncio.get_running_loop().time()
        for room in list(self._rooms.values()):
            if not room.owner.open or room.owner.busy:
                continue
            for m in room.table.state.members:
                if m.bot is None or self._driven(room, m, now):
                    room.offers.pop(m.seat, None)
                    continue
                if now - room.wanted_at.get(m.seat, 0.0) < AGAIN:
                    continue
                room.wanted_at[m.seat] = now
                await self._offer(room, m)
        for worker in [w for w, at in self._heard.items() if now - at > 60]:
            del self._heard[worker]
            self._ended.discard(worker)

    def _driven(self, room: _Room, m: Member, now: float) -> bool:
        return m.attached and now - self._heard.get(m.worker, room.since) < SILENT

    def _addressee(self, room: _Room, m: Member) -> str:
        """Any worker by the queue group; but a silent one, stopped or cut off, may sit in that still.

        Then one that is heard is asked by name, every other time: it may be full, or of an older release.
        """
        now = asyncio.get_running_loop().time()
        offers = room.offers.get(m.seat, 0)
        room.offers[m.seat] = offers + 1
        heard = [worker for worker, at in self._heard.items() if now - at < SILENT]
        silent = any(now - at >= SILENT and worker not in self._ended for worker, at in self._heard.items())
        if not (heard and silent) or offers % 2:
            return subjects.BOTS_WANTED
        self._turn += 1
        return subjects.bots_wanted_of(heard[self._turn % len(heard)])

    async def _offer(self, room: _Room, m: Member) -> None:
        s = room.table.state
        wanted = BotWanted(s.room, s.table, m.seat, m.player, m.bot or "", s.game, room.owner.partition.epoch)
        try:
            await self._bus.publish(self._addressee(room, m), msgspec.json.encode(wanted))
        except nats.errors.Error:
            return
        self._metrics.bot_wanted()

    async def _beat(self, message: Msg) -> None:
        try:
            beat = msgspec.json.decode(message.data, type=WorkerBeat)
        except msgspec.DecodeError:
            return
        now = asyncio.get_running_loop().time()
        self._heard[beat.worker] = now - SILENT if beat.gone else now
        if not beat.gone:
            self._ended.discard(beat.worker)
        else:
            self._ended.add(beat.worker)
            await self.tick()
