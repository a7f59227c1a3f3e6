"""Rooms workers under test: a real gRPC port, real Redis and NATS, and a twin of the engines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import msgspec
from nats.aio.client import Client

from generated.snatch.rooms.v1 import rooms_pb2 as pb
from generated.snatch.rooms.v1.rooms_pb2_grpc import RoomsServiceStub
from services.rooms.app import Rooms
from services.rooms.engine import EngineAway, Listed, Refused
from services.rooms.room import Player
from services.rooms.settings import RoomsSettings
from services.rooms.table import Live, Seated
from wire import client_in, client_out, frames, subjects

SECRET = "a secret for the tests"


class TwinTables:
    """The engines, as far as rooms can tell: one live table a room, the same id again is the same table."""

    def __init__(self) -> None:
        self.live: dict[str, Live] = {}
        self.opened: list[tuple[str, str, list[str]]] = []
        self.closed: list[tuple[str, str, str]] = []
        self.away = False
        self.hold: asyncio.Event | None = None
        """Set: opening waits for it."""
        self.asked = asyncio.Event()

    async def open(self, room: str, table: str, game: str, host: str, members: Sequence[Player]) -> str:
        self.asked.set()
        if self.hold is not None:
            await self.hold.wait()
        if self.away:
            raise EngineAway("the twin is away")
        if game != "snatch_solitaire":
            raise Refused(game)
        if room not in self.live:
            seated = tuple(Seated(m.player, m.name, m.colour, m.bot) for m in members)
            self.live[room] = Live(table, host, seated)
            self.opened.append((room, table, [m.player for m in members]))
        return self.live[room].table

    async def look(self, room: str, table: str) -> Live | None:
        if self.away:
            raise EngineAway("the twin is away")
        live = self.live.get(room)
        return live if live is not None and table in ("", live.table) else None

    async def listed(self) -> Listed:
        if self.away:
            return Listed({}, False)
        return Listed({room: live.table for room, live in self.live.items()}, True)

    async def close(self, room: str, table: str, why: str) -> None:
        if self.away:
            raise EngineAway("the twin is away")
        self.closed.append((room, table, why))
        self.live.pop(room, None)


class RoomsClient:
    """Asks one worker, as a gateway does."""

    def __init__(self, port: int) -> None:
        self._channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        self.stub: Any = RoomsServiceStub(self._channel)

    async def close(self) -> None:
        await self._channel.close()

    async def create(self, name: str = "Ann", request: str = "") -> pb.CreateRoomResponse:
        answer: pb.CreateRoomResponse = await self.stub.CreateRoom(pb.CreateRoomRequest(name=name, request_id=request))
        return answer

    async def join(self, room: str, name: str = "", token: str = "", request: str = "") -> pb.JoinRoomResponse:
        request_ = pb.JoinRoomRequest(room=room, name=name, token=token, request_id=request)
        answer: pb.JoinRoomResponse = await self.stub.JoinRoom(request_)
        return answer

    async def lobby(self, room: str, token: str = "") -> client_out.Lobby:
        answer = await self.stub.GetLobby(pb.GetLobbyRequest(room=room, token=token))
        return msgspec.json.decode(answer.lobby, type=client_out.Lobby)

    async def act(self, token: str, do: client_in.LobbyAct | bytes, request: str = "") -> client_out.Lobby:
        body = do if isinstance(do, bytes) else msgspec.json.encode(do)
        answer = await self.stub.Act(pb.ActRequest(token=token, act=body, request_id=request))
        return msgspec.json.decode(answer.lobby, type=client_out.Lobby)

    async def here(self, token: str, socket: str = "s1") -> None:
        await self.stub.Presence(pb.PresenceRequest(token=token, socket=socket, kind=pb.PRESENCE_KIND_HERE))

    async def still_here(self, *sockets: tuple[str, str]) -> list[str]:
        request = pb.StillHereRequest(sockets=[pb.OpenSocket(token=token, socket=socket) for token, socket in sockets])
        return list((await self.stub.StillHere(request)).refusals)

    async def gone(self, token: str, socket: str = "s1") -> None:
        await self.stub.Presence(pb.PresenceRequest(token=token, socket=socket, kind=pb.PRESENCE_KIND_GONE))


class Worker:
    def __init__(self, service: Rooms, client: RoomsClient) -> None:
        self.service, self.client = service, client


@asynccontextmanager
async def rooms_worker(nats: str, redis: str, tables: TwinTables, **settings: Any) -> AsyncIterator[Worker]:
    service = Rooms(RoomsSettings(nats_url=nats, redis_url=redis, secret=SECRET, **settings), tables)
    await service.start()
    client = RoomsClient(service.port)
    try:
        yield Worker(service, client)
    finally:
        await client.close()
        await service.stop()


class LobbyFrames:
    """A room's lobby frames, as a gateway hears them."""

    def __init__(self) -> None:
        self.seen: list[client_out.Lobby] = []
        self._more = asyncio.Event()

    async def listen(self, nc: Client, room: str) -> LobbyFrames:
        async def take(message: Any) -> None:
            frame = frames.unpack(message.data)
            lobby = msgspec.json.decode(frame.body, type=client_out.Lobby)
            assert (frame.kind, frame.epoch, frame.number) == (frames.LOBBY, 0, lobby.rev)
            self.seen.append(lobby)
            self._more.set()

        await nc.subscribe(subjects.lobby(room), cb=take)
        await nc.flush()
        await nc.flush()
        return self

    async def until(self, right: Callable[[client_out.Lobby], bool], seconds: float = 10.0) -> client_out.Lobby:
        """The first lobby, heard or to come, that is right."""
        async with asyncio.timeout(seconds):
            at = 0
            while True:
                for lobby in self.seen[at:]:
                    if right(lobby):
                        return lobby
                at = len(self.seen)
                self._more.clear()
                await self._more.wait()


async def refusal(asked: Any) -> tuple[str, str]:
    """The status and the code that a call is refused with."""
    try:
        answer = await asked
    except grpc.aio.AioRpcError as error:
        return error.code().name, error.details() or ""
    raise AssertionError(f"not refused: {answer!r}")


def news(what: str, room: str, table: str, **more: Any) -> bytes:
    """An engine's words on `news.table`."""
    return msgspec.json.encode({"what": what, "room": room, "table": table, **more})
