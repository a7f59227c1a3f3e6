"""A gateway process: the real Engines, Feeds and Place, on a modelled NATS, for phones with modelled sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from model.bus import SimBus
from model.links import NOTICE, SimNetwork, sim_links
from model.loop import Node, SimLoop
from model.nats import SimNats
from servicekit.engines import EngineAway, EngineRefusal, Engines
from servicekit.feed import Feeds
from servicekit.seat import MakeSeat, SeatSession
from servicekit.sockets import AGAIN, Socket
from services.gateway.metrics import SentCounts
from services.gateway.parts import Parts
from services.gateway.place import Place
from wire.client_out import Error

DELAY = (0.001, 0.02)
"""Seconds that a message takes between phone and gateway."""


class Page(Protocol):
    """The phone's end of a socket.  Both are called at the phone."""

    def on_message(self, socket: SimSocket, body: bytes) -> None: ...

    def on_close(self, socket: SimSocket, code: int) -> None: ...


class _Metrics:
    """Counts nothing but what is counted without asking."""

    def __init__(self) -> None:
        self.sent = SentCounts()

    def seat_taken(self, seconds: float) -> None: ...

    def seat_given_up(self) -> None: ...

    def move_answered(self, seconds: float) -> None: ...

    def moves_unanswered(self, moves: int) -> None: ...


class _Lobbies:
    """The lobby always says the same: this table is live."""

    def doubt(self, room: str) -> None: ...


@dataclass
class _Parts:
    feeds: Feeds
    metrics: _Metrics
    lobbies: _Lobbies
    seat: MakeSeat = SeatSession


class SimSocket:
    """A phone's socket, both ends of it.  Each direction keeps its order."""

    def __init__(self, loop: SimLoop, phone: Node, page: Page, gateway: Gateway) -> None:
        self._loop, self._phone, self._page = loop, phone, page
        self._gateway = gateway
        self._up_at = self._down_at = 0.0
        self.cut = False
        """Nothing goes through any more."""
        self.close_code: int | None = None
        self.place: Place | None = None

    # ---- at the gateway: what Place uses of a Socket ----

    @property
    def closing(self) -> bool:
        return self.close_code is not None

    def send(self, body: bytes) -> None:
        if self.close_code is None and not self.cut:
            self._down(self._page.on_message, self, body)

    def error(self, code: str, text: str = "", *, req: int | None = None, id: int | None = None) -> None:
        self.send(msgspec.json.encode(Error(code, text, req, id)))

    def close(self, code: int, reason: str = "") -> None:
        if self.close_code is None:
            self.close_code = code
            self._down(self._page.on_close, self, code)
            self.gone()

    def gone(self) -> None:
        """The gateway's reader has come to the end."""
        if self.close_code is None:
            self.close_code = 1006
        if self.place is not None:
            self.place.leave()
        self._gateway.sockets.pop(self, None)

    def open(self, who: pb.AttachRequest, table: str) -> None:
        """The phone's hello has arrived."""
        if not self.closing:
            self.place = Place(cast(Socket, self), self._gateway.parts, self.error)
            self.place.sit(who, table)

    def move(self, id: int, body: bytes) -> None:
        if self.place is not None and not self.closing:
            self.place.move(id, body)

    # ---- at the phone ----

    def hello(self, who: pb.AttachRequest, table: str) -> None:
        self._up(self.open, who, table)

    def say(self, id: int, body: bytes) -> None:
        self._up(self.move, id, body)

    def drop(self, notice: float) -> None:
        """The phone's network is gone; its gateway notices after so many seconds."""
        self.cut = True
        self._gateway.node.after(notice, self.gone)

    def died(self) -> None:
        """The gateway's process was killed."""
        if not self.cut:
            self.cut = True
            self._phone.after(self._loop.dice.uniform(*NOTICE), self._page.on_close, self, 1006)

    # ---- the way ----

    def _up(self, callback: Callable[..., None], *args: Any) -> None:
        self._up_at = max(self._up_at, self._loop.now + self._loop.dice.uniform(*DELAY))
        self._gateway.node.at(self._up_at, self._arrive, callback, args)

    def _down(self, callback: Callable[..., None], *args: Any) -> None:
        self._down_at = max(self._down_at, self._loop.now + self._loop.dice.uniform(*DELAY))
        self._phone.at(self._down_at, self._arrive, callback, args)

    def _arrive(self, callback: Callable[..., None], args: tuple[Any, ...]) -> None:
        if not self.cut:
            callback(*args)


class Gateway:
    """One process.  After `kill` another of the same name may be made."""

    def __init__(self, loop: SimLoop, nats: SimNats, network: SimNetwork, name: str, drift: float = 1.0) -> None:
        self.loop, self.name = loop, name
        self.node = loop.node(name, drift)
        self.node.on_kill.append(self._died)
        self.sockets: dict[SimSocket, None] = {}
        self.ready = False
        self._nats, self._network = nats, network
        self.bus: SimBus | None = None
        self.engines: Engines | None = None
        self.feeds: Feeds | None = None
        self.parts: Parts
        self.node.spawn(self._start(), name)

    @property
    def up(self) -> bool:
        return self.ready and not self.node.dead

    async def _start(self) -> None:
        bus = self.bus = SimBus(self._nats, self.node, self.name)
        await bus.connected()
        links = sim_links(self._network, self.node)
        self.engines = Engines(cast(Any, bus), self.name, links=links)
        # In the log it is: the same in every run of a seed.
        self.engines.caller = f"{self.name}-{self.loop.dice.getrandbits(32):08x}"
        self.feeds = Feeds(cast(Any, bus), self.engines)
        await self.engines.start()
        await self.feeds.start()
        self.parts = cast(Parts, _Parts(self.feeds, _Metrics(), _Lobbies()))
        self.ready = True

    def connect(self, phone: Node, page: Page) -> SimSocket | None:
        """A new socket; None when nobody listens here."""
        if not self.up:
            return None
        socket = SimSocket(self.loop, phone, page, self)
        self.sockets[socket] = None
        return socket

    def kill(self) -> None:
        self.node.kill()

    def term(self) -> None:
        """SIGTERM: its sockets are told to come back, its seats are given up, then it ends."""
        if self.up:
            self.ready = False
            self.node.spawn(self._stop(), "stop")

    async def _stop(self) -> None:
        assert self.engines is not None
        assert self.feeds is not None
        assert self.bus is not None
        for socket in list(self.sockets):
            socket.close(AGAIN)
        await self.feeds.stop()
        await self.engines.stop()
        await self.bus.close()
        self.node.soon(self.node.kill)

    def _died(self) -> None:
        self.ready = False
        for socket in list(self.sockets):
            socket.died()
        self.sockets.clear()

    def open_table(self, request: pb.OpenRequest, done: Callable[[], None]) -> None:
        """As rooms does: asked again until it is answered."""
        self.node.spawn(self._ask(lambda engines: engines.open_table(request, 2.0), request.table, done), "open")

    def close_table(self, request: pb.CloseRequest) -> None:
        self.node.spawn(self._ask(lambda engines: engines.close_table(request, 2.0), "no_table", lambda: None), "close")

    async def _ask(self, ask: Callable[[Engines], Awaitable[object]], well: str, done: Callable[[], None]) -> None:
        """`well`: the refusal that says that it was done before."""
        while True:
            if self.engines is not None and self.ready:
                try:
                    await ask(self.engines)
                    done()
                    return
                except EngineRefusal as refusal:
                    if refusal.detail == well:
                        done()
                        return
                except EngineAway:
                    pass
            await asyncio.sleep(0.1)
