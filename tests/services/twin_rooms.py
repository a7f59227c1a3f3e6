"""Rooms as gateways and watch see them: lobbies in memory, published at every change, and away when told."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import msgspec
from nats.aio.client import Client

from generated.snatch.rooms.v1 import rooms_pb2 as pb
from generated.snatch.rooms.v1 import rooms_pb2_grpc
from servicekit import rpc
from servicekit.tokens import BadToken, Tokens
from wire import client_in, client_out, frames, subjects

SECRET = "a secret for the twins' tests"


class TwinRooms(rooms_pb2_grpc.RoomsServiceServicer):
    def __init__(self, nc: Client) -> None:
        self.nc = nc
        self.tokens = Tokens(SECRET)
        self.lobbies: dict[str, client_out.Lobby] = {}
        self.removed: set[str] = set()
        self.no_place: set[str] = set()
        """Players whose places others have taken."""
        self.made: dict[str, pb.CreateRoomResponse] = {}
        self.of_before = False
        """Of the release before: it knows no StillHere."""
        self.still_here: list[list[str]] = []
        """The sockets of each call."""
        self.presence: list[tuple[str, str, bool]] = []
        """(player, socket, here) as told."""
        self.away = False
        self.looks = 0
        self.addr = ""
        self.something = asyncio.Condition()
        self._server: grpc.aio.Server | None = None

    async def start(self) -> None:
        self._server = rpc.server()
        rooms_pb2_grpc.add_RoomsServiceServicer_to_server(self, self._server)
        port = self._server.add_insecure_port(self.addr or "127.0.0.1:0")
        self.addr = f"127.0.0.1:{port}"
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(0)
            self._server = None

    def room(self, code: str, *players: str, table: str | None = None) -> client_out.Lobby:
        """A room with these players, the first of them its host."""
        members = [client_out.LobbyPlayer(p, p.title(), i) for i, p in enumerate(players)]
        self.lobbies[code] = client_out.Lobby(code, 1, players[0] if players else "", members, table)
        return self.lobbies[code]

    def token(self, room: str, player: str, birth: str = "b1") -> str:
        return self.tokens.sign(room, birth, player)

    async def change(self, room: str, **fields: Any) -> None:
        """Change a lobby and publish it."""
        lobby = self.lobbies[room]
        for name, value in fields.items():
            setattr(lobby, name, value)
        lobby.rev += 1
        body = msgspec.json.encode(lobby)
        await self.nc.publish(subjects.lobby(room), frames.pack(frames.LOBBY, 0, lobby.rev, (), body))
        await self.nc.flush()

    def sockets(self, *, here: bool) -> set[str]:
        """Those of which it was told so.  An answer that comes late is asked for again: how often isn't promised."""
        return {socket for _, socket, told in self.presence if told is here}

    async def until(self, true: Any, timeout: float = 10.0) -> None:
        async with asyncio.timeout(timeout), self.something:
            await self.something.wait_for(true)

    # ---- questions ----

    async def _check(self, context: Any) -> None:
        if self.away:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "lobby_away")

    async def _claims(self, token: str, context: Any) -> tuple[client_out.Lobby, str]:
        try:
            claims = self.tokens.read(token)
        except BadToken:
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "bad_token")
            raise
        lobby = self.lobbies.get(claims.room)
        if lobby is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no_room")
            raise AssertionError
        if claims.birth != "b1":
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "bad_token")
        if claims.player in self.removed:
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "removed")
        return lobby, claims.player

    async def CreateRoom(self, request: pb.CreateRoomRequest, context: Any) -> pb.CreateRoomResponse:  # noqa: N802
        await self._check(context)
        made = self.made.get(request.request_id)
        if made is None:
            code = f"BCDF{'GHJKM'[len(self.made) % 5]}"
            self.room(code, "p1")
            made = pb.CreateRoomResponse(room=code, player="p1", token=self.token(code, "p1"))
            self.made[request.request_id] = made
        return made

    async def JoinRoom(self, request: pb.JoinRoomRequest, context: Any) -> pb.JoinRoomResponse:  # noqa: N802
        await self._check(context)
        if request.room not in self.lobbies:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no_room")
        if request.token:
            _, player = await self._claims(request.token, context)
        else:
            player = "p2"
        return pb.JoinRoomResponse(room=request.room, player=player, token=self.token(request.room, player))

    async def GetLobby(self, request: pb.GetLobbyRequest, context: Any) -> pb.GetLobbyResponse:  # noqa: N802
        self.looks += 1
        await self._check(context)
        if request.token:
            lobby, player = await self._claims(request.token, context)
            return pb.GetLobbyResponse(lobby=msgspec.json.encode(lobby), player=player)
        if request.room not in self.lobbies:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no_room")
        return pb.GetLobbyResponse(lobby=msgspec.json.encode(self.lobbies[request.room]))

    async def Ready(self, request: pb.ReadyRequest, context: Any) -> pb.ReadyResponse:  # noqa: N802
        await self._check(context)
        return pb.ReadyResponse()

    async def Act(self, request: pb.ActRequest, context: Any) -> pb.ActResponse:  # noqa: N802
        await self._check(context)
        lobby, player = await self._claims(request.token, context)
        act = msgspec.json.decode(request.act, type=client_in.LobbyAct)
        if isinstance(act, client_in.SetName):
            next(p for p in lobby.players if p.player == player).name = act.name
            await self.change(lobby.room)
        elif isinstance(act, client_in.LeaveRoom):
            await self.change(lobby.room, players=[p for p in lobby.players if p.player != player])
        elif player != lobby.host:
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not_host")
        return pb.ActResponse(lobby=msgspec.json.encode(lobby))

    async def Presence(self, request: pb.PresenceRequest, context: Any) -> pb.PresenceResponse:  # noqa: N802
        await self._check(context)
        _, player = await self._claims(request.token, context)
        if player in self.no_place:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "full")
        self.presence.append((player, request.socket, request.kind == pb.PRESENCE_KIND_HERE))
        async with self.something:
            self.something.notify_all()
        return pb.PresenceResponse()

    async def StillHere(self, request: pb.StillHereRequest, context: Any) -> pb.StillHereResponse:  # noqa: N802
        await self._check(context)
        if self.of_before:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "")
        self.still_here.append([s.socket for s in request.sockets])
        async with self.something:
            self.something.notify_all()
        return pb.StillHereResponse(refusals=["" for _ in request.sockets])
