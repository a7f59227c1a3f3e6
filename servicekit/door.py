"""The public port's WebSocket: who is let in, how many, and who serves them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from starlette.requests import HTTPConnection

from servicekit import logs
from servicekit.limits import AddressLimit
from servicekit.pulse import Pulse
from servicekit.socket_metrics import SocketMetrics
from servicekit.sockets import FAULT, SLOW, Socket
from servicekit.web import Site

Serve = Callable[[Socket], Coroutine[Any, Any, None] | None]
"""Serves an accepted socket to its end: by a coroutine, or by listening to it from now on."""


class Door:
    """Lets browsers in at `path`.  HttpProtocol asks it at each upgrade."""

    def __init__(
        self,
        site: Site,
        path: str,
        max_sockets: int,
        serve: Serve,
        metrics: SocketMetrics,
        opening: AddressLimit | None = None,
    ) -> None:
        """`opening`: how many an address may open a minute."""
        self.path = path
        self._site = site
        self._max = max_sockets
        self._serve = serve
        self._metrics = metrics
        metrics.watch_unsent(lambda: self._pulse.unsent)
        self._opening = opening
        self._pulse = Pulse()
        self._on_end = self._left
        """Bound once for all sockets."""
        self._connections: set[Any] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets = 0
        self._empty = asyncio.Event()
        self._empty.set()
        self._addresses: Counter[str] = Counter()
        self._log = logs.logger(__name__)

    @property
    def sockets(self) -> int:
        """Open ones that were let in."""
        return self._sockets

    def refuses(self, request: HTTPConnection) -> int:
        """0, or the HTTP status that an upgrade here gets: another site's page 403, one too many 429."""
        if request.scope["path"] != self.path:
            return 404
        status = 0
        if not self._site.origin_allowed(request):
            status = 403
        elif self._opening is not None and self._opening.take(self._site.address(request), time.monotonic()):
            status = 429
        if status:
            self._metrics.socket_refused(status)
        return status

    def open(self, request: HTTPConnection, transport: asyncio.Transport, connections: set[Any]) -> Socket:
        """A socket for an upgrade that wasn't refused, served from now on.  One too many is closed with 1013.

        `connections`: uvicorn's, all of which it tells to end.
        """
        self._connections = connections
        address = self._site.address(request)
        if self._sockets >= self._max or not self._site.room_for(address, self._addresses[address]):
            self._metrics.socket_refused(SLOW)
            self._metrics.socket_evicted("too_many")
            socket = Socket(transport, address, connections.discard)
            connections.add(socket)
            transport.set_protocol(socket)
            socket.error("slow_down", "too many players here just now")
            socket.close(SLOW, "too busy")
            return socket

        socket = Socket(transport, address, self._on_end)
        connections.add(socket)
        transport.set_protocol(socket)
        self._sockets += 1
        self._empty.clear()
        self._addresses[address] += 1
        self._metrics.socket_opened()
        self._pulse.add(socket)
        try:
            serving = self._serve(socket)
        except Exception:
            self._failed(socket)
        else:
            if serving is not None:
                task = asyncio.create_task(self._run(socket, serving))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return socket

    async def empty(self, timeout: float) -> None:
        """Wait until every socket has been served to its end, but not longer."""
        try:
            async with asyncio.timeout(timeout):
                await self._empty.wait()
                while self._tasks:
                    await asyncio.wait(set(self._tasks))
        except TimeoutError:
            self._log.warning("sockets are left", sockets=self._sockets, tasks=len(self._tasks))

    async def _run(self, socket: Socket, serving: Awaitable[None]) -> None:
        try:
            await serving
        except Exception:
            self._failed(socket)

    def _failed(self, socket: Socket) -> None:
        self._log.exception("a socket's server failed")
        socket.close(FAULT, "that went wrong here")

    def _left(self, socket: Socket) -> None:
        self._connections.discard(socket)
        self._pulse.discard(socket)
        self._sockets -= 1
        if not self._sockets:
            self._empty.set()
        self._addresses[socket.address] -= 1
        if not self._addresses[socket.address]:
            del self._addresses[socket.address]
        self._metrics.socket_closed(socket.close_code or 0)
        if socket.evicted:
            self._metrics.socket_evicted(socket.evicted)
