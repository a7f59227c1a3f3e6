"""RoomsService on gRPC: requests in, answers or statuses out."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import grpc
import msgspec

from generated.snatch.rooms.v1 import rooms_pb2 as pb
from generated.snatch.rooms.v1 import rooms_pb2_grpc
from servicekit import logs
from services.rooms.changes import Busy
from services.rooms.engine import EngineAway
from services.rooms.lobbies import Lobbies
from services.rooms.metrics import RoomsMetrics
from services.rooms.room import BadRoom, LobbyError
from services.rooms.store import StoreAway

STATUS = {
    "no_room": grpc.StatusCode.NOT_FOUND,
    "bad_token": grpc.StatusCode.PERMISSION_DENIED,
    "removed": grpc.StatusCode.PERMISSION_DENIED,
    "not_host": grpc.StatusCode.PERMISSION_DENIED,
    "name": grpc.StatusCode.INVALID_ARGUMENT,
    "unknown": grpc.StatusCode.INVALID_ARGUMENT,
    "colour_taken": grpc.StatusCode.ALREADY_EXISTS,
    "full": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "bots_full": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "house_full": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "bots_busy": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "table_live": grpc.StatusCode.FAILED_PRECONDITION,
    "lobby_away": grpc.StatusCode.UNAVAILABLE,
    "engine_away": grpc.StatusCode.UNAVAILABLE,
}
MAX_MESSAGE = 64 * 1024
"""Bytes; a longer request is refused unread, with RESOURCE_EXHAUSTED."""

T = TypeVar("T")


class RoomsServicer(rooms_pb2_grpc.RoomsServiceServicer):
    """Errors are as the proto says, whatever is sent."""

    def __init__(self, lobbies: Lobbies, metrics: RoomsMetrics, ready: Callable[[], Awaitable[str | None]]) -> None:
        self._lobbies, self._metrics, self._ready = lobbies, metrics, ready
        self._log = logs.logger(__name__)

    async def CreateRoom(self, request: pb.CreateRoomRequest, context: Any) -> pb.CreateRoomResponse:  # noqa: N802
        async def answer() -> pb.CreateRoomResponse:
            seat = await self._lobbies.create(request.name, request.request_id)
            return pb.CreateRoomResponse(room=seat.room, player=seat.player, token=seat.token)

        return await self._answered("create", answer, context)

    async def JoinRoom(self, request: pb.JoinRoomRequest, context: Any) -> pb.JoinRoomResponse:  # noqa: N802
        async def answer() -> pb.JoinRoomResponse:
            seat = await self._lobbies.join(request.room, request.name, request.token, request.request_id)
            return pb.JoinRoomResponse(room=seat.room, player=seat.player, token=seat.token)

        return await self._answered("join", answer, context)

    async def GetLobby(self, request: pb.GetLobbyRequest, context: Any) -> pb.GetLobbyResponse:  # noqa: N802
        async def answer() -> pb.GetLobbyResponse:
            lobby, player = await self._lobbies.look(request.room, request.token)
            return pb.GetLobbyResponse(lobby=msgspec.json.encode(lobby), player=player)

        return await self._answered("look", answer, context)

    async def Act(self, request: pb.ActRequest, context: Any) -> pb.ActResponse:  # noqa: N802
        async def answer() -> pb.ActResponse:
            lobby = await self._lobbies.act(request.token, request.act, request.request_id)
            return pb.ActResponse(lobby=msgspec.json.encode(lobby))

        return await self._answered("act", answer, context)

    async def Presence(self, request: pb.PresenceRequest, context: Any) -> pb.PresenceResponse:  # noqa: N802
        async def answer() -> pb.PresenceResponse:
            if request.kind not in (pb.PRESENCE_KIND_HERE, pb.PRESENCE_KIND_GONE):
                raise LobbyError("unknown")
            here = request.kind == pb.PRESENCE_KIND_HERE
            await self._lobbies.presence(request.token, request.socket, here)
            return pb.PresenceResponse()

        return await self._answered("presence", answer, context)

    async def StillHere(self, request: pb.StillHereRequest, context: Any) -> pb.StillHereResponse:  # noqa: N802
        async def answer() -> pb.StillHereResponse:
            sockets = [(s.token, s.socket) for s in request.sockets]
            return pb.StillHereResponse(refusals=await self._lobbies.still_here(sockets))

        return await self._answered("still_here", answer, context)

    async def Ready(self, request: pb.ReadyRequest, context: Any) -> pb.ReadyResponse:  # noqa: N802
        return pb.ReadyResponse(missing=await self._ready() or "")

    async def _answered(self, call: str, answer: Callable[[], Awaitable[T]], context: Any) -> T:
        started = time.perf_counter()
        code = "cancelled"
        try:
            result = await answer()
        except LobbyError as error:
            code = error.code
        except (StoreAway, Busy, EngineAway):
            # The store says once that Redis is away.  Without its engine a room may only seem to be gone.
            code = "lobby_away"
        except BadRoom:
            code = "bad_room"
            self._log.exception("a room can't be read")
        except Exception:
            code = "failed"
            self._log.exception("a call failed", call=call)
        else:
            code = "ok"
            return result
        finally:
            self._metrics.call_answered(call, code, time.perf_counter() - started)
        await context.abort(STATUS.get(code, grpc.StatusCode.INTERNAL), code if code in STATUS else "unknown")
        raise AssertionError("abort raises")
