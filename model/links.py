"""gRPC between gateways and engines, modelled: ordered streams with delays, that break when an end dies.

The engines' real `EngineService` is called at one end, the real `EngineLink` at the other;
between them a channel that keeps the order of each direction, and loses what is on its way
when it breaks.  A stalled end breaks nothing: nothing is heard of it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import grpc
from grpc.aio import AioRpcError, Metadata

from generated.snatch.engine.v1 import engine_pb2 as pb
from model.loop import Handle, Node, SimLoop
from servicekit.engine_link import Links

DELAY = (0.0002, 0.002)
"""Seconds that a message takes, least and most, without faults."""
NOTICE = (0.002, 0.01)
"""Seconds until the other end of a connection notices that a process died."""

_REQUESTS: Mapping[str, Any] = {
    "Open": pb.OpenRequest,
    "Close": pb.CloseRequest,
    "Attach": pb.AttachRequest,
    "View": pb.ViewRequest,
    "Tables": pb.TablesRequest,
}

Told = Callable[[Node, str, Any, Any], None]
"""Hears, at the engine, what it answers: its node, the method, the request, the response (None: a refusal)."""


class Refused(Exception):
    """A handler aborted its call."""

    def __init__(self, code: grpc.StatusCode, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


class _Context:
    """What a handler sees of its call: grpc.aio.ServicerContext, as far as ours look at it."""

    def __init__(self, metadata: Any) -> None:
        self._metadata = metadata

    def invocation_metadata(self) -> Any:
        return self._metadata

    async def abort(self, code: grpc.StatusCode, details: str = "") -> None:
        raise Refused(code, details)


class Server:
    """An engine's door at an address."""

    def __init__(self, node: Node, service: Any) -> None:
        self.node, self.service = node, service
        self.connections: list[Connection] = []


class SimNetwork:
    """All doors.  `told` hears every answer at the moment in which it leaves an engine.

    `slow` stretches all delays.
    """

    def __init__(self, loop: SimLoop, told: Told | None = None) -> None:
        self.loop, self.told = loop, told
        self.slow = 1.0
        self.breaks = 0
        self.faults: list[str] = []
        """What handlers raised that is no refusal."""
        self._servers: dict[str, Server] = {}

    def delay(self) -> float:
        return self.loop.dice.uniform(*DELAY) * self.slow

    def serve(self, address: str, node: Node, service: Any) -> None:
        """An engine listens; who listened there before hears no new calls."""
        self._servers[address] = Server(node, service)

    def gone(self, address: str, node: Node) -> None:
        """A process died, or closed its door: then what it has said arrives before its connections end."""
        server = self._servers.get(address)
        if server is None or server.node is not node:
            return
        del self._servers[address]
        for connection in list(server.connections):
            connection.end("the engine is gone", lost=node.dead and self.loop.dice.random() < 0.5)

    def cut(self, address: str) -> None:
        """All connections to an address break, with what is on its way."""
        server = self._servers.get(address)
        for connection in list(server.connections) if server is not None else ():
            connection.end("cut", lost=True)

    def server(self, address: str) -> Server | None:
        return self._servers.get(address)


def sim_links(network: SimNetwork, node: Node) -> Links:
    """servicekit's own Links over this network, for a process that runs at `node`."""

    def dial(address: str) -> Any:
        return Channel(network, node, address)

    return Links(dial, commands=None)


