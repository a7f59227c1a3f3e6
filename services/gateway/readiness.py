"""Whether a room can be hosted and dealt, and if not, what is missing."""

from __future__ import annotations

import asyncio

from nats.aio.client import Client

from servicekit.engines import Engines
from servicekit.rooms_client import RoomsClient

KEPT = 0.5
"""Seconds that an answer is good for: anyone may ask on the public port."""


class Readiness:
    """Looks at NATS, rooms and engines, at most every KEPT seconds."""

    def __init__(self, nc: Client, rooms: RoomsClient, engines: Engines) -> None:
        self._nc = nc
        self._rooms = rooms
        self._engines = engines
        self._answer: tuple[float, str | None] = (-1.0, None)
        self._lock = asyncio.Lock()

    async def ready(self) -> str | None:
        """None when it can; else the first thing missing, in words."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        async with self._lock:
            # Whoever waited while others looked has its answer: a slow look isn't done once for each.
            if asked - self._answer[0] > KEPT:
                found = await self._look()
                self._answer = (loop.time(), found)
            return self._answer[1]

    async def _look(self) -> str | None:
        if not self._nc.is_connected:
            return "NATS is away"
        if (why := await self._rooms.ready()) is not None:
            return why
        missing = await self._engines.placement.without_owner()
        if missing:
            return f"no engine serves {len(missing)} of the partitions yet"
        silent = await self._engines.silent()
        if silent:
            return f"engines that don't answer, or whose log doesn't: {', '.join(silent)}"
        return None
