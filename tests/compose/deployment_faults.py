"""What befalls a whole deployment while players play: all of it goes and comes back; all of it is released anew."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable

from simulate.faults import Fault, Hit, NoParts
from tests.compose.deployment import Deployment


class Whole:
    """`befall` blocks until all is healthy again."""

    def __init__(self, befall: Callable[[], None]) -> None:
        self._befall = befall
        self.hits: list[Hit] = []

    async def hit(self, fault: Fault, hold: float) -> Hit:
        """Raises NoParts."""
        hit = Hit("everything", fault, time.monotonic(), time.time())
        self.hits.append(hit)
        try:
            await asyncio.to_thread(self._befall)
        except subprocess.CalledProcessError as error:
            raise NoParts(f"{fault}: {error.stderr}") from error
        hit.over = hit.ready = time.monotonic()
        return hit

    def wake(self) -> None:
        """Nobody is held."""


def taken_down_and_up(deployment: Deployment, codes: dict[str, set[int]]) -> Callable[[], None]:
    """All ends on SIGTERM, goes with its networks, and is made anew; `codes`: what each service ended with."""

    def befall() -> None:
        deployment.stop()
        for container in deployment.containers():
            codes.setdefault(container.service, set()).add(container.exit_code)
        deployment.away()
        deployment.up()

    return befall
