"""Rooms held against the engines' tables, both ways: no room shows a table that isn't, no table lacks its room.

Done by one worker every now and then, and at once when Redis or NATS is back or Redis
turns out to be empty.  What is found is only a suspicion: listings grow old while they are
read.  Nothing is done before the owner of the room's partition has said so itself, and all
is written under compare-and-set, so that two workers at it do no harm.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Iterable

from servicekit import logs
from services.rooms import table
from services.rooms.changes import Busy, Changes
from services.rooms.engine import EngineAway, Tables
from services.rooms.metrics import RoomsMetrics
from services.rooms.room import BadRoom, LobbyError, Room
from services.rooms.store import Store, StoreAway

TICK = 1.0
"""Seconds between looks at whether it is time."""
AT_ONCE = 32
"""Rooms that are asked about at the same time."""
RETRY = 2_000
"""ms until it is tried again when an engine didn't answer."""

Check = Callable[[str, str], Awaitable[bool]]
"""Whether the engine has this room's table, the room told if it hasn't.  Raises EngineAway."""


def amiss(room: Room, listed: str | None) -> bool:
    """Whether a room and the table that is listed under its code disagree, as far as both are known."""
    if listed is not None and table.birth_of(listed) not in (None, room.birth):
        return True
    if room.opening is not None:
        return False
    return room.table != listed


class Reconciler:
    """`every`: seconds from one time that all rooms were looked through to the next."""

    def __init__(
        self, store: Store, rooms: Changes, check: Check, tables: Tables, metrics: RoomsMetrics, *, every: float
    ) -> None:
        self._store, self._rooms, self._check, self._tables = store, rooms, check, tables
        self._metrics, self._every = metrics, every
        self._early, self._wake = False, asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="rooms:reconcile")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def soon(self) -> None:
        """Redis or NATS was away: look through all rooms as soon as that can be done."""
        self._early = True
        self._wake.set()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                ticket = secrets.token_hex(8)
                if await self._store.may_reconcile(ticket, self._early):
                    self._early = False
                    whole = await self.once()
                    again = round(self._every * 1000) if whole else RETRY
                    if not await self._store.has_reconciled(ticket, whole, again):
                        self._early = True
            except StoreAway:
                pass
            except Exception:
                self._log.exception("rooms could not be held against tables")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK):
                    await self._wake.wait()

    async def once(self) -> bool:
        """All rooms and all tables, once.  False: somebody didn't answer, and there may be more.  Raises StoreAway."""
        listed = await self._tables.listed()
        unlisted, sure = dict(listed.tables), listed.whole
        cursor, begun = 0, False
        while cursor or not begun:
            begun = True
            cursor, codes = await self._store.codes(cursor)
            rooms = await self._store.rooms(codes)
            for room in rooms:
                unlisted.pop(room.room, None)
            wrong = [room for room in rooms if amiss(room, listed.tables.get(room.room))]
            sure &= await self._all(self._agree(room, listed.tables.get(room.room)) for room in wrong)
        sure &= await self._all(self._list(code, name) for code, name in unlisted.items())
        self._metrics.reconciled_all()
        return sure

    async def _all(self, tasks: Iterable[Awaitable[None]]) -> bool:
        """A few at once.  False: of some nothing could be learnt."""
        free, sure = asyncio.Semaphore(AT_ONCE), True

        async def one(task: Awaitable[None]) -> None:
            nonlocal sure
            async with free:
                try:
                    await task
                except LobbyError:
                    pass  # the room went meanwhile
                except (EngineAway, Busy):
                    sure = False
                except BadRoom as error:
                    self._log.error("a room can't be read", why=str(error))

        await asyncio.gather(*(one(task) for task in tasks))
        return sure

    async def _agree(self, room: Room, listed: str | None) -> None:
        """A room that shows another table than the engines list, or none."""
        code = room.room
        if room.table is not None and room.table != listed:
            if await self._check(code, room.table):
                return
            self._metrics.reconciled("table_gone")
            self._log.warning("a room's table is gone, and nobody had said so", room=code, table=room.table)
        if listed is None:
            return
        live = await self._tables.look(code, listed)
        if live is None:
            return
        _, what = await self._rooms.change(code, lambda room, now: table.stray(room, live, now))
        if what == "known":
            return
        if what == "adopted":
            await self._check(code, live.table)  # It may have ended since it was looked at, and nobody hears so again.
        else:
            await self._tables.close(code, live.table, "expired")
        self._metrics.reconciled(what)
        self._log.warning("a table that its room did not know of", room=code, table=live.table, now=what)

    async def _list(self, code: str, name: str) -> None:
        """A table without a room."""
        live = await self._tables.look(code, name)
        if live is None:
            return
        if await self._rooms.relist(code, live):
            await self._check(code, live.table)  # As above: its room may have ended with it.
        else:
            self._log.warning("a table without a room waits for one of its players", room=code, table=name)
