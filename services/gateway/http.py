"""The HTTP API, and the pages that the gateway serves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar
from urllib.parse import urlencode

import msgspec
from fastapi import FastAPI
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from servicekit import web
from servicekit.health import Ready, ready_response
from servicekit.limits import AddressLimit
from servicekit.rooms_client import LobbyAway, LobbyRefusal, RoomsClient
from services.gateway.metrics import GatewayMetrics
from services.gateway.settings import GatewaySettings
from wire import client_in
from wire.client_out import Lobby
from wire.places import tidy_code
from wire.tolerant import decoder

BODY_WITHIN = 5.0
"""Seconds in which a body must have come."""
STATUS = {
    "no_room": 404,
    "bad_token": 403,
    "removed": 403,
    "full": 409,
    "name": 400,
    "bad_message": 400,
    "too_big": 413,
    "slow_down": 429,
    "house_full": 503,
    "lobby_away": 503,
    "engine_away": 503,
}
TEXT = {
    "no_room": "there is no such room",
    "bad_token": "that token is not from here",
    "removed": "you were removed from this room",
    "full": "the room is full",
    "name": "that is no name",
    "house_full": "no further room can be hosted just now: those that are there go on",
    "lobby_away": "the lobby can't be reached just now",
}
RETRY_AFTER = {"house_full": 30}
"""Seconds until it is worth another try: a place is free when some room has ended."""

RequestId = Annotated[str, Meta(max_length=64)]
T = TypeVar("T")
_lobby = decoder(Lobby)


class HostRoom(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /api/rooms."""

    name: client_in.Name
    request_id: RequestId


class JoinRoom(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /api/rooms/{code}/join."""

    request_id: RequestId
    name: Annotated[str, Meta(max_length=64)] = ""
    """May be empty when a token brings its player back."""
    token: Annotated[str, Meta(max_length=512)] | None = None


class Refused(Exception):
    """An API call is refused: an error `code`, and the seconds `after` which it may be tried again."""

    def __init__(self, code: str, text: str = "", after: float = 0.0) -> None:
        super().__init__(code)
        self.code = code
        self.text = text
        self.after = after


class Api:
    """The calls of `/api`, and what they may cost."""

    def __init__(self, settings: GatewaySettings, site: web.Site, rooms: RoomsClient, metrics: GatewayMetrics) -> None:
        self._site = site
        self._rooms = rooms
        self._metrics = metrics
        self._schemas = settings.web_dir / "schemas"
        self._create = AddressLimit(settings.create_per_minute)
        self._join = AddressLimit(settings.join_per_minute)
        self._look = AddressLimit(settings.look_per_minute)

    async def create(self, request: Request) -> Response:
        async def answer() -> Response:
            self._spend(self._create, request)
            wish = await _body(request, HostRoom)
            seat = await self._rooms.create(wish.name, wish.request_id)
            return JSONResponse({"room": seat.room, "player": seat.player, "token": seat.token})

        return await self._answered("create", request, answer)

    async def join(self, request: Request) -> Response:
        async def answer() -> Response:
            self._spend(self._join, request)
            code = _code(request)
            wish = await _body(request, JoinRoom)
            seat = await self._rooms.join(code, wish.name, wish.token or "", wish.request_id)
            return JSONResponse({"room": seat.room, "player": seat.player, "token": seat.token})

        return await self._answered("join", request, answer)

    async def look(self, request: Request) -> Response:
        async def answer() -> Response:
            self._spend(self._look, request)
            code = _code(request)
            lobby = _lobby((await self._rooms.lobby(code)).lobby)
            return JSONResponse({"room": lobby.room, "players": len(lobby.players), "playing": lobby.table is not None})

        return await self._answered("look", request, answer)

    async def schema(self, request: Request) -> Response:
        """The files that the client's build wrote beside its pages."""
        name = request.path_params["name"]
        path = self._schemas / f"{name}.json"
        if not name.replace("_", "").isalnum() or not path.is_file():
            return web.problem("unknown", "there is no such schema", 404)
        headers = {"cache-control": "no-cache", "access-control-allow-origin": "*"}
        return FileResponse(path, media_type="application/schema+json", headers=headers)

    def _spend(self, limit: AddressLimit, request: Request) -> None:
        wait = limit.take(self._site.address(request), time.monotonic())
        if wait:
            raise Refused("slow_down", "too many of these from your address", wait)

    async def _answered(self, call: str, request: Request, answer: Callable[[], Awaitable[Response]]) -> Response:
        try:
            if request.method == "POST" and not self._site.origin_allowed(request):
                raise Refused("bad_message", "not from that origin")
            response = await answer()
        except Refused as refused:
            headers = {"retry-after": str(int(refused.after) + 1)} if refused.after else None
            response = _problem(refused.code, refused.text, headers)
        except LobbyRefusal as refusal:
            after = RETRY_AFTER.get(refusal.code)
            response = _problem(refusal.code, headers={"retry-after": str(after)} if after else None)
        except LobbyAway:
            response = _problem("lobby_away", headers={"retry-after": "1"})
        response.headers.setdefault("cache-control", "no-store")
        self._metrics.called(call, response.status_code)
        return response


def build_app(settings: GatewaySettings, site: web.Site, api: Api, ready: Ready) -> FastAPI:
    """All of HTTP; the socket's route is added by whoever owns the sockets."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, title="Snatch")
    app.add_middleware(web.SecurityHeaders)
    app.add_exception_handler(HTTPException, web.on_http_error)
    app.add_exception_handler(Exception, web.on_crash)

    async def readyz(_: Request) -> Response:
        response = ready_response(await ready())
        response.headers["cache-control"] = "no-store"
        return response

    async def index(_: Request) -> Response:
        return web.page(settings.web_dir, "index.html")

    async def watch(request: Request) -> Response:
        code = request.query_params.get("code", "")
        query = f"?{urlencode({'code': code})}" if code else ""
        return RedirectResponse(site.watch_url(request) + query, status_code=307)

    app.router.routes.extend(
        [
            Route("/api/rooms", api.create, methods=["POST"]),
            Route("/api/rooms/{code}", api.look, methods=["GET"]),
            Route("/api/rooms/{code}/join", api.join, methods=["POST"]),
            Route("/api/schemas/{name}.json", api.schema, methods=["GET"]),
            Route("/readyz", readyz),
            Route("/", index),
            Route("/r/{code}", index),
            Route("/watch", watch),
            *web.routes(settings, site),
        ]
    )
    return app


def _problem(code: str, text: str = "", headers: dict[str, str] | None = None) -> JSONResponse:
    return web.problem(code, text or TEXT.get(code, code), STATUS.get(code, 400), headers)


def _code(request: Request) -> str:
    code = tidy_code(request.path_params["code"][:32])
    if code is None:
        raise Refused("no_room")
    return code


async def _body(request: Request, shape: type[T]) -> T:
    """The body as `shape`, strictly.  Raises Refused."""
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_WITHIN):
            async for part in request.stream():
                data += part
                if len(data) > client_in.MAX_BYTES:
                    raise Refused("too_big", f"at most {client_in.MAX_BYTES} bytes")
        return msgspec.json.decode(data, type=shape)
    except TimeoutError:
        raise Refused("bad_message", "the body didn't come") from None
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Refused("bad_message", str(error)[:200]) from None
