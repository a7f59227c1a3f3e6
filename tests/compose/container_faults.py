"""Faults for a deployment's containers, one service at a time, while players play."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
from collections.abc import Awaitable, Callable

from simulate.faults import Fault, Hit, NoParts
from tests.compose import containers
from tests.compose.containers import Container
from tests.compose.deployment import REPLICAS, Deployment

LOOK_EVERY = 0.5
WELL_WITHIN = 90.0
"""Seconds until Docker says that a service is healthy again: it looks every few seconds only."""


class ContainerFaulter:
    """Hits one service's containers, each in its turn."""

    def __init__(self, deployment: Deployment, service: str) -> None:
        self._deployment, self.service = deployment, service
        self._turn = 0
        self._held: list[Container] = []
        """Paused, or cut off."""
        self.hits: list[Hit] = []

    async def hit(self, fault: Fault, hold: float) -> Hit:
        """Returns when all of the service is healthy again.  `hold`: seconds of a PAUSE or a CUT.  Raises NoParts."""
        there = await self._until_well()
        target = there[self._turn % len(there)]
        self._turn += 1
        part = self.service if fault == "SCALE" else target.host
        hit = Hit(part, fault, time.monotonic(), time.time())
        self.hits.append(hit)
        befall: dict[Fault, Callable[[Container, float], Awaitable[None]]] = {
            "KILL": self._kill,
            "PAUSE": self._pause,
            "CUT": self._cut,
            "RESTART": self._restart,
            "SCALE": self._scale,
        }
        try:
            await befall[fault](target, hold)
        except subprocess.CalledProcessError as error:
            raise NoParts(f"{self.service} {fault}: {error.stderr}") from error
        hit.over = time.monotonic()
        await self._until_well()
        hit.ready = time.monotonic()
        return hit

    def wake(self) -> None:
        """Nobody stays paused or cut off."""
        held, self._held = self._held, []
        for container in held:
            with contextlib.suppress(subprocess.CalledProcessError):
                containers.mend(container)
            with contextlib.suppress(subprocess.CalledProcessError):
                containers.unpause(container)

    async def _kill(self, target: Container, hold: float) -> None:
        await asyncio.to_thread(containers.crash, target)
        await self._until(lambda there: any(c.id == target.id and c.started != target.started for c in there))

    async def _restart(self, target: Container, hold: float) -> None:
        await asyncio.to_thread(containers.restart, target)

    async def _pause(self, target: Container, hold: float) -> None:
        self._held.append(target)
        await asyncio.to_thread(containers.pause, target)
        await asyncio.sleep(hold)
        await asyncio.to_thread(containers.unpause, target)
        self._held.remove(target)

    async def _cut(self, target: Container, hold: float) -> None:
        self._held.append(target)
        await asyncio.to_thread(containers.cut, target)
        await asyncio.sleep(hold)
        await asyncio.to_thread(containers.mend, target)
        self._held.remove(target)

    async def _scale(self, target: Container, hold: float) -> None:
        """One more, then one alone, then as it was; what there is one of goes, and is made anew on its volume."""
        usual = REPLICAS.get(self.service, 1)
        for replicas in (usual + 1, 1, usual) if usual > 1 else (0, 1):
            await asyncio.to_thread(self._deployment.scale, self.service, replicas)
            await self._until_well(replicas)

    async def _until_well(self, replicas: int | None = None) -> list[Container]:
        """So many of them, else as many as usual."""
        wanted = REPLICAS.get(self.service, 1) if replicas is None else replicas
        return await self._until(lambda there: len(there) == wanted and all(c.well for c in there))

    async def _until(self, holds: Callable[[list[Container]], bool]) -> list[Container]:
        """Raises NoParts when it takes too long."""
        until = time.monotonic() + WELL_WITHIN
        while True:
            there = await asyncio.to_thread(self._deployment.containers, self.service)
            if holds(there):
                return there
            if time.monotonic() > until:
                said = ", ".join(f"{c.name}: {c.state} {c.health}" for c in there)
                raise NoParts(f"{self.service} {said or 'has no container'}")
            await asyncio.sleep(LOOK_EVERY)
