"""Rooms as they are read and changed, by any number of workers at once.

A change is read, made and written under compare-and-set, from the start again when
another worker wrote first; what the lobby then shows is published once the write is in.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from servicekit import logs
from servicekit.tokens import Claims
from services.rooms import presence, table
from services.rooms.engine import EngineAway, Tables
from services.rooms.metrics import RoomsMetrics
from services.rooms.room import LobbyError, Room, Seen, Times, encode, shown
from services.rooms.store import Store
from wire import client_out, frames, subjects

TRIES = 64
SOON = 1.0
"""Seconds in which an engine must say whether a room is played: somebody waits for it."""

T = TypeVar("T")
Publish = Callable[[str, bytes], Awaitable[None]]
"""Subject and bytes, towards NATS; doesn't wait for anybody and doesn't fail."""


class Busy(Exception):
    """Others wrote this room first, again and again."""


class Changes:
    """Reads rooms, and changes them under compare-and-set."""

    def __init__(self, store: Store, tables: Tables, publish: Publish, times: Times, metrics: RoomsMetrics) -> None:
        self._store, self._tables, self._publish = store, tables, publish
        self._times, self._metrics = times, metrics
        self._log = logs.logger(__name__)

    async def read(self, code: str, claims: Claims | None) -> Seen:
        """Raises LobbyError `no_room`.  With `claims`, whose table may be all that is left of the room."""
        seen = await self._store.read(code)
        mine = claims is not None and claims.room == code
        if seen is None and (mine or await self._store.doubtful()):
            live = await self._live(code)
            if live is not None and await self.relist(code, live, claims if mine else None):
                seen = await self._store.read(code)
        if seen is None:
            raise LobbyError("no_room")
        return seen

    async def played(self, code: str) -> bool:
        """Whether somebody plays under this code, though Redis may have lost the room.  Raises EngineAway."""
        return await self._store.doubtful() and await self._live(code) is not None

    async def _live(self, code: str) -> table.Live | None:
        try:
            async with asyncio.timeout(SOON):
                return await self._tables.look(code, "")
        except TimeoutError as error:
            raise EngineAway("no engine says in time whether the room is played") from error

    async def relist(self, code: str, live: table.Live, claims: Claims | None = None) -> bool:
        """List a room that Redis lost, as its live table shows it.  False: whose it was can't be told.

        A table from before ids told of the birth takes the word of a token of one of its members.
        """
        birth = table.birth_of(live.table)
        if birth is None and claims is not None and any(m.player == claims.player for m in live.members):
            birth = claims.birth
        if birth is None:
            return False
        room = table.revived(code, birth, live, await self._store.now())
        room.write = secrets.token_hex(6)
        if await self._store.create("", room, presence.due_at(room, self._times)) is not None:
            self._metrics.reconciled("relisted")
            self._log.warning("a room that Redis lost is listed again from its table", room=code, table=live.table)
            await self.tell(shown(room))
        return True

    async def change(
        self, code: str, make: Callable[[Room, int], T], claims: Claims | None = None, soonest: int = 0
    ) -> tuple[Room, T]:
        """`make` changes the room in place, or raises and nothing is written; neither is a room left as it was.

        `claims`: of whom it is for.  `soonest`: ms before which the room won't be due again.
        """
        for attempt in range(TRIES):
            seen = await self.read(code, claims)
            room, before, host, was = seen.room, shown(seen.room), seen.room.host, encode(seen.room)
            result = make(room, seen.now)
            if not soonest and encode(room) == was:
                return room, result
            shows = shown(room) != before
            if shows:
                room.rev += 1
            room.write = secrets.token_hex(6)
            due = max(presence.due_at(room, self._times), seen.now + soonest)
            if await self._store.write(seen.raw, room, due):
                if shows:
                    await self.tell(shown(room))
                if room.host != host and room.table is None:
                    self._metrics.host_passed()
                return room, result
            self._metrics.write_conflicted()
            await asyncio.sleep(random.uniform(0, 0.002) * min(attempt, 10))
        raise Busy

    async def tell(self, lobby: client_out.Lobby) -> None:
        body = msgspec.json.encode(lobby)
        await self._publish(subjects.lobby(lobby.room), frames.pack(frames.LOBBY, 0, lobby.rev, (), body))
        self._metrics.lobby_published()
