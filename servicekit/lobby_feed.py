"""A room's lobby, for the sockets that show it here: one subscription a room and process.

A lobby is published whole at every change and its `rev` grows, so a lost one is made
good by the next; after a NATS fault the lobbies of all rooms read here are asked for.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from servicekit import logs
from servicekit.bus import Bus, barrier
from servicekit.rooms_client import LobbyAway, LobbyRefusal, RoomsClient
from wire import frames, subjects
from wire.client_out import Lobby
from wire.tolerant import decoder

LINGER = 2.0
RETRY = 1.0
PENDING_MESSAGES = 1024

_decode = decoder(Lobby)


class LobbyListener(Protocol):
    """Who shows a lobby."""

    def on_lobby(self, lobby: Lobby, body: bytes) -> None:
        """A newer lobby.  Must not wait."""
        ...


class LobbyFeed:
    """A room's newest lobby as far as it is known here.  Made by `LobbyFeeds`."""

    def __init__(self, room: str) -> None:
        self.room = room
        self.users = 0
        self.lobby: Lobby | None = None
        self.body = b""
        self.listeners: list[LobbyListener] = []
        self.subscription: Subscription | None = None
        self.opening: asyncio.Task[None] | None = None
        self.closing: asyncio.TimerHandle | None = None

    def offer(self, body: bytes) -> None:
        """A lobby from wherever: taken, and told, if it is newer than the one known."""
        try:
            lobby = _decode(body)
        except msgspec.DecodeError as error:
            logs.logger(__name__).warning("a lobby can't be understood", room=self.room, error=str(error))
            return
        if self.lobby is not None and lobby.rev <= self.lobby.rev:
            return
        self.lobby, self.body = lobby, body
        for listener in tuple(self.listeners):
            listener.on_lobby(lobby, body)

    async def take(self, message: Msg) -> None:
        data = message.data
        try:
            self.offer(data if data[:1] == b"{" else frames.unpack(data).body)
        except frames.BadFrame as error:
            logs.logger(__name__).warning("a lobby frame can't be understood", room=self.room, error=str(error))


class LobbyFeeds:
    """All lobbies shown by this process."""

    def __init__(self, nc: Client, rooms: RoomsClient) -> None:
        self._nc = nc
        self._rooms = rooms
        self._feeds: dict[str, LobbyFeed] = {}
        self._doubted: set[str] = set()
        self._kick = asyncio.Event()
        self._refresher: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._refresher = asyncio.create_task(self._refresh(), name="lobby-refresher")
        if isinstance(self._nc, Bus):
            self._nc.reconnect_listeners.append(self.doubt_all)
            self._nc.slow_listeners.append(self._on_slow)

    async def stop(self) -> None:
        if isinstance(self._nc, Bus) and self.doubt_all in self._nc.reconnect_listeners:
            self._nc.reconnect_listeners.remove(self.doubt_all)
            self._nc.slow_listeners.remove(self._on_slow)
        if self._refresher is not None:
            self._refresher.cancel()
            await asyncio.gather(self._refresher, return_exceptions=True)
        for feed in self._feeds.values():
            if feed.closing is not None:
                feed.closing.cancel()
            if feed.subscription is not None and not self._nc.is_closed:
                await feed.subscription.unsubscribe()
        self._feeds.clear()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def enter(self, room: str) -> LobbyFeed:
        """The room's feed; `leave` it once for each `enter`.  What is asked of rooms after this misses nothing."""
        feed = self._feeds.get(room)
        if feed is None:
            feed = self._feeds[room] = LobbyFeed(room)
        feed.users += 1
        if feed.closing is not None:
            feed.closing.cancel()
            feed.closing = None
        if feed.opening is None:
            feed.opening = asyncio.create_task(self._subscribe(feed))
        try:
            await asyncio.shield(feed.opening)
        except BaseException:
            self.leave(feed)
            raise
        return feed

    async def ask(self, feed: LobbyFeed, token: str = "") -> bool:
        """Offer the feed what rooms has now.  Raises LobbyRefusal.

        False: rooms is away; it is asked until it answers.
        """
        try:
            answer = await self._rooms.lobby(feed.room, token)
        except LobbyAway as error:
            logs.logger(__name__).warning("the lobby is away", room=feed.room, why=str(error))
            self.doubt(feed.room)
            return False
        feed.offer(answer.lobby)
        return True

    async def _subscribe(self, feed: LobbyFeed) -> None:
        try:
            feed.subscription = await self._nc.subscribe(
                subjects.lobby(feed.room), cb=feed.take, pending_msgs_limit=PENDING_MESSAGES
            )
            await barrier(self._nc)
        except Exception as error:
            # NATS is away: its SUB goes out when it is back, and then the lobby is asked for.
            logs.logger(__name__).warning("lobby subscription", room=feed.room, error=repr(error))
            self.doubt(feed.room)

    def leave(self, feed: LobbyFeed) -> None:
        feed.users -= 1
        if feed.users == 0 and feed.closing is None:
            feed.closing = asyncio.get_running_loop().call_later(LINGER, self._close, feed)

    def doubt(self, room: str) -> None:
        """The lobby known here may be old: ask until rooms answers."""
        self._doubted.add(room)
        self._kick.set()

    def doubt_all(self) -> None:
        self._doubted.update(self._feeds)
        self._kick.set()

    def _on_slow(self, subscription: Subscription) -> None:
        for feed in self._feeds.values():
            if feed.subscription is subscription:
                self.doubt(feed.room)

    def _close(self, feed: LobbyFeed) -> None:
        if feed.users or self._feeds.get(feed.room) is not feed:
            return
        del self._feeds[feed.room]
        if feed.subscription is not None and not self._nc.is_closed:
            task = asyncio.create_task(feed.subscription.unsubscribe())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _refresh(self) -> None:
        while True:
            await self._kick.wait()
            self._kick.clear()
            for room in tuple(self._doubted):
                feed = self._feeds.get(room)
                if feed is None:
                    self._doubted.discard(room)
                    continue
                try:
                    feed.offer((await self._rooms.lobby(room)).lobby)
                except LobbyRefusal as refusal:
                    if refusal.code == "no_room":
                        rev = feed.lobby.rev + 1 if feed.lobby is not None else 0
                        feed.offer(msgspec.json.encode(Lobby(room=room, rev=rev, host="", players=[])))
                except LobbyAway:
                    break
                except Exception:  # of one lobby, or of who shows it: the others are asked for all the same
                    logs.logger(__name__).exception("a lobby could not be shown", room=room)
                self._doubted.discard(room)
            if self._doubted:
                await asyncio.sleep(RETRY)
                self._kick.set()


def gone(lobby: Lobby) -> bool:
    """What rooms publishes, and `LobbyFeeds` says, when there is no such room any more."""
    return not lobby.players