class Connection:
    """One client's TCP connection to one engine: ordered in each direction."""

    def __init__(self, network: SimNetwork, client: Node, server: Server) -> None:
        self.network, self.client, self.server = network, client, server
        self.up_at = self.down_at = 0.0
        self.ended = ""
        self.flying: list[Handle] = []
        self.on_end: list[Callable[[str], None]] = []
        """Heard at the client."""
        self.at_server: list[asyncio.Task[None]] = []
        server.connections.append(self)
        client.on_kill.append(self._client_died)

    def up(self, callback: Callable[..., None], *args: Any) -> None:
        """Run it at the engine, after all that was sent before."""
        network = self.network
        self.up_at = max(self.up_at, network.loop.now + network.delay())
        self._fly(self.server.node, self.up_at, callback, args)

    def down(self, callback: Callable[..., None], *args: Any) -> None:
        """Run it at the client, after all that was answered before."""
        network = self.network
        self.down_at = max(self.down_at, network.loop.now + network.delay())
        self._fly(self.client, self.down_at, callback, args)

    def end(self, why: str, *, lost: bool) -> None:
        """The connection is over; `lost`: what is on its way never arrives."""
        if self.ended:
            return
        self.ended = why
        self.network.breaks += 1
        if self in self.server.connections:
            self.server.connections.remove(self)
        if lost:
            for handle in self.flying:
                handle.cancel()
        loop = self.network.loop
        at = max(self.down_at, loop.now + loop.dice.uniform(*NOTICE))
        self.client.at(at, self._tell_client)
        self._end_server()

    def _tell_client(self) -> None:
        for heard in list(self.on_end):
            heard(self.ended)

    def _client_died(self) -> None:
        if not self.ended:
            self.ended = "the client is gone"
            if self in self.server.connections:
                self.server.connections.remove(self)
            loop = self.network.loop
            self.server.node.at(max(self.up_at, loop.now + loop.dice.uniform(*NOTICE)), self._cancel_server)

    def _end_server(self) -> None:
        if not self.server.node.dead:
            self.server.node.after(self.network.loop.dice.uniform(*NOTICE), self._cancel_server)

    def _cancel_server(self) -> None:
        for task in self.at_server:
            task.cancel()

    def _fly(self, node: Node, at: float, callback: Callable[..., None], args: tuple[Any, ...]) -> None:
        if len(self.flying) > 64:
            now = self.network.loop.now
            self.flying = [h for h in self.flying if not h.off and h.args[0] > now]
        self.flying.append(node.at(at, _land, at, callback, args))


def _land(at: float, callback: Callable[..., None], args: tuple[Any, ...]) -> None:
    callback(*args)


class Channel:
    """grpc.aio.Channel, as far as the stubs and EngineLink use it."""

    def __init__(self, network: SimNetwork, node: Node, address: str) -> None:
        self._network, self._node, self._address = network, node, address
        self._connection: Connection | None = None

    def unary_unary(self, method: str, **_: Any) -> Any:
        name = method.rpartition("/")[2]

        async def call(request: Any, *, timeout: float | None = None, metadata: Any = ()) -> Any:
            return await self._ask(name, request, timeout or 60.0, metadata)

        return call

    def stream_stream(self, method: str, **_: Any) -> Any:
        def call() -> Stream:
            return Stream(self.connection())

        return call

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.end("closed", lost=True)

    def connection(self) -> Connection | None:
        """The one there is, or a new one; None when nobody listens."""
        at, connection = self._network.server(self._address), self._connection
        if connection is not None and not connection.ended and connection.server is at:
            return connection
        if at is None:
            return None
        self._connection = Connection(self._network, self._node, at)
        return self._connection

    async def _ask(self, name: str, request: Any, timeout: float, metadata: Any) -> Any:
        loop, network = asyncio.get_running_loop(), self._network
        connection = self.connection()
        if connection is None:
            await asyncio.sleep(network.delay())
            raise broken("nobody listens")
        future: asyncio.Future[Any] = loop.create_future()

        def fail(code: grpc.StatusCode, detail: str) -> None:
            if not future.done():
                future.set_exception(AioRpcError(code, Metadata(), Metadata(), detail))

        def done(data: bytes, kind: Any) -> None:
            if not future.done():
                future.set_result(kind.FromString(data))

        def ended(why: str) -> None:
            fail(grpc.StatusCode.UNAVAILABLE, why)

        server, data = connection.server, request.SerializeToString()

        async def serve() -> None:
            asked = _REQUESTS[name].FromString(data)
            try:
                response = await getattr(server.service, name)(asked, _Context(metadata))
            except Refused as refused:
                if network.told is not None:
                    network.told(server.node, name, asked, refused)
                connection.down(fail, refused.code, refused.detail)
                return
            except Exception as fault:
                network.faults.append(f"{name}: {fault!r}")
                connection.down(fail, grpc.StatusCode.UNKNOWN, repr(fault))
                return
            if network.told is not None:
                network.told(server.node, name, asked, response)
            connection.down(done, response.SerializeToString(), type(response))

        def arrive() -> None:
            connection.at_server.append(loop.create_task(serve(), name=name))

        connection.on_end.append(ended)
        timer = loop.call_later(timeout, fail, grpc.StatusCode.DEADLINE_EXCEEDED, "deadline")
        connection.up(arrive)
        try:
            return await future
        finally:
            timer.cancel()
            if ended in connection.on_end:
                connection.on_end.remove(ended)


