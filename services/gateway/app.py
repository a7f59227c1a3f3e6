"""The gateway, wired: the only place that builds its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from servicekit import logs, tracing, web
from servicekit.door import Door
from servicekit.ending import in_order
from servicekit.health import HttpServer
from servicekit.http_protocol import uvicorn_options
from servicekit.sockets import Socket
from servicekit.upstream import Upstream
from services.gateway.http import Api, build_app
from services.gateway.lobby_watch import LobbyWatch
from services.gateway.metrics import GatewayMetrics
from services.gateway.parts import Parts
from services.gateway.player import Player
from services.gateway.presence import Presence
from services.gateway.readiness import Readiness
from services.gateway.settings import GatewaySettings

if TYPE_CHECKING:
    from servicekit.tracing_spans import Traces


class Gateway:
    """Players' sockets, the client's files, the HTTP API.  Holds nothing that a restart would lose."""

    def __init__(self, settings: GatewaySettings, traces: Traces | None = None) -> None:
        """`traces`: others than the settings ask for."""
        self._settings = settings
        self._traces = traces
        self._metrics = GatewayMetrics()
        self.registry: CollectorRegistry = self._metrics.registry
        self.port = settings.port
        """The players' port; the real one once started."""
        self.upstream: Upstream | None = None
        self._parts: Parts | None = None
        self._readiness: Readiness | None = None
        self._http: HttpServer | None = None
        self._door: Door | None = None
        self._log = logs.logger(__name__)

    async def start(self) -> None:
        settings = self._settings
        self._traces = self._traces or tracing.traces("gateway", settings)
        up = self.upstream = await Upstream.connect(settings, "gateway", traces=self._traces)
        presence = Presence(up.rooms)
        lobby_watch = LobbyWatch(up.rooms)
        self._parts = Parts(
            settings,
            settings.tokens,
            up.rooms,
            up.lobbies,
            up.feeds,
            presence,
            lobby_watch,
            self._metrics,
            tracing.seat(self._traces),
        )
        self._readiness = Readiness(up.nc, up.rooms, up.engines)
        self._metrics.watch_rooms(lambda: up.feeds.rooms)
        self._metrics.watch_counts(up.engines.counts, up.feeds.counts)
        self._metrics.watch_pending(up.engines.pending)
        self._metrics.ties.watch_nats(up.nc)
        self._metrics.ties.watch_calls(engine=up.engines.call_counts, rooms=up.rooms.counts)
        presence.start()
        lobby_watch.start()
        site = web.Site(settings)
        self._door = Door(site, "/ws", settings.max_sockets, self._serve, self._metrics)
        app = build_app(settings, site, Api(settings, site, up.rooms, self._metrics), self.ready)
        app.router.routes.extend(web.files(settings))
        options = uvicorn_options(self._door, settings.max_sockets)
        self._http = HttpServer(app, settings.host, settings.port, reuse_port=settings.reuse_port, **options)
        await self._http.start()
        self.port = self._http.port
        self._log.info("players' port", host=settings.host, port=self.port)

    async def stop(self) -> None:
        """Sockets are told to come back (1012), seats are detached, then the connections go."""
        http, door, parts, up = self._http, self._door, self._parts, self.upstream
        if parts is not None:
            parts.presence.hold()
        await in_order(
            ("players' port", lambda: http.stop(1.0)) if http is not None else None,
            ("sockets", lambda: door.empty(1.0)) if door is not None else None,
            ("lobby watch", parts.lobby_watch.stop) if parts is not None else None,
            ("presence", parts.presence.stop) if parts is not None else None,
            ("upstream", up.stop) if up is not None else None,
            ("traces", self._traces.stop) if self._traces is not None else None,
        )

    async def ready(self) -> str | None:
        if self._readiness is None or self._http is None:
            return "the gateway is starting"
        return await self._readiness.ready()

    async def _serve(self, socket: Socket) -> None:
        assert self._parts is not None
        await Player(socket, self._parts).run()
