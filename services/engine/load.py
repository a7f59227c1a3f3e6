"""What an engine holds and can hold, told to rooms: new ones are refused before those at play are slowed."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

import msgspec
import nats.errors

from servicekit import logs
from servicekit.bus import Bus
from wire import subjects
from wire.news import EngineLoad

EVERY = 0.5
"""Seconds between two times that it is told."""
OVER = 10.0
"""Seconds over which the processor's time is looked at: a start or a takeover is no strain, an evening is."""
EASED = 0.85
"""Of the busy share that is the bound: no longer strained below it, so that it isn't now this, now that."""


class Strain:
    """Whether this process has had no time to spare for a while.  Seconds of any clocks that only go forward."""

    def __init__(self, most: float) -> None:
        """`most`: the share of one core's time that it may use; 0: any."""
        self._most = most
        self._looks: deque[tuple[float, float]] = deque()
        self.busy = 0.0
        """The share used in the last OVER seconds; 1: one core, wholly."""
        self.strained = False

    def look(self, now: float, used: float) -> None:
        """`used`: seconds of processor time since this process began."""
        self._looks.append((now, used))
        while len(self._looks) > 1 and now - self._looks[1][0] >= OVER:
            self._looks.popleft()
        since, before = self._looks[0]
        self.busy = (used - before) / (now - since) if now > since else 0.0
        if not self._most or now - since < OVER:
            return
        self.strained = self.busy >= self._most * (EASED if self.strained else 1.0)


class Load:
    """Tells it until `stop`.  `tables`: how many are open now; `most`: how many are to be at once."""

    def __init__(
        self, bus: Bus, engine: str, tables: Callable[[], int], most: int, strain: Strain, every: float = EVERY
    ) -> None:
        self._bus, self._engine, self._tables, self._most, self._strain = bus, engine, tables, most, strain
        self._every = every
        self._task: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="engine-load")

    async def stop(self) -> None:
        """It takes nothing any more: others may be full from now on."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
            await self._say(gone=True)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            was = self._strain.strained
            self._strain.look(loop.time(), time.process_time())
            if self._strain.strained != was:
                self._log.warning(
                    "this engine has no time for more tables" if not was else "this engine has time for more tables",
                    busy=round(self._strain.busy, 2),
                    tables=self._tables(),
                )
            await self._say(gone=False)
            await asyncio.sleep(self._every)

    async def _say(self, *, gone: bool) -> None:
        if not self._bus.is_connected:
            return
        load = EngineLoad(self._engine, self._tables(), self._most, self._strain.strained, gone)
        try:
            await self._bus.publish(subjects.ENGINE_LOAD, msgspec.json.encode(load))
        except nats.errors.Error as error:
            self._log.warning("the load could not be told", why=repr(error))
