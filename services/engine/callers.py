"""The processes whose sockets the players are on: when one is gone without a word, so are its players.

A gateway that is killed sends no detach.  It beats once a second; after some silence each
of its sessions is detached like any socket that closed: absent at once, 15 s of grace.
"""

from __future__ import annotations

import asyncio

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from servicekit.bus import Bus
from services.engine.items import DropItem
from services.engine.owner import Owner
from wire import subjects
from wire.news import CallerBeat

SILENT = 5.0
MAX_WAITING = 256
"""Items in a partition's queue beyond which it is told at a later look."""
_COUNTED_AT_MOST = 1.0
"""Of the time between two looks: an engine that slept has heard nobody meanwhile."""


class Callers:
    """Silence is counted between looks while NATS is there, so that its absence is nobody's death."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._silence: dict[str, float] = {}
        self._looked_at = 0.0
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        if self._subscription is None:
            self._subscription = await self._bus.subscribe(subjects.CALLERS_BEAT, cb=self._hear)

    async def stop(self) -> None:
        if self._subscription is not None and not self._bus.is_closed:
            await self._subscription.unsubscribe()

    def look(self, owners: list[Owner]) -> None:
        """Count, and detach the players of callers that are silent for too long."""
        now = asyncio.get_running_loop().time()
        passed = min(now - self._looked_at, _COUNTED_AT_MOST)
        self._looked_at = now
        if not self._bus.is_connected:
            return
        used: set[str] = set()
        for owner in owners:
            here = {
                m.via
                for room in owner.ledger.rooms.values()
                for m in room.table.state.members
                if m.attached and m.bot is None and m.via
            }
            used |= here
            for caller in sorted(here):
                if self._silence.get(caller, 0.0) >= SILENT and owner.depth < MAX_WAITING:
                    owner.submit(DropItem(caller))
        self._silence = {caller: self._silence.get(caller, 0.0) + passed for caller in used}

    async def _hear(self, message: Msg) -> None:
        try:
            beat = msgspec.json.decode(message.data, type=CallerBeat)
        except msgspec.DecodeError:
            return
        if beat.caller in self._silence:
            self._silence[beat.caller] = SILENT if beat.gone else 0.0
