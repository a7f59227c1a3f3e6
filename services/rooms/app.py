"""Rooms, wired: the only place that builds its parts."""

from __future__ import annotations

import asyncio

import grpc
import nats.errors

from generated.snatch.rooms.v1 import rooms_pb2_grpc
from servicekit import bus, logs, rpc
from servicekit.ending import in_order
from servicekit.engines import Engines
from services.rooms.changes import Changes
from services.rooms.clock import Clock
from services.rooms.engine import EngineTables, Tables
from services.rooms.house import House
from services.rooms.live_tables import LiveTables
from services.rooms.lobbies import Lobbies
from services.rooms.metrics import RoomsMetrics
from services.rooms.news import News
from services.rooms.reconcile import Reconciler
from services.rooms.rpc import MAX_MESSAGE, RoomsServicer
from services.rooms.settings import RoomsSettings
from services.rooms.store import Store

_STOP_GRACE = 1.0
CONNECTIONS_LAST = 30.0
"""Seconds in which a worker more is found by those who ask rooms by a name that stands for all of them."""


class Rooms:
    """One worker of any number: all they know is in Redis.

    Starts without Redis, and serves as soon as there is one.
    """

    def __init__(self, settings: RoomsSettings, tables: Tables | None = None) -> None:
        """`tables`: others than the deployment's engines."""
        self._settings = settings
        self._tables = tables
        self._metrics = RoomsMetrics()
        self.registry = self._metrics.registry
        self.instance = settings.instance
        self.port = 0
        """The gRPC port, once started."""
        self._nc: bus.Bus | None = None
        self._engines: Engines | None = None
        self._store: Store | None = None
        self._clock: Clock | None = None
        self.reconciler: Reconciler | None = None
        self._news: News | None = None
        self._house: House | None = None
        self._server: grpc.aio.Server | None = None
        self._redis_away: str | None = "Redis has not been asked yet"
        self._away_since: float | None = None
        self._log = logs.logger(__name__)

    async def start(self) -> None:
        settings, times = self._settings, self._settings.times
        self._store = Store(
            settings.redis_url,
            settings.instance,
            times,
            self._redis_told,
            patience=settings.redis_patience,
            credentials=settings.redis_credentials,
        )
        self._metrics.watch_store(self._store)
        self._nc = await bus.connect(
            settings.nats_url, f"rooms {settings.instance}", credentials=settings.nats_credentials
        )
        self._engines = Engines(self._nc, f"rooms {settings.instance}", timeout=settings.engine_patience)
        await self._engines.start()
        self._metrics.ties.watch_nats(self._nc)
        self._metrics.ties.watch_calls(engine=self._engines.call_counts)
        tables = self._tables or EngineTables(self._engines, settings.engine_patience)
        rooms = Changes(self._store, tables, self._publish, times, self._metrics)
        self._house = House(settings.rooms_most, self._engines.placement.owner, self._metrics)
        await self._house.start(self._nc)
        live = LiveTables(tables, rooms, times, self._metrics)
        lobbies = Lobbies(self._store, settings.tokens, tables, rooms, self._house, live, times, self._metrics)
        self._news = News(live, self._metrics)
        await self._news.start(self._nc)
        self._clock = Clock(self._store, lobbies, self._metrics)
        self._clock.start()
        self.reconciler = Reconciler(
            self._store, rooms, live.check, tables, self._metrics, every=settings.reconcile_every
        )
        self.reconciler.start()
        self._nc.reconnect_listeners.append(self.reconciler.soon)
        self._server = rpc.server(MAX_MESSAGE, CONNECTIONS_LAST)
        rooms_pb2_grpc.add_RoomsServiceServicer_to_server(
            RoomsServicer(lobbies, self._metrics, self.ready), self._server
        )
        self.port = self._server.add_insecure_port(f"{settings.rooms_host}:{settings.rooms_port}")
        await self._server.start()
        self._log.info("rooms serves", host=settings.rooms_host, port=self.port)

    async def stop(self) -> None:
        server, clock, news, nc, house = self._server, self._clock, self._news, self._nc, self._house
        await in_order(
            ("gRPC", lambda: server.stop(_STOP_GRACE)) if server is not None else None,
            ("reconciler", self.reconciler.stop) if self.reconciler is not None else None,
            ("clock", clock.stop) if clock is not None else None,
            ("news", lambda: news.stop(nc)) if news is not None else None,
            ("house", lambda: house.stop(nc)) if house is not None else None,
            ("engines", self._engines.stop) if self._engines is not None else None,
            ("NATS", nc.close) if nc is not None else None,
            ("Redis", self._store.close) if self._store is not None else None,
        )

    async def ready(self) -> str | None:
        if self._nc is None or not self._nc.is_connected:
            return "NATS is away"
        if self._redis_away is not None:
            return f"Redis is away: {self._redis_away}"
        if self._server is None:
            return "gRPC is not serving yet"
        return None

    async def _publish(self, subject: str, data: bytes) -> None:
        """Buffered while NATS is away; what doesn't fit is lost, and whoever misses it asks."""
        if self._nc is None:
            return
        try:
            await self._nc.publish(subject, data)
        except nats.errors.Error as error:
            self._log.warning("a lobby could not be published", subject=subject, why=repr(error))

    def _redis_told(self, why: str | None) -> None:
        """Logged at each change, not at each call."""
        was, self._redis_away = self._redis_away, why
        now = asyncio.get_running_loop().time()
        since, self._away_since = self._away_since, None if why is None else now
        if since is not None:
            self._metrics.redis_was_away(now - since)
        self._metrics.redis_is_away(why is not None)
        if why is not None:
            if since is None:
                self._log.warning("Redis is away", why=why)
        elif was is not None:
            self._log.info("Redis is there")
            if since is not None:
                self._metrics.redis_is_back()
                if self.reconciler is not None:
                    self.reconciler.soon()
