"""What a room's TVs are shown: one lobby, one reader of the table, one snapshot for all who come.

A TV that comes late gets the last snapshot and the frames since, as everybody else had
them; a new one is asked for when those have become many.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.audience import Audience
from servicekit.engines import EngineAway, EngineRefusal
from servicekit.feed import Feeds, RoomFeed
from servicekit.lobby_feed import LobbyFeed, LobbyFeeds, gone
from servicekit.sockets import NO_ROOM, Socket
from servicekit.websocket import text_frame
from services.watch.fan import SLICE, Fan
from services.watch.metrics import WatchMetrics
from services.watch.settings import WatchSettings
from wire.client_out import VERSION, Error, Lobby, NoTable, Waiting, Welcome
from wire.frames import Frame

ANY_TABLE = ""
MAX_SINCE, MAX_SINCE_BYTES = 256, 64 * 1024
"""Frames kept since the last snapshot, for those who come."""
LOBBY_KNOWN_FOR = 5.0
"""Seconds after which the lobby is asked for once more when somebody comes."""
VIEW_WITHIN, VIEW_AGAIN = 5.0, 1.0

_NO_TABLE = text_frame(msgspec.json.encode(NoTable()))
_WAITING = text_frame(msgspec.json.encode(Waiting()))


@dataclass(frozen=True)
class Parts:
    """What shows stand on."""

    settings: WatchSettings
    lobbies: LobbyFeeds
    feeds: Feeds
    metrics: WatchMetrics


class Show:
    """One room.  Made with its feeds entered already; `close` leaves them."""

    def __init__(self, parts: Parts, lobby: LobbyFeed, feed: RoomFeed, *, told: bool) -> None:
        """`told`: rooms has answered; it hasn't: whatever table is live is shown."""
        self._parts = parts
        self._lobby = lobby
        self._feed = feed
        self._fan = Fan(parts.metrics.frames_sent, self._start_anew)
        self._coming: dict[Socket, None] = {}
        """Who waits for a snapshot newer than the last one."""
        self._asking: asyncio.Task[None] | None = None
        self._again: asyncio.TimerHandle | None = None
        self._table: str | None = None
        self._audience: Audience | None = None
        self._waiting = False
        self._base = b""
        self._base_number = 0
        self._since: list[tuple[int, bytes]] = []
        self._since_bytes = 0
        self._log = logs.logger(__name__).bind(room=lobby.room)
        self._welcome = text_frame(msgspec.json.encode(Welcome(v=VERSION, build=parts.settings.build)))
        self._asked_at = asyncio.get_running_loop().time()
        lobby.listeners.append(self)
        if lobby.lobby is not None:
            self._follow(lobby.lobby)
        elif not told:
            self._show(ANY_TABLE)

    def __len__(self) -> int:
        return len(self._fan) + len(self._coming)

    # ---- who comes and goes ----

    def admit(self, socket: Socket) -> None:
        """Welcome, lobby, then the table or that there is none."""
        lobby = self._lobby
        first = [self._welcome]
        if lobby.lobby is not None:
            first.append(text_frame(lobby.body))
            now = asyncio.get_running_loop().time()
            if now - self._asked_at > LOBBY_KNOWN_FOR:
                self._asked_at = now
                self._parts.lobbies.doubt(lobby.room)
        late = False
        if self._table is None:
            if lobby.lobby is not None:
                first.append(_NO_TABLE)
        elif self._base and self._base_number <= self._shown():
            first += self._caught_up()
        elif self._waiting:
            first.append(_WAITING)
        else:
            late = self._audience is not None and self._audience.epoch > 0
        socket.send_frame(b"".join(first), len(first))
        if late:
            self._coming[socket] = None
            self._ask()
        else:
            self._fan.join(socket)

    def leave(self, socket: Socket) -> None:
        self._fan.leave(socket)
        self._coming.pop(socket, None)

    def close(self) -> None:
        """Nobody is here any more."""
        self._drop()
        if self in self._lobby.listeners:
            self._lobby.listeners.remove(self)
        self._parts.feeds.leave(self._feed)
        self._parts.lobbies.leave(self._lobby)

    # ---- lobby and table ----

    def on_lobby(self, lobby: Lobby, body: bytes) -> None:
        frame = text_frame(body)
        for socket in tuple(self._coming):
            socket.send_frame(frame)
        self._fan.push(frame)
        self._follow(lobby)

    def _follow(self, lobby: Lobby) -> None:
        if gone(lobby):
            self._drop()
            self._table = None
            self._join_all()
            self._turn_away(self._fan.sockets())
        elif lobby.table is None:
            if self._table is not None:
                self._drop()
                self._table = None
                self._join_all()
                self._fan.push(_NO_TABLE)
        elif lobby.table != self._table:
            self._show(lobby.table)

    def _turn_away(self, sockets: list[Socket]) -> None:
        """The room is gone: a slice of its TVs now, the rest soon."""
        for socket in sockets[:SLICE]:
            self._parts.metrics.error_told("no_room")
            socket.send(msgspec.json.encode(Error("no_room", "the room is gone")))
            socket.close(NO_ROOM, "no_room")
        if len(sockets) > SLICE:
            asyncio.get_running_loop().call_soon(self._turn_away, sockets[SLICE:])

    def _show(self, table: str) -> None:
        """Hear this table: a snapshot, then its frames."""
        if table != ANY_TABLE and self._table == ANY_TABLE and self._audience is not None:
            self._table = table
            return
        self._drop()
        self._join_all()
        self._table = table
        self._audience = Audience(self, self._view)
        self._feed.audiences.append(self._audience)
        self._audience.begin()

    def _drop(self) -> None:
        if self._again is not None:
            self._again.cancel()
            self._again = None
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        if self._audience is not None:
            self._audience.close()
            if self._audience in self._feed.audiences:
                self._feed.audiences.remove(self._audience)
            self._audience = None
        self._waiting = False
        self._forget()

    def _start_anew(self) -> None:
        """More came than could be sent: what waited was dropped, and a snapshot makes it good."""
        self._parts.metrics.frames_dropped()
        if self._lobby.lobby is not None:
            self._fan.push(text_frame(self._lobby.body))
        if self._audience is not None:
            self._forget()
            self._audience.doubt()

    async def _view(self, timeout: float) -> pb.Snapshot:
        request = pb.ViewRequest(room=self._lobby.room, table=self._table or "")

        async def ask() -> pb.Snapshot:
            return (await self._parts.feeds.engines.view(request, timeout)).snapshot

        return await self._feed.shared_view(request.table, ask)

    # ---- what the audience tells ----

    def on_snapshot(self, snapshot: pb.Snapshot) -> None:
        self._waiting = False
        self._keep(snapshot)
        self._join_all()
        self._parts.metrics.snapshots_sent(len(self._fan))
        self._fan.push(self._base)

    def on_frame(self, frame: Frame) -> None:
        told = text_frame(frame.body)
        self._fan.push(told)
        if self._asking is not None or (self._base and frame.number > self._base_number):
            self._since.append((frame.number, told))
            self._since_bytes += len(told)
        if self._coming:
            self._catch_up(frame.number)
        elif self._asking is None and (len(self._since) > MAX_SINCE or self._since_bytes > MAX_SINCE_BYTES):
            self._forget()

    def on_waiting(self) -> None:
        self._waiting = True
        self._fan.push(_WAITING)

    def on_refused(self, detail: str) -> None:
        """The table is gone: the lobby will say so; should it not, look again."""
        table = self._table
        self._drop()
        self._join_all()
        self._parts.lobbies.doubt(self._lobby.room)
        if table is not None:
            self._again = asyncio.get_running_loop().call_later(VIEW_AGAIN, self._look_again, table)

    def _look_again(self, table: str) -> None:
        if table == self._table:
            self._show(table)

    # ---- snapshots for those who come ----

    def _shown(self) -> int:
        """The number of the last frame shown here."""
        return self._audience.table_number if self._audience is not None else 0

    def _keep(self, snapshot: pb.Snapshot) -> None:
        self._base, self._base_number = text_frame(snapshot.body), snapshot.table_number
        self._since = [(number, told) for number, told in self._since if number > self._base_number]
        self._since_bytes = sum(len(told) for _, told in self._since)

    def _forget(self) -> None:
        self._base, self._base_number, self._since, self._since_bytes = b"", 0, [], 0

    def _caught_up(self) -> list[bytes]:
        self._parts.metrics.snapshots_sent(1)
        return [self._base, *(told for _, told in self._since)]

    def _catch_up(self, shown: int) -> None:
        """Everyone who waits is shown the new snapshot, once the others have come as far."""
        if self._base and self._base_number <= shown:
            frames = self._caught_up()
            for socket in self._coming:
                socket.send_frame(b"".join(frames), len(frames))
            self._join_all()

    def _join_all(self) -> None:
        for socket in self._coming:
            self._fan.join(socket)
        self._coming.clear()

    def _ask(self) -> None:
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_for_those_who_come())

    async def _ask_for_those_who_come(self) -> None:
        """Frames that come meanwhile are kept, so that they follow it."""
        self._forget()
        try:
            while self._coming and self._audience is not None:
                audience = self._audience
                try:
                    snapshot = await self._view(VIEW_WITHIN)
                except EngineAway:
                    for socket in self._coming:
                        socket.send_frame(_WAITING)
                    await asyncio.sleep(VIEW_AGAIN)
                    continue
                except EngineRefusal:
                    snapshot = None
                if snapshot is None or snapshot.epoch != audience.epoch:
                    # Another owner's, or none: then it is news to all who are here.
                    self._join_all()
                    audience.doubt()
                else:
                    self._keep(snapshot)
                    self._catch_up(audience.table_number)
                return
        finally:
            self._asking = None
