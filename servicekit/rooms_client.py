"""The rooms service, as gateways and watch ask it: any of several workers, round robin."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import grpc

from generated.snatch.rooms.v1 import rooms_pb2 as pb
from generated.snatch.rooms.v1.rooms_pb2_grpc import RoomsServiceStub
from servicekit import rpc

if TYPE_CHECKING:  # of the stubs alone, not of the generated code
    from generated.snatch.rooms.v1.rooms_pb2_grpc import RoomsServiceAsyncStub

R = TypeVar("R")


class LobbyAway(Exception):
    """No worker answers, or Redis is away."""


class LobbyRefusal(Exception):
    """`code` is one of client_out.Error's."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class RoomsClient:
    """`addresses`: `host:port`, comma-separated.  Every call may be sent twice: they are all made for that."""

    def __init__(self, addresses: str, *, timeout: float = 3.0) -> None:
        self.timeout = timeout
        self._addresses = [a.strip() for a in addresses.split(",") if a.strip()]
        self._channels: list[grpc.aio.Channel] = []
        self._stubs: list[RoomsServiceAsyncStub] = []
        self._next = 0

    def start(self) -> None:
        self._channels = [rpc.channel(address) for address in self._addresses]
        self._stubs = [RoomsServiceStub(channel) for channel in self._channels]

    async def stop(self) -> None:
        await asyncio.gather(*(channel.close() for channel in self._channels), return_exceptions=True)
        self._channels, self._stubs = [], []

    async def create(self, name: str, request_id: str) -> pb.CreateRoomResponse:
        """Raises LobbyRefusal or LobbyAway, as all below do."""
        request = pb.CreateRoomRequest(name=name, request_id=request_id)
        return await self._ask(lambda stub, t: stub.CreateRoom(request, timeout=t))

    async def join(self, room: str, name: str, token: str, request_id: str) -> pb.JoinRoomResponse:
        request = pb.JoinRoomRequest(room=room, name=name, token=token, request_id=request_id)
        return await self._ask(lambda stub, t: stub.JoinRoom(request, timeout=t))

    async def lobby(self, room: str, token: str = "") -> pb.GetLobbyResponse:
        request = pb.GetLobbyRequest(room=room, token=token)
        return await self._ask(lambda stub, t: stub.GetLobby(request, timeout=t))

    async def act(self, token: str, act: bytes) -> pb.ActResponse:
        request = pb.ActRequest(token=token, act=act, request_id=secrets.token_hex(8))
        # A start waits for an engine to open the table.
        return await self._ask(lambda stub, t: stub.Act(request, timeout=t), timeout=self.timeout * 3)

    async def presence(self, token: str, socket: str, *, here: bool) -> None:
        kind = pb.PRESENCE_KIND_HERE if here else pb.PRESENCE_KIND_GONE
        request = pb.PresenceRequest(token=token, socket=socket, kind=kind)
        await self._ask(lambda stub, t: stub.Presence(request, timeout=t))

    async def ready(self) -> str | None:
        """None when lobbies can be read and written, else why not."""
        try:
            answer = await self._ask(lambda stub, t: stub.Ready(pb.ReadyRequest(), timeout=t), timeout=1.0)
        except LobbyRefusal as refusal:
            return f"rooms says {refusal.code}"
        except LobbyAway as away:
            return f"rooms can't be asked: {away}"
        return f"rooms: {answer.missing}" if answer.missing else None

    async def _ask(
        self, call: Callable[[RoomsServiceAsyncStub, float], Awaitable[R]], timeout: float | None = None
    ) -> R:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (timeout or self.timeout)
        why = "no address is set"
        for _ in range(len(self._stubs) * 2):
            left = deadline - loop.time()
            if left <= 0:
                break
            stub = self._stubs[self._next % len(self._stubs)]
            self._next += 1
            try:
                return await call(stub, left)
            except grpc.aio.AioRpcError as error:
                code, detail = error.code(), error.details() or ""
                if code is grpc.StatusCode.UNAVAILABLE and detail in ("lobby_away", "engine_away"):
                    raise (LobbyAway(detail) if detail == "lobby_away" else LobbyRefusal(detail)) from None
                if code not in (
                    grpc.StatusCode.UNAVAILABLE,
                    grpc.StatusCode.DEADLINE_EXCEEDED,
                    grpc.StatusCode.CANCELLED,
                ):
                    raise LobbyRefusal(detail if detail.isidentifier() else "unknown") from None
                why = f"{code.name.lower()}"
                await asyncio.sleep(min(0.05, max(0.0, deadline - loop.time())))
        raise LobbyAway(why)