class Stream:
    """grpc.aio.StreamStreamCall of `Commands`."""

    def __init__(self, connection: Connection | None) -> None:
        self._connection = connection
        self._why = "" if connection is not None else "nobody listens"
        self._got: deque[bytes] = deque()
        self._some = asyncio.Event()
        self._up: deque[bytes | None] = deque()
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        if connection is not None:
            connection.on_end.append(self._ended)
            connection.up(self._open)

    # ---- at the client ----

    async def write(self, request: pb.CommandsRequest) -> None:
        if self._why or self._connection is None:
            raise asyncio.InvalidStateError(self._why)
        self._connection.up(self._arrive, request.SerializeToString())

    def cancel(self) -> None:
        connection = self._connection
        if connection is not None and not connection.ended:
            connection.up(self._cancelled)
        if connection is not None and self._ended in connection.on_end:
            connection.on_end.remove(self._ended)

    def __aiter__(self) -> AsyncIterator[pb.CommandsResponse]:
        return self

    async def __anext__(self) -> pb.CommandsResponse:
        while not self._got:
            if self._why:
                raise broken(self._why)
            self._some.clear()
            await self._some.wait()
        return pb.CommandsResponse.FromString(self._got.popleft())

    def _ended(self, why: str) -> None:
        self._why = why
        self._some.set()

    def _deliver(self, data: bytes) -> None:
        self._got.append(data)
        self._some.set()

    # ---- at the engine ----

    def _open(self) -> None:
        connection = self._connection
        assert connection is not None
        self._arrived = asyncio.Event()
        if self._up:
            self._arrived.set()
        self._task = connection.network.loop.create_task(self._serve(connection), name="commands")
        connection.at_server.append(self._task)

    async def _serve(self, connection: Connection) -> None:
        told = connection.network.told
        answers = connection.server.service.Commands(self._requests(), _Context(()))
        try:
            async for response in answers:
                if told is not None:
                    told(connection.server.node, "Commands", None, response)
                connection.down(self._deliver, response.SerializeToString())
        finally:
            await answers.aclose()
        connection.down(self._ended, "the engine ended the stream")

    async def _requests(self) -> AsyncIterator[pb.CommandsRequest]:
        while True:
            while not self._up:
                self._arrived.clear()
                await self._arrived.wait()
            data = self._up.popleft()
            if data is None:
                return
            yield pb.CommandsRequest.FromString(data)

    def _arrive(self, data: bytes) -> None:
        self._up.append(data)
        self._arrived.set()

    def _cancelled(self) -> None:
        if self._task is not None:
            self._task.cancel()


def broken(why: str) -> AioRpcError:
    """What a call raises whose connection is gone."""
    return AioRpcError(grpc.StatusCode.UNAVAILABLE, Metadata(), Metadata(), why)
