"""A player's socket: hello, then the lobby and the table, for as long as it lives.

A task greets it and shows it in; from then on each message is handled as it is read, without
a task's turn.  Whatever else happens calls `Socket.send`, which never waits.  A move's bytes
go to the engine undecoded, a frame's bytes come back the same way.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections import deque
from collections.abc import Callable

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.greeting import BadGreeting, greeting
from servicekit.limits import Bucket
from servicekit.lobby_feed import LobbyFeed, gone
from servicekit.rooms_client import START_WITHIN, LobbyAway, LobbyRefusal
from servicekit.sockets import BAD_HELLO, NO_ROOM, POLICY, REMOVED, SLOW, Socket
from servicekit.tokens import BadToken, Claims
from services.gateway import felt
from services.gateway.parts import Parts
from services.gateway.place import Place
from wire import client_in
from wire.client_out import VERSION, Done, Lobby, Pong, Welcome

MAX_ACTS = 16
ACTS_PER_SECOND, ACTS_BURST = 10.0, 20.0
MAX_BAD = 30
"""Messages that can't be understood before the socket is closed."""
THROTTLED_FOR = 5.0
"""Seconds of sending without a pause above the limit before the socket is closed."""

_messages: msgspec.json.Decoder[client_in.ClientMessage] = msgspec.json.Decoder(client_in.ClientMessage)
_GOODBYE = {"removed": REMOVED, "bad_token": NO_ROOM, "no_room": NO_ROOM}


class _Hint(msgspec.Struct):
    """Of a message that can't be understood: what its sender needs to know it by."""

    id: int | None = None
    req: int | None = None


