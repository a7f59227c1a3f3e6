"""The operations port: /healthz, /readyz, /metrics.  Never the public one."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

AT_A_TIME = 0.001
"""Seconds that a scrape takes the event loop for: players' moves don't wait for Prometheus."""
Ready = Callable[[], Awaitable[str | None]]
"""None when ready, else what is missing, in words for an operator."""


def ready_response(missing: str | None) -> JSONResponse:
    """200 when nothing is missing, else 503 with the reason."""
    if missing is None:
        return JSONResponse({"ready": True})
    return JSONResponse({"ready": False, "why": missing}, status_code=503)


class _Alone(CollectorRegistry):
    """A registry of one family: what is written at a time."""

    def __init__(self, family: Metric) -> None:
        super().__init__()
        self._family = family

    def collect(self) -> Iterator[Metric]:
        yield self._family


async def exposition(registry: CollectorRegistry, at_most: float = AT_A_TIME) -> bytes:
    """All metrics as Prometheus reads them.  The loop has other things to do every `at_most` seconds."""
    parts: list[bytes] = []
    began = time.perf_counter()
    for family in registry.collect():
        parts.append(generate_latest(_Alone(family)))
        if time.perf_counter() - began >= at_most:
            await asyncio.sleep(0)
            began = time.perf_counter()
    return b"".join(parts)


def ops_app(ready: Ready, registry: CollectorRegistry, more: Sequence[Route] = ()) -> Starlette:
    """What the operations port serves; `more`: the service's own."""

    async def healthz(_: Request) -> Response:
        return JSONResponse({"alive": True})

    async def readyz(_: Request) -> Response:
        return ready_response(await ready())

    async def metrics(_: Request) -> Response:
        return Response(await exposition(registry), media_type=CONTENT_TYPE_LATEST)

    common = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]
    return Starlette(routes=[*common, *more])


class HttpServer:
    """uvicorn inside a running loop, without its signal handlers.  `port` is the real one once started."""

    def __init__(self, app: object, host: str, port: int, *, reuse_port: bool = False, **config: object) -> None:
        self.host, self.port = host, port
        self._reuse_port = reuse_port
        self._config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", **config)  # type: ignore[arg-type]
        self._server = uvicorn.Server(self._config)
        self._task: asyncio.Task[None] | None = None
        self._socket: socket.socket | None = None

    async def start(self) -> None:
        """Bind and serve.  Raises OSError when the port is taken."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self._reuse_port:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            sock.bind((self.host, self.port))
        except OSError:
            sock.close()
            raise
        self.port = sock.getsockname()[1]
        self._socket = sock
        self._config.load()
        self._server.lifespan = self._config.lifespan_class(self._config)
        self._task = asyncio.create_task(self._server._serve([sock]), name=f"http:{self.port}")
        while not self._server.started and not self._task.done():  # noqa: ASYNC110 - uvicorn tells by a flag
            await asyncio.sleep(0.005)
        if self._task.done():
            await self._task

    async def stop(self, grace: float = 1.0) -> None:
        """Close listening sockets, give open requests `grace` seconds, then end."""
        if self._task is None:
            return
        self._server.should_exit = True
        done, _ = await asyncio.wait({self._task}, timeout=grace)
        if not done:
            self._server.force_exit = True
        await self._task
        self._task = None
