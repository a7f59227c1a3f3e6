"""A gateway and a watch under test: a real NATS, and twins of engine and rooms."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from nats.aio.subscription import Subscription

from servicekit import bus
from services.gateway.app import Gateway
from services.gateway.settings import GatewaySettings
from services.watch.app import Watch
from services.watch.settings import WatchSettings
from tests.servers import NatsServer
from tests.services.phone import Phone
from tests.services.twin_engine import TwinEngine, TwinTable, TwinTables
from tests.services.twin_rooms import SECRET, TwinRooms

ROOM = "BCDFG"


class Stage:
    """Everything a test may take hold of."""

    def __init__(self, nats: NatsServer, nc: bus.Bus) -> None:
        self.nats = nats
        self.nc = nc
        self.tables = TwinTables()
        self.engine = TwinEngine(nc, self.tables)
        self.rooms = TwinRooms(nc)
        self.gateway: Gateway
        self.watch: Watch
        self._more: list[Any] = []

    async def another_engine(self, name: str) -> TwinEngine:
        """Started, owning nothing, with the same tables."""
        engine = TwinEngine(self.nc, self.tables, name)
        await engine.start()
        self._more.append(engine)
        return engine

    async def another_gateway(self, **settings: Any) -> Gateway:
        gateway = Gateway(self.gateway_settings(**settings))
        await gateway.start()
        self._more.append(gateway)
        return gateway

    def gateway_settings(self, **settings: Any) -> GatewaySettings:
        known: dict[str, Any] = {
            "nats_url": self.nats.url,
            "secret": SECRET,
            "port": 0,
            "rooms_addr": self.rooms.addr,
        }
        return GatewaySettings(**(known | settings))

    def at_table(self, *players: str) -> TwinTable:
        """The room, with these players at a live table."""
        self.rooms.room(ROOM, *players, table="t1")
        return self.tables.open(ROOM)

    def phone(self, gateway: Gateway | None = None, **options: Any) -> Phone:
        return Phone(f"ws://127.0.0.1:{(gateway or self.gateway).port}/ws", **options)

    @asynccontextmanager
    async def seated(self, player: str, gateway: Gateway | None = None, tab: int = 1) -> AsyncIterator[Phone]:
        """A phone that has said hello and been shown its table."""
        async with self.phone(gateway) as phone:
            await phone.hello(self.rooms.token(ROOM, player), tab=tab)
            await phone.until("snapshot")
            yield phone

    def tv(self) -> Phone:
        return Phone(f"ws://127.0.0.1:{self.watch.port}/tv")

    def http(self, gateway: Gateway | None = None) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"http://127.0.0.1:{(gateway or self.gateway).port}", trust_env=False)

    async def end(self) -> None:
        for thing in reversed(self._more):
            await thing.stop()


def frames_heard(service: Gateway | Watch) -> list[Subscription]:
    """A service's subscriptions to frames of rooms."""
    assert service.upstream is not None
    return [x for x in service.upstream.nc._subs.values() if x.subject.startswith("f.")]


@asynccontextmanager
async def stage(
    new_nats: Callable[[], NatsServer], web: Path | None = None, *, watch: bool = False, **settings: Any
) -> AsyncIterator[Stage]:
    """`settings` are the gateway's (and watch's) own; a folder for the web client may be given."""
    nats = new_nats()
    nc = await bus.connect(nats.url, "stage")
    s = Stage(nats, nc)
    await s.engine.start()
    await s.engine.claim()
    await s.rooms.start()
    if web is not None:
        settings["web_dir"] = web
    if watch:
        s.watch = Watch(
            WatchSettings(nats_url=nats.url, rooms_addr=s.rooms.addr, watch_port=0, host="127.0.0.1", **settings)
        )
        await s.watch.start()
    else:
        s.gateway = Gateway(s.gateway_settings(**settings))
        await s.gateway.start()
    try:
        yield s
    finally:
        await s.end()
        await (s.watch if watch else s.gateway).stop()
        await s.rooms.stop()
        await s.engine.stop()
        await nc.close()
