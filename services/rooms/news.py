"""Engines' news for the lobbies.

Every worker hears all of it: the first one's write counts, and the others find nothing to
change, so that one that hangs or dies keeps no news from a lobby.  News is kept and tried
again while Redis is away.  A worker that stood still may hear old news after newer news was
settled by others: it then asks the table instead.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, cast

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from servicekit import logs
from services.rooms.changes import Busy
from services.rooms.engine import EngineAway
from services.rooms.live_tables import LiveTables
from services.rooms.metrics import RoomsMetrics
from services.rooms.room import BadRoom, LobbyError
from services.rooms.store import StoreAway
from wire import subjects
from wire.news import TableNews

MAX_KEPT = 10_000
RETRY = 0.25
PULSE, STALLED = 0.25, 2.0
"""Seconds between signs of one's own life, and without one until all that is heard next may be old."""


class News:
    def __init__(self, tables: LiveTables, metrics: RoomsMetrics) -> None:
        self._tables, self._metrics = tables, metrics
        self._kept: deque[tuple[TableNews, bool]] = deque(maxlen=MAX_KEPT)
        """Each with whether it may be old."""
        self._some, self._none = asyncio.Event(), asyncio.Event()
        self._none.set()
        self._over = False
        self._sub: Subscription | None = None
        self._task: asyncio.Task[None] | None = None
        self._pulse: asyncio.TimerHandle | None = None
        self._alive_at = self._old_until = 0.0
        self._log = logs.logger(__name__)

    async def start(self, nc: Client) -> None:
        self._task = asyncio.create_task(self._run(), name="rooms:news")
        self._alive_at = asyncio.get_running_loop().time()
        self._live()
        self._sub = await nc.subscribe(subjects.TABLE_NEWS, cb=self._hear)

    async def stop(self, nc: Client | None) -> None:
        """Hear no more, and settle what was heard, for up to a second."""
        try:
            async with asyncio.timeout(1):
                if self._sub is not None and nc is not None and not nc.is_closed:
                    await cast(Any, self._sub).drain()
                await self._none.wait()
        except TimeoutError:
            self._log.warning("news is left unsettled", count=len(self._kept))
        self._sub, self._over = None, True
        if self._pulse is not None:
            self._pulse.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1)
            self._task = None

    def _live(self) -> None:
        """Between two of these this process may have been stopped, or have had no processor."""
        self._note_stall()
        self._pulse = asyncio.get_running_loop().call_later(PULSE, self._live)

    def _note_stall(self) -> bool:
        """Whether what is heard now may be old."""
        now = asyncio.get_running_loop().time()
        if now - self._alive_at > STALLED:
            self._old_until = now + STALLED
        self._alive_at = now
        return now < self._old_until

    async def _hear(self, message: Msg) -> None:
        try:
            news = msgspec.json.decode(message.data, type=TableNews)
        except msgspec.MsgspecError as error:
            self._log.error("news that can't be understood", why=str(error))
            return
        self._metrics.news_heard(news.what)
        self._kept.append((news, self._note_stall()))
        self._some.set()
        self._none.clear()

    async def _run(self) -> None:
        while not self._over:
            await self._some.wait()
            while self._kept and not self._over:
                first = news, old = self._kept[0]
                try:
                    if old:
                        await self._tables.check(news.room, news.table)
                    else:
                        await self._settle(news)
                except (StoreAway, Busy):
                    await asyncio.sleep(RETRY)
                    continue
                except LobbyError:
                    pass  # The room is gone, or full.
                except EngineAway as error:
                    self._log.info(
                        "an engine is away, old news is left to the next look", room=news.room, why=str(error)
                    )
                except BadRoom as error:
                    self._log.error("a room can't be read", room=news.room, why=str(error))
                except Exception:
                    self._log.exception("news could not be settled")
                if self._kept and self._kept[0] is first:
                    self._kept.popleft()
            self._some.clear()
            self._none.set()

    async def _settle(self, news: TableNews) -> None:
        match news.what:
            case "closed":
                await self._tables.closed(news.room, news.table, news.player, news.why, news.bots)
            case "host":
                await self._tables.host_is(news.room, news.table, news.player)
            case "left":
                await self._tables.left(news.room, news.table, news.player)
            case "back":
                await self._tables.back(news.room, news.table, news.player)
            case _:
                self._log.warning("unknown news", what=news.what)
