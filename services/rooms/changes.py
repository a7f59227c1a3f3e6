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
from services.rooms.engine import Tables
from services.rooms.metrics import RoomsMetrics
from services.rooms.room import LobbyError, Room, Seen, Times, shown
from services.rooms.store import Store
from wire import client_out, frames, subjects

TRIES = 64

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
        if seen is None and claims is not None and claims.room == code:
            live = await self._tables.look(code, "")
            if live is not None and any(m.player == claims.player for m in live.members):
                room = table.revived(code, claims.birth, live, await self._store.now())
                room.write = secrets.token_hex(6)
                if await self._store.create("", room, presence.due_at(room, self._times)) is not None:
                    self._log.warning("a room that Redis lost is listed again from its table", room=code)
                    await self.tell(shown(room))
                seen = await self._store.read(code)
        if seen is None:
            raise LobbyError("no_room")
        return seen

    async def change(
        self, code: str, make: Callable[[Room, int], T], claims: Claims | None = None, soonest: int = 0
    ) -> tuple[Room, T]:
        """`make` changes the room in place, or raises and nothing is written.

        `claims`: of whom it is for.  `soonest`: ms before which the room won't be due again.
        """
        for attempt in range(TRIES):
            seen = await self.read(code, claims)
            room, before, host = seen.room, shown(seen.room), seen.room.host
            result = make(room, seen.now)
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
