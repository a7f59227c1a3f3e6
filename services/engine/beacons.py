"""Beacons: the numbers of a room's last frames, told when it has been quiet for a second.

A reader that missed the last frame would otherwise never know; one that missed nothing
goes on without a snapshot, also after another engine took over.  A room that is never quiet
is told of too: a seat that nothing of its own happens to may have missed its last frame.
"""

from __future__ import annotations

import asyncio

import nats.errors

from servicekit.bus import Bus
from services.engine import frames
from services.engine.metrics import EngineMetrics
from services.engine.owner import Owner
from services.engine.table import Table

QUIET = 1.0
BUSY = 2.0
"""Seconds between two beacons of a room that is never quiet."""


class _Room:
    """`sent_at`: when anything was; `told_at`: when all its numbers were."""

    __slots__ = ("owner", "sent_at", "table", "told_at")

    def __init__(self, owner: Owner, table: Table, sent_at: float) -> None:
        self.owner, self.table, self.sent_at, self.told_at = owner, table, sent_at, sent_at


class Beacons:
    """All rooms of this engine.  Times are seconds of the loop's clock."""

    def __init__(self, bus: Bus, metrics: EngineMetrics) -> None:
        self._bus, self._metrics = bus, metrics
        self._rooms: dict[str, _Room] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    def opened(self, owner: Owner, table: Table) -> None:
        """Due at once."""
        self._rooms[table.state.room] = _Room(owner, table, 0.0)

    def touched(self, owner: Owner, table: Table) -> None:
        """Frames went out just now."""
        now = asyncio.get_running_loop().time()
        room = self._rooms.get(table.state.room)
        if room is None:
            self._rooms[table.state.room] = _Room(owner, table, now)
        else:
            room.owner, room.table, room.sent_at = owner, table, now

    def told(self, room: str, at: float) -> None:
        """Frames of this room went out, and it is the same table still."""
        here = self._rooms.get(room)
        if here is not None:
            here.sent_at = at

    def forgotten(self, room: str) -> None:
        self._rooms.pop(room, None)

    def all_due(self) -> None:
        """NATS was away: frames may have been lost in any room."""
        for room in self._rooms.values():
            room.sent_at = 0.0

    async def tick(self) -> None:
        """Send what is due; a room whose record is under way waits, its numbers are not committed yet."""
        if not self._bus.is_connected:
            return
        now = asyncio.get_running_loop().time()
        for room in list(self._rooms.values()):
            due = now - room.sent_at >= QUIET or now - room.told_at >= BUSY
            if not due or room.owner.busy or not room.owner.open:
                continue
            room.sent_at = room.told_at = now
            beacon = frames.beacon(room.table, room.owner.partition.epoch)
            try:
                await self._bus.publish(beacon.subject, beacon.data)
            except nats.errors.Error:
                return
            self._metrics.beacon_sent()
