"""Watch, wired: the only place that builds its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from servicekit import logs, tracing, web
from servicekit.door import Door
from servicekit.ending import in_order
from servicekit.health import HttpServer
from servicekit.http_protocol import uvicorn_options
from servicekit.limits import AddressLimit
from servicekit.sockets import Socket
from servicekit.upstream import Upstream
from services.watch.metrics import WatchMetrics
from services.watch.settings import WatchSettings
from services.watch.show import Parts
from services.watch.shows import Shows
from services.watch.tv import Tv

if TYPE_CHECKING:
    from servicekit.tracing_spans import Traces


class Watch:
    """TVs' sockets and page.  Holds nothing that a restart would lose."""

    def __init__(self, settings: WatchSettings, traces: Traces | None = None) -> None:
        """`traces`: others than the settings ask for."""
        self._settings = settings
        self._traces = traces
        self._metrics = WatchMetrics()
        self.registry: CollectorRegistry = self._metrics.registry
        self.port = settings.watch_port
        """The TVs' port; the real one once started."""
        self._site = web.Site(settings, players_port=settings.port)
        self.upstream: Upstream | None = None
        self._shows: Shows | None = None
        self._http: HttpServer | None = None
        self._door: Door | None = None
        self._log = logs.logger(__name__)

    async def start(self) -> None:
        settings = self._settings
        self._traces = self._traces or tracing.traces("watch", settings)
        up = self.upstream = await Upstream.connect(settings, "watch", seats=False, traces=self._traces)
        self._shows = Shows(Parts(settings, up.lobbies, up.feeds, self._metrics))
        self._metrics.watch_rooms(lambda: up.feeds.rooms)
        self._metrics.watch_feeds(up.feeds.counts)
        self._metrics.ties.watch_nats(up.nc)
        self._metrics.ties.watch_calls(engine=up.engines.call_counts, rooms=up.rooms.counts)
        self._door = Door(
            self._site,
            "/tv",
            settings.max_sockets,
            self._serve,
            self._metrics,
            opening=AddressLimit(settings.tvs_per_minute),
        )
        self._http = HttpServer(
            self._app(),
            settings.host,
            settings.watch_port,
            reuse_port=settings.reuse_port,
            **uvicorn_options(self._door, settings.max_sockets),
        )
        await self._http.start()
        self.port = self._http.port
        self._log.info("TVs' port", host=settings.host, port=self.port)

    async def stop(self) -> None:
        """TVs are told to come back (1012)."""
        http, door, shows, up = self._http, self._door, self._shows, self.upstream
        await in_order(
            ("TVs' port", lambda: http.stop(1.0)) if http is not None else None,
            ("sockets", lambda: door.empty(1.0)) if door is not None else None,
            ("shows", shows.stop) if shows is not None else None,
            ("upstream", up.stop) if up is not None else None,
            ("traces", self._traces.stop) if self._traces is not None else None,
        )

    async def ready(self) -> str | None:
        if self.upstream is None or self._http is None:
            return "watch is starting"
        if not self.upstream.nc.is_connected:
            return "NATS is away"
        return await self.upstream.rooms.ready()

    def _serve(self, socket: Socket) -> None:
        assert self._shows is not None
        socket.listen(Tv(socket, self._shows))

    def _app(self) -> Starlette:
        settings = self._settings

        async def page(_: Request) -> Response:
            return web.page(settings.web_dir, "watch.html")

        app = Starlette(
            routes=[
                Route("/", page),
                Route("/watch", page),
                *web.routes(settings, self._site),
                *web.files(settings),
            ],
            exception_handlers={HTTPException: web.on_http_error, Exception: web.on_crash},
        )
        app.add_middleware(web.SecurityHeaders)
        return app
