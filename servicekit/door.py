"""The public port's WebSocket: who is let in, how many, and their tasks."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from starlette.websockets import WebSocket, WebSocketDisconnect

from servicekit import logs
from servicekit.socket_metrics import SocketMetrics
from servicekit.sockets import SLOW, Socket
from servicekit.web import Site


class Door:
    """`serve` runs for each accepted socket, until it is gone."""

    def __init__(
        self,
        site: Site,
        max_sockets: int,
        serve: Callable[[Socket], Awaitable[None]],
        metrics: SocketMetrics,
    ) -> None:
        self._site = site
        self._max = max_sockets
        self._serve = serve
        self._metrics = metrics
        self._tasks: set[asyncio.Task[None]] = set()
        self._addresses: Counter[str] = Counter()
        self._log = logs.logger(__name__)

    @property
    def sockets(self) -> int:
        return len(self._tasks)

    async def endpoint(self, ws: WebSocket) -> None:
        """For a WebSocket route.  Another site's page gets 403, one socket too many 1013."""
        if not self._site.origin_allowed(ws):
            self._metrics.socket_refused(403)
            await ws.close(1008)
            return
        try:
            await ws.accept()
        except WebSocketDisconnect:
            return
        socket = Socket(ws)
        address = self._site.address(ws)
        if len(self._tasks) >= self._max or not self._site.room_for(address, self._addresses[address]):
            self._metrics.socket_refused(SLOW)
            socket.error("slow_down", "too many players here just now")
            socket.close(SLOW, "too busy")
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._addresses[address] += 1
        self._metrics.socket_opened()
        try:
            await self._serve(socket)
        except Exception:
            self._log.exception("a socket's server failed")
            socket.close(1011, "that went wrong here")
        finally:
            self._tasks.discard(task)
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]
            self._metrics.socket_closed(socket.close_code or 0)

    async def empty(self, timeout: float) -> None:
        """Wait until every socket has been served to its end, but not longer."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=timeout)
