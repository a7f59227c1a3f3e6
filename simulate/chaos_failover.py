"""The failover of an engine that holds every room: its only heir has just come, and gets all of them at once."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nats.aio.msg import Msg

from servicekit import bus
from simulate.faults import Fault, Faulter, Hit, NoParts
from simulate.vigil import Stack
from wire import subjects

UP_WITHIN = 4.0
"""Seconds after an engine's first lease; it is given its share when it was there for 5 s."""

Raise = Callable[[Path, Mapping[str, int]], Any]


class Failover(Faulter):
    """A second engine is started, and as soon as it is ready the first is killed.

    That is before the heir is given anything: it claims all partitions of the dead.
    """

    def __init__(self, state: Callable[[], Stack | None], stack: Stack, raise_to: Raise) -> None:
        super().__init__(state, "engine")
        self._stack, self._raise_to = stack, raise_to

    async def hit(self, fault: Fault, hold: float, patience: float = 60.0) -> Hit:
        """Raises NoParts when the heir never comes."""
        await self.until_ready(patience)
        parts = self.parts()
        if len(parts) != 1:
            raise NoParts(f"{len(parts)} engines run: a failover begins with one")
        first = parts[0]
        heir = f"engine-{int(str(first['name']).rpartition('-')[2]) + 1}"
        raised = asyncio.create_task(asyncio.to_thread(self._raise_to, Path(self._stack["data"]), {"engine": 2}))
        try:
            await asyncio.wait_for(self._lease(heir), patience)
            await self._up(heir)
            hit = Hit(str(first["name"]), fault, time.monotonic(), time.time())
            os.kill(first["pid"], getattr(signal, f"SIG{fault}"))
        except TimeoutError:
            raise NoParts(f"{heir} never had a lease") from None
        finally:
            await asyncio.gather(raised, return_exceptions=True)
        hit.over = hit.at
        self.hits.append(hit)
        await self.until_ready(patience, first["restarts"] + 1)
        hit.ready = time.monotonic()
        return hit

    async def _up(self, engine: str) -> None:
        """Until its deal workers are there too, or it will soon be given its share."""
        until = time.monotonic() + UP_WITHIN
        while time.monotonic() < until:
            if any(p["name"] == engine and p["state"] == "ready" for p in self.parts()):
                return
            await asyncio.sleep(0.05)

    async def _lease(self, engine: str) -> None:
        """Returns at the first lease of an engine."""
        seen = asyncio.Event()

        async def hear(message: Msg) -> None:
            seen.set()

        nc = await bus.connect(self._stack["nats_url"], "failover")
        try:
            await nc.subscribe(f"own.{subjects.lease_key(engine)}", cb=hear)
            await seen.wait()
        finally:
            await nc.close()
