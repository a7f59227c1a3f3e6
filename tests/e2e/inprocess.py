"""All five services in one process, on a real nats-server and a real Valkey.

async with stack_in_process(tmp_path) as stack:
    ...  # stack.url, stack.watch_url, stack.rooms, stack.bots, …
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from servicekit.run import Service
from services.bots.app import Bots
from services.bots.settings import BotsSettings
from services.engine.app import Engine
from services.engine.settings import EngineSettings, SetupSettings
from services.engine.setup import set_up
from services.gateway.app import Gateway
from services.gateway.settings import GatewaySettings
from services.rooms.app import Rooms
from services.rooms.settings import RoomsSettings
from services.watch.app import Watch
from services.watch.settings import WatchSettings
from tests.deployed import Clients
from tests.servers import NatsServer, RedisServer

SECRET = "a secret for the tests"


@dataclass
class Stack:
    """What runs; tests may stop and start its parts."""

    nats: NatsServer
    redis: RedisServer
    engines: list[Engine] = field(default_factory=list)
    rooms: list[Rooms] = field(default_factory=list)
    bots: list[Bots] = field(default_factory=list)
    gateways: list[Gateway] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)
    clients: Clients | None = None
    """Whom the servers know, where they ask."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.gateways[0].port}"

    @property
    def watch_url(self) -> str:
        return f"http://127.0.0.1:{self.watches[0].port}"

    def common(self, kind: str, number: int) -> dict[str, Any]:
        """Settings that every service of this stack has."""
        said = self.clients.settings(kind) if self.clients is not None else {}
        return {"nats_url": self.nats.url, "instance": f"{kind}-{number}", "ops_port": 0, **said}


@asynccontextmanager
async def stack_in_process(
    folder: Path,
    *,
    engines: int = 1,
    gateways: int = 1,
    bots: int = 1,
    rooms_settings: dict[str, Any] | None = None,
    redis_keeps: bool = False,
    engine: Callable[[EngineSettings], Engine] = Engine,
    gateway: Callable[[GatewaySettings], Gateway] = Gateway,
    watch: Callable[[WatchSettings], Watch] = Watch,
    clients: Clients | None = None,
) -> AsyncIterator[Stack]:
    """A stack that is ready for a room to be hosted and dealt; it ends in order, leaving nothing.

    `engine` makes the engines, for tests that give them deals or a clock of their own; `gateway`, `watch` likewise.
    `clients`: NATS and Redis let in these alone.
    """
    nats = NatsServer(_folder(folder, "nats"), clients.nats if clients is not None else ())
    redis = RedisServer(_folder(folder, "valkey"), clients.redis if clients is not None else (), keeps=redis_keeps)
    async with AsyncExitStack() as ending:
        for server in (nats, redis):
            await asyncio.to_thread(server.start)
            ending.callback(server.stop)
        stack = Stack(nats, redis, clients=clients)
        await set_up(SetupSettings(**stack.common("setup", 1)))

        async def started(service: Service) -> None:
            ending.push_async_callback(service.stop)
            await service.start()

        for number in range(1, engines + 1):
            stack.engines.append(engine(EngineSettings(**stack.common("engine", number))))
            await started(stack.engines[-1])
        stack.rooms.append(
            Rooms(
                RoomsSettings(**stack.common("rooms", 1), redis_url=redis.url, secret=SECRET, **(rooms_settings or {}))
            )
        )
        await started(stack.rooms[0])
        for number in range(1, bots + 1):
            stack.bots.append(Bots(BotsSettings(**stack.common("bots", number))))
            await started(stack.bots[-1])
        web: dict[str, Any] = {"rooms_addr": f"127.0.0.1:{stack.rooms[0].port}"}
        stack.watches.append(watch(WatchSettings(**stack.common("watch", 1), **web, watch_port=0)))
        await started(stack.watches[0])
        for number in range(1, gateways + 1):
            settings = GatewaySettings(**stack.common("gateway", number), **web, port=0, secret=SECRET)
            stack.gateways.append(gateway(settings))
            await started(stack.gateways[-1])
        await all_ready([*stack.engines, *stack.rooms, *stack.bots, *stack.watches, *stack.gateways])
        yield stack


async def all_ready(services: list[Any], seconds: float = 30.0) -> None:
    """Wait until every service says that nothing is missing.  Raises AssertionError with what is."""
    missing: str | None = "not asked"
    for service in services:
        try:
            async with asyncio.timeout(seconds):
                while (missing := await service.ready()) is not None:  # noqa: ASYNC110 - it is asked for, not told
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"{type(service).__name__} is not ready: {missing}") from None


def _folder(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir(parents=True, exist_ok=True)
    return made
