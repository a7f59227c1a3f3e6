"""Lobbies as they are asked for: by players, and by the passing of time."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from servicekit import logs
from servicekit.tokens import BadToken, Claims, Tokens
from services.rooms import lobby, presence, table
from services.rooms.changes import TRIES, Busy, Changes
from services.rooms.engine import EngineAway, Refused, Tables
from services.rooms.house import House
from services.rooms.live_tables import LiveTables
from services.rooms.metrics import RoomsMetrics
from services.rooms.room import LobbyError, Room, Seen, Times, shown
from services.rooms.store import Full, Store
from wire import client_in, client_out
from wire.places import tidy_code

MAX_REQUEST = 64
MAX_ACT = 4096
MAX_SOCKET = 64
MAX_STILL_HERE = 64
AGAIN = 5000
"""ms until a table whose engine was away is looked for again."""

_acts: msgspec.json.Decoder[client_in.LobbyAct] = msgspec.json.Decoder(client_in.LobbyAct)


class Seat(NamedTuple):
    """A player's place in a room, and the token that proves it."""

    room: str
    player: str
    token: str


class Lobbies:
    """Everything that can be asked of rooms.  Raises LobbyError with the code to answer, StoreAway, Busy, BadRoom."""

    def __init__(
        self,
        store: Store,
        tokens: Tokens,
        tables: Tables,
        rooms: Changes,
        house: House,
        live: LiveTables,
        times: Times,
        metrics: RoomsMetrics,
    ) -> None:
        self._store, self._tokens, self._tables, self._rooms = store, tokens, tables, rooms
        self._house, self._live, self._times, self._metrics = house, live, times, metrics
        self._log = logs.logger(__name__)

    # ---- asked by players ----------------------------------------------------

    async def create(self, typed: str, request: str) -> Seat:
        name, request = lobby.name_of(typed), _request(request)
        key = _key(request, name)
        for _ in range(TRIES):
            code = self._house.code()
            if await self._rooms.played(code):
                continue
            room = lobby.found(code, secrets.token_hex(6), _id("p"), name, await self._store.now())
            room.write = secrets.token_hex(6)
            try:
                made = await self._store.create(key, room, presence.due_at(room, self._times), self._house.most())
            except Full as full:
                self._metrics.no_place_for("room")
                raise LobbyError("house_full") from full
            if made is None:
                continue
            if made.room != room.room:
                seen = await self._store.read(made.room)
                if seen is None or seen.room.birth != made.birth:
                    await self._store.forget_request(key)
                    continue
            else:
                self._log.info("a room is hosted", room=made.room)
            return Seat(made.room, made.player, self._tokens.sign(made.room, made.birth, made.player))
        raise Busy

    async def join(self, typed_code: str, typed: str, token: str, request: str) -> Seat:
        """A newcomer, or with a token somebody who comes back."""
        code, request = _code(typed_code), _request(request)
        claims = self._claims(token) if token else None
        if claims is not None and claims.room != code:
            raise LobbyError("bad_token")
        name = lobby.name_of(typed) if claims is None else ""
        new = _id("p")

        def come_in(room: Room, now: int) -> Seat:
            if claims is not None:
                _same_room(room, claims)
                player = lobby.come_back(room, claims.player, typed, now, self._times)
            else:
                key = _key(request, name)
                player = lobby.repeated(room, key, now, self._times) or lobby.join(
                    room, new, name, key, now, self._times
                )
            return Seat(code, player.player, self._tokens.sign(code, room.birth, player.player))

        return (await self._rooms.change(code, come_in, claims))[1]

    async def look(self, typed_code: str, token: str) -> tuple[client_out.Lobby, str]:
        """The lobby as it is, and whose token it was ("" without one)."""
        claims = self._claims(token) if token else None
        code = claims.room if claims is not None and not typed_code else _code(typed_code)
        seen = await self._rooms.read(code, claims)
        if claims is None:
            return shown(seen.room), ""
        if claims.room != code:
            raise LobbyError("bad_token")
        _same_room(seen.room, claims)
        if claims.player in seen.room.removed:
            raise LobbyError("removed")
        return shown(seen.room), claims.player

    async def act(self, token: str, body: bytes, request: str) -> client_out.Lobby:
        claims, request = self._claims(token), _request(request)
        if len(body) > MAX_ACT:
            raise LobbyError("unknown")
        try:
            do = _acts.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise LobbyError("unknown") from error
        if isinstance(do, client_in.StartTable):
            return await self._start(claims, do.game)
        bot = _id("b")

        def make(room: Room, now: int) -> None:
            if isinstance(do, client_in.LeaveRoom):
                _same_room(room, claims)
                lobby.leave(room, claims.player, now, self._times)
                return
            _member(room, claims)
            before = room.bots
            lobby.act_once(room, claims.player, do, bot, request, now, self._times)
            if room.bots > before:
                self._need_drivers(room)

        return shown((await self._rooms.change(claims.room, make, claims))[0])

    async def presence(self, token: str, socket: str, here: bool) -> None:
        """A socket of this player is open, or closed."""
        claims = self._claims(token)
        if not socket or len(socket) > MAX_SOCKET:
            raise LobbyError("unknown")

        def make(room: Room, now: int) -> None:
            _same_room(room, claims)
            if here:
                lobby.arrive(room, claims.player, socket, now, self._times)
            else:
                presence.gone(room, claims.player, socket, now)

        await self._rooms.change(claims.room, make, claims if here else None)

    async def still_here(self, sockets: Sequence[tuple[str, str]]) -> list[str]:
        """Tokens and sockets that are open, room by room; of each "", or why it is refused."""
        if len(sockets) > MAX_STILL_HERE:
            raise LobbyError("unknown")
        refusals = [""] * len(sockets)
        rooms: dict[str, dict[int, tuple[Claims, str]]] = {}
        for at, (token, socket) in enumerate(sockets):
            try:
                claims = self._claims(token)
                if not socket or len(socket) > MAX_SOCKET:
                    raise LobbyError("unknown")
            except LobbyError as error:
                refusals[at] = error.code
            else:
                rooms.setdefault(claims.room, {})[at] = (claims, socket)

        async def beat(code: str, there: dict[int, tuple[Claims, str]]) -> None:
            def make(room: Room, now: int) -> None:
                for at, (claims, socket) in there.items():
                    refusals[at] = ""
                    try:
                        _same_room(room, claims)
                        lobby.arrive(room, claims.player, socket, now, self._times)
                    except LobbyError as error:
                        refusals[at] = error.code

            try:
                await self._rooms.change(code, make, next(iter(there.values()))[0])
            except LobbyError as error:
                for at in there:
                    refusals[at] = error.code

        for code, there in rooms.items():  # one after another: it is never urgent
            await beat(code, there)
        return refusals

    # ---- the table -------------------------------------------------------------

    async def _start(self, claims: Claims, game: str) -> client_out.Lobby:
        if not 0 < len(game) <= 64:
            raise LobbyError("unknown")
        new = table.new_id(claims.birth)

        def begin(room: Room, now: int) -> str | None:
            _member(room, claims)
            opening = table.open_with(room, claims.player, new, game, now)
            if opening is not None and opening.table == new:
                self._need_drivers(room)
                self._house.promise(room.room, room.bots)
            return opening.table if opening is not None else None

        room, asked = await self._rooms.change(claims.room, begin, claims)
        if asked is None and not await self._live.there(room):
            room, asked = await self._rooms.change(claims.room, begin)
        if asked is None:
            return shown(room)
        try:
            live = await self._tables.open(room.room, asked, game, room.host, room.players)
        except (EngineAway, Refused) as error:
            self._metrics.table_asked_for("engine_away" if isinstance(error, EngineAway) else "refused")
            self._log.warning("a table could not be opened", room=room.room, table=asked, why=str(error))
            await self._rooms.change(room.room, lambda room, _: table.not_opened(room, asked))
            raise LobbyError("engine_away" if isinstance(error, EngineAway) else "unknown") from error
        self._metrics.table_asked_for("opened" if live == asked else "was_live")
        self._log.info("a table is open", room=room.room, table=live)
        room, _ = await self._rooms.change(room.room, lambda room, now: table.opened(room, asked, live, now))
        return shown(room)

    def _need_drivers(self, room: Room) -> None:
        """Raises LobbyError `bots_busy`: its bots would sit at the table and do nothing."""
        if not self._house.drives(room.room, room.bots):
            self._metrics.no_place_for("bot")
            raise LobbyError("bots_busy")

    # ---- time --------------------------------------------------------------------

    async def settle(self, code: str) -> None:
        """Its time has come: whatever the room waited for is done."""
        seen = await self._store.read(code)
        if seen is None:
            await self._store.remove(code, None)
            return
        room = seen.room
        if presence.expired(room, seen.now, self._times):
            await self._expire(seen)
            return
        soonest = 1000
        try:
            if room.opening is not None and seen.now - room.opening.at >= self._times.opening:
                await self._live.given_up(code, room.opening.table)
            if room.table is not None and table.to_check(room, seen.now, self._times):
                await self._live.check(code, room.table)
        except EngineAway as error:
            # The table is left as it is, and asked about again; people come and go meanwhile.
            self._log.info("an engine is away, its room waits", room=code, why=str(error))
            soonest = AGAIN
        await self._rooms.change(code, lambda room, now: presence.sweep(room, now, self._times), soonest=soonest)

    async def _expire(self, seen: Seen) -> None:
        room = seen.room
        name = room.table or (room.opening.table if room.opening is not None else None)
        if name is not None:
            await self._tables.close(room.room, name, "expired")
        if await self._store.remove(room.room, seen.raw):
            self._metrics.room_expired()
            self._log.info("a room is gone: nobody was in it", room=room.room)
            # TVs may still show it.
            await self._rooms.tell(client_out.Lobby(room=room.room, rev=room.rev + 1, host="", players=[]))

    def _claims(self, token: str) -> Claims:
        try:
            return self._tokens.read(token)
        except BadToken as error:
            raise LobbyError("bad_token") from error


def _id(kind: str) -> str:
    return kind + secrets.token_hex(5)


def _code(typed: str) -> str:
    code = tidy_code(typed) if len(typed) <= 32 else None
    if code is None:
        raise LobbyError("no_room")
    return code


def _key(request: str, name: str) -> str:
    """What a repeated call is known by: an id is only as good as its sender's dice, so the name must be the same."""
    return f"{request} {name}" if request else ""


def _request(request: str) -> str:
    if len(request) > MAX_REQUEST:
        raise LobbyError("unknown")
    return request


def _same_room(room: Room, claims: Claims) -> None:
    if room.birth != claims.birth:
        raise LobbyError("bad_token")


def _member(room: Room, claims: Claims) -> None:
    """Raises LobbyError `bad_token` or `removed` unless the token's player is on the list."""
    _same_room(room, claims)
    if claims.player in room.removed:
        raise LobbyError("removed")
    if room.find(claims.player) is None:
        raise LobbyError("bad_token")
