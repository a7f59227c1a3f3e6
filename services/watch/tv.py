"""A TV's socket: which room, then what everyone at its table may see, for as long as it is on.

It hears the table's frames only; nothing that a seat alone may know comes to this process.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.audience import Audience
from servicekit.engines import EngineAway
from servicekit.feed import Feeds, RoomFeed
from servicekit.greeting import BadGreeting, greeting
from servicekit.limits import Bucket
from servicekit.lobby_feed import LobbyFeed, LobbyFeeds, gone
from servicekit.rooms_client import LobbyRefusal
from servicekit.sockets import BAD_HELLO, NO_ROOM, POLICY, SLOW, Socket
from services.watch.metrics import WatchMetrics
from services.watch.settings import WatchSettings
from wire import client_in
from wire.client_out import VERSION, Lobby, NoTable, Pong, Waiting, Welcome
from wire.frames import Frame
from wire.places import tidy_code

PINGS_PER_SECOND, PINGS_BURST = 5.0, 20.0
MAX_BAD = 10
ANY_TABLE = ""

_messages: msgspec.json.Decoder[client_in.TvMessage] = msgspec.json.Decoder(client_in.TvMessage)
_NO_TABLE = msgspec.json.encode(NoTable())
_WAITING = msgspec.json.encode(Waiting())


@dataclass(frozen=True)
class Parts:
    """What a TV's socket stands on."""

    settings: WatchSettings
    lobbies: LobbyFeeds
    feeds: Feeds
    metrics: WatchMetrics


class Tv:
    """One socket, from the room it names to its end."""

    def __init__(self, socket: Socket, parts: Parts) -> None:
        self._socket = socket
        self._parts = parts
        self._room = ""
        self._lobby: LobbyFeed | None = None
        self._feed: RoomFeed | None = None
        self._table: str | None = None
        self._audience: Audience | None = None
        self._again: asyncio.TimerHandle | None = None
        self._bucket = Bucket(PINGS_PER_SECOND, PINGS_BURST, asyncio.get_running_loop().time())
        self._bad = 0
        self._log = logs.logger(__name__)

    async def run(self) -> None:
        """Serve the TV until it is off."""
        try:
            if await self._hello() and await self._enter():
                await self._read()
        finally:
            self._leave()

    async def _hello(self) -> bool:
        try:
            watch = await greeting(self._socket, _messages, client_in.Watch, self._parts.settings.hello_timeout)
        except BadGreeting as bad:
            return self._refuse(bad.code, bad.text, BAD_HELLO)
        if watch is None:
            return False
        code = tidy_code(watch.room)
        if code is None:
            return self._refuse("no_room", "that is no room code", NO_ROOM)
        self._room = code
        self._log = self._log.bind(room=code)
        return True

    async def _enter(self) -> bool:
        """Welcome, lobby, then the table or that there is none.  Rooms may be away: then the table alone."""
        parts = self._parts
        feed = self._lobby = await parts.lobbies.enter(self._room)
        try:
            told = await parts.lobbies.ask(feed)
        except LobbyRefusal as refusal:
            return self._refuse(refusal.code, "there is no such room", NO_ROOM)
        try:
            self._feed = await parts.feeds.enter(self._room)
        except EngineAway as error:
            self._log.warning("frames can't be heard", why=str(error))
            self._socket.close(SLOW, "the table can't be reached")
            return False
        self._socket.send(msgspec.json.encode(Welcome(v=VERSION, build=parts.settings.build)))
        feed.listeners.append(self)
        if feed.lobby is not None:
            self.on_lobby(feed.lobby, feed.body)
            if self._table is None and not self._socket.closing:
                self._socket.send(_NO_TABLE)
        elif not told:
            self._show(ANY_TABLE)
        return not self._socket.closing

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            data = await self._socket.receive()
            if data is None or self._socket.closing:
                return
            wait = self._bucket.take(loop.time())
            while wait:
                await asyncio.sleep(wait)
                wait = self._bucket.take(loop.time())
            try:
                message = _messages.decode(data)
                why = "watch comes once"
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                message, why = None, str(error)[:200]
            if isinstance(message, client_in.Ping):
                self._socket.send(msgspec.json.encode(Pong(message.at)))
                continue
            self._bad += 1
            self._parts.metrics.error_told("bad_message")
            self._socket.error("bad_message", why)
            if self._bad > MAX_BAD:
                self._socket.close(POLICY, "too many bad messages")

    # ---- lobby and table ----

    def on_lobby(self, lobby: Lobby, body: bytes) -> None:
        if self._socket.closing:
            return
        self._socket.send(body)
        if gone(lobby):
            self._refuse("no_room", "the room is gone", NO_ROOM)
        elif lobby.table is None:
            self._show_none()
        elif lobby.table != self._table:
            self._show(lobby.table)

    def _show(self, table: str) -> None:
        """Hear this table: a snapshot, then its frames."""
        if table != ANY_TABLE and self._table == ANY_TABLE and self._audience is not None:
            self._table = table
            return
        self._drop()
        assert self._feed is not None
        self._table = table
        self._audience = Audience(self, self._view)
        self._feed.audiences.append(self._audience)
        self._audience.begin()

    def _show_none(self) -> None:
        if self._table is not None:
            self._drop()
            self._table = None
            self._socket.send(_NO_TABLE)

    def _drop(self) -> None:
        if self._again is not None:
            self._again.cancel()
            self._again = None
        if self._audience is not None:
            self._audience.close()
            if self._feed is not None and self._audience in self._feed.audiences:
                self._feed.audiences.remove(self._audience)
            self._audience = None

    async def _view(self, timeout: float) -> pb.Snapshot:
        """One View serves all TVs of the room that want one."""
        assert self._feed is not None
        request = pb.ViewRequest(room=self._room, table=self._table or "")

        async def ask() -> pb.Snapshot:
            return (await self._parts.feeds.engines.view(request, timeout)).snapshot

        return await self._feed.shared_view(request.table, ask)

    def on_snapshot(self, snapshot: pb.Snapshot) -> None:
        self._parts.metrics.snapshot_sent()
        self._socket.send(snapshot.body)

    def on_frame(self, frame: Frame) -> None:
        self._parts.metrics.frame_sent(len(frame.body))
        self._socket.send(frame.body)

    def on_waiting(self) -> None:
        self._socket.send(_WAITING)

    def on_refused(self, detail: str) -> None:
        """The table is gone: the lobby will say so; should it not, look again."""
        table = self._table
        self._drop()
        self._parts.lobbies.doubt(self._room)
        if table is not None and not self._socket.closing:
            self._again = asyncio.get_running_loop().call_later(1.0, self._look_again, table)

    def _look_again(self, table: str) -> None:
        if table == self._table and not self._socket.closing:
            self._show(table)

    # ---- the end ----

    def _refuse(self, code: str, text: str, close: int) -> bool:
        self._parts.metrics.error_told(code)
        self._socket.error(code, text)
        self._socket.close(close, code)
        return False

    def _leave(self) -> None:
        self._drop()
        self._table = None
        if self._feed is not None:
            self._parts.feeds.leave(self._feed)
        if self._lobby is not None:
            if self in self._lobby.listeners:
                self._lobby.listeners.remove(self)
            self._parts.lobbies.leave(self._lobby)