class Player:
    """One socket, from its hello to its end."""

    def __init__(self, socket: Socket, parts: Parts) -> None:
        self._socket = socket
        self._parts = parts
        self._id = secrets.token_hex(8)
        self._token = ""
        self._tab = 0
        self._hello_at = 0
        self._claims = Claims("", "", "")
        self._lobby: LobbyFeed | None = None
        self._leaving = False
        self._place = Place(socket, parts, self._error)
        self._acts: deque[client_in.LobbyMessage] = deque()
        self._acting: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None
        self._gone = False
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        rate = parts.settings.moves_per_second
        self._move_bucket = Bucket(rate, 2 * rate, now)
        self._act_bucket = Bucket(ACTS_PER_SECOND, ACTS_BURST, now)
        self._throttled_since: float | None = None
        self._waiting: deque[str | bytes] | None = None
        """What was read already while something waits for its turn: at most what one read brings."""
        self._bad = 0
        self._felt_at = math.inf
        """When a report was taken last, or they were asked for: a new socket buys nobody another one."""
        self._log = logs.logger(__name__)

    async def run(self) -> None:
        """Greet the socket and show it in; what it says afterwards is handled by itself, until it is gone."""
        entered = False
        try:
            entered = await self._hello() and await self._enter()
        finally:
            if not entered:
                self._leave()
        if entered:
            self._socket.listen(self)

    # ---- hello ----

    async def _hello(self) -> bool:
        try:
            hello = await greeting(self._socket, _messages, client_in.Hello, self._parts.settings.hello_timeout)
        except BadGreeting as bad:
            return self._refuse(bad.code, bad.text, BAD_HELLO)
        if hello is None:
            return False
        try:
            self._claims = self._parts.tokens.read(hello.token)
        except BadToken:
            return self._refuse("bad_token", "that token is not from here", NO_ROOM)
        self._token, self._tab = hello.token, hello.tab
        self._hello_at = time.time_ns() // 1_000_000
        self._log = self._log.bind(room=self._claims.room, player=self._claims.player)
        return True

    async def _enter(self) -> bool:
        """Welcome, lobby, and on to the table.  Rooms may be away: then the table alone."""
        parts, room = self._parts, self._claims.room
        feed = self._lobby = await parts.lobbies.enter(room)
        try:
            told = await parts.lobbies.ask(feed, self._token)
        except LobbyRefusal as refusal:
            return self._refuse(refusal.code, "", _GOODBYE.get(refusal.code, NO_ROOM))
        settings = parts.settings
        welcome = Welcome(v=VERSION, build=settings.build, player=self._claims.player, felt=settings.felt_every)
        self._socket.send(msgspec.json.encode(welcome))
        self._felt_at = self._loop.time()
        parts.presence.here(self._id, room, self._token, self._on_presence_refused)
        parts.lobby_watch.enter(self._socket)
        feed.listeners.append(self)
        if feed.lobby is not None:
            self.on_lobby(feed.lobby, feed.body)
        elif not told:
            self._place.sit(self._who(), "")
        return not self._socket.closing

    # ---- reading ----

    def on_message(self, data: str | bytes) -> None:
        """Understood, counted, and passed on; above its limit it waits, and the socket isn't read meanwhile."""
        if self._socket.closing:
            return
        if self._waiting is not None:
            self._waiting.append(data)
            return
        if not isinstance(data, str):
            self._on_bad(data, "text messages only")
            return
        try:
            message = _messages.decode(data)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            self._on_bad(data, str(error)[:200])
            return
        kind = type(message)
        if kind is client_in.MoveMessage:
            bucket = self._move_bucket
        elif kind is client_in.Hello:
            self._on_bad(data, "hello comes once")
            return
        else:
            bucket = self._act_bucket
        if not (wait := bucket.take(self._loop.time())):
            self._throttled_since = None
            self._take(message, data)
        elif self._throttle():
            self._later(bucket, wait, lambda: self._take(message, data))

    def on_gone(self) -> None:
        """The socket's end, by whichever side."""
        self._leave()

    def _take(self, message: client_in.ClientMessage, data: str) -> None:
        received = self._parts.metrics.received
        if isinstance(message, client_in.MoveMessage):
            received.move += 1
            self._place.move(message.id, data.encode())
        elif isinstance(message, client_in.Ping):
            received.ping += 1
            self._socket.send(msgspec.json.encode(Pong(message.at)))
        elif isinstance(message, client_in.LobbyMessage):
            received.lobby += 1
            self._on_act(message)
        elif isinstance(message, client_in.Felt):
            received.felt += 1
            self._on_felt(message)

    def _on_felt(self, report: client_in.Felt) -> None:
        now, parts = self._loop.time(), self._parts
        if felt.take(report, now - self._felt_at, parts.settings.felt_every, parts.metrics):
            self._felt_at = now

    def _on_bad(self, data: str | bytes, words: str) -> None:
        self._parts.metrics.received.bad += 1
        self._bad += 1
        if self._bad > MAX_BAD:
            self._error("bad_message", words)
            self._socket.close(POLICY, "too many bad messages")
        elif not (wait := self._act_bucket.take(self._loop.time())):
            self._throttled_since = None
            self._tell_bad(data, words)
        elif self._throttle():
            self._later(self._act_bucket, wait, lambda: self._tell_bad(data, words))

    def _tell_bad(self, data: str | bytes, words: str) -> None:
        try:
            hint = msgspec.json.decode(data, type=_Hint)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            hint = _Hint()
        self._error("bad_message", words, req=hint.req, id=hint.id)

    def _throttle(self) -> bool:
        """Above its limit a socket is read more slowly, and when it goes on it is closed: False."""
        now = self._loop.time()
        self._parts.metrics.message_throttled()
        if self._throttled_since is None:
            self._throttled_since = now
            self._error("slow_down", "too many messages")
        elif now - self._throttled_since > THROTTLED_FOR:
            self._error("slow_down", "too many messages for too long")
            self._socket.evicted = "too_fast"
            self._socket.close(SLOW, "too many messages")
            return False
        return True

    def _later(self, bucket: Bucket, wait: float, act: Callable[[], None]) -> None:
        self._waiting = deque()
        self._socket.hold()
        self._loop.call_later(wait, self._now, bucket, act)

    def _now(self, bucket: Bucket, act: Callable[[], None]) -> None:
        """What had to wait, if the socket is still there."""
        if self._socket.closing or self._gone:
            return
        if wait := bucket.take(self._loop.time()):
            self._loop.call_later(wait, self._now, bucket, act)
            return
        waiting, self._waiting = self._waiting, None
        act()
        for data in waiting or ():
            self.on_message(data)
        if self._waiting is None:
            self._socket.release()

    # ---- the lobby ----

    def on_lobby(self, lobby: Lobby, body: bytes) -> None:
        """A newer lobby: shown, and followed to or from the table."""
        if self._socket.closing:
            return
        self._socket.send(body)
        if self._leaving and gone(lobby):
            return  # by this player's own leaving, the last one's: the answer to it says goodbye
        if gone(lobby):
            self._refuse("no_room", "the room is gone", NO_ROOM)
            return
        me = next((p for p in lobby.players if p.player == self._claims.player), None)
        if me is not None:
            if not me.present:
                self._parts.presence.missed(self._id)
            self._place.sit(self._who(), lobby.table)
        elif not self._leaving:
            self._check()

    def _check(self) -> None:
        """Not in the lobby: removed by the host, or left by the ×?  Rooms knows."""
        if self._checking is None:
            self._checking = asyncio.create_task(self._ask_whether_removed())

    async def _ask_whether_removed(self) -> None:
        try:
            await self._parts.rooms.lobby(self._claims.room, self._token)
        except LobbyRefusal as refusal:
            if not self._leaving:
                self._refuse(refusal.code, "", _GOODBYE.get(refusal.code, NO_ROOM))
        except LobbyAway:
            self._parts.lobbies.doubt(self._claims.room)
        finally:
            self._checking = None

    def _on_presence_refused(self, code: str) -> None:
        if code in _GOODBYE and not self._leaving:
            self._check()
        elif code == "full":  # off the list meanwhile, as who comes late is: asked again when presence is told next
            self._error("full", "the room is full")

    def _on_act(self, message: client_in.LobbyMessage) -> None:
        if len(self._acts) >= MAX_ACTS:
            self._error("slow_down", "", req=message.req)
            return
        self._acts.append(message)
        if self._acting is None:
            self._acting = asyncio.create_task(self._act())

    async def _act(self) -> None:
        """Lobby acts one after another, beside the reader: a start may take seconds."""
        try:
            while self._acts and not self._socket.closing:
                message = self._acts.popleft()
                self._leaving = isinstance(message.do, client_in.LeaveRoom)
                try:
                    # A start waits for an engine to open the table.
                    within = START_WITHIN if isinstance(message.do, client_in.StartTable) else None
                    answer = await self._parts.rooms.act(self._token, msgspec.json.encode(message.do), timeout=within)
                except LobbyRefusal as refusal:
                    self._leaving = False
                    self._error(refusal.code, "", req=message.req)
                except LobbyAway:
                    self._leaving = False
                    self._error("lobby_away", "the lobby can't do that just now", req=message.req)
                else:
                    self._socket.send(msgspec.json.encode(Done(message.req)))
                    if self._leaving:
                        self._socket.close(1000, "left")
                    elif self._lobby is not None:
                        self._lobby.offer(answer.lobby)
        finally:
            self._acting = None

    def _who(self) -> pb.AttachRequest:
        who = pb.AttachRequest(room=self._claims.room, player=self._claims.player, tab=self._tab)
        who.hello_at = self._hello_at
        lobby = self._lobby.lobby if self._lobby is not None else None
        for player in lobby.players if lobby is not None else ():
            if player.player == self._claims.player:
                who.name, who.colour = player.name, player.colour
        return who

    # ---- the end ----

    def _error(self, code: str, text: str = "", *, req: int | None = None, id: int | None = None) -> None:
        self._parts.metrics.error_told(code)
        self._socket.error(code, text, req=req, id=id)

    def _refuse(self, code: str, text: str, close: int) -> bool:
        self._error(code, text)
        self._socket.close(close, code)
        return False

    def _leave(self) -> None:
        self._gone = True
        self._place.leave()
        for task in (self._checking, self._acting if not self._leaving else None):
            if task is not None:
                task.cancel()
        if self._lobby is not None:
            if self in self._lobby.listeners:
                self._lobby.listeners.remove(self)
            self._parts.lobbies.leave(self._lobby)
        self._parts.lobby_watch.leave(self._socket)
        self._parts.presence.gone(self._id)
