"""Rooms' tables from the lobbies' side: whether they are there still, and what engines tell of them."""

from __future__ import annotations

from collections.abc import Mapping

from servicekit import logs
from services.rooms import lobby, table
from services.rooms.changes import Changes
from services.rooms.engine import EngineAway, Tables
from services.rooms.metrics import RoomsMetrics
from services.rooms.room import Room, Times


class LiveTables:
    """Raises LobbyError when the room is gone meanwhile, StoreAway, Busy, BadRoom."""

    def __init__(self, tables: Tables, rooms: Changes, times: Times, metrics: RoomsMetrics) -> None:
        self._tables, self._rooms, self._times, self._metrics = tables, rooms, times, metrics
        self._log = logs.logger(__name__)

    # ---- looked at -------------------------------------------------------------

    async def check(self, code: str, name: str) -> bool:
        """Whether the engine has the table.  If not, or its game was over for long, the room is a lobby again.

        Raises EngineAway when nobody can say: a table isn't gone because its engine is.
        """
        live = await self._tables.look(code, name)
        if live is None:
            await self.closed(code, name, "", "lost", {})
            return False
        if (await self._rooms.change(code, lambda room, now: table.seen(room, live, now, self._times)))[1]:
            await self._tables.close(code, name, "expired")
            await self.closed(code, name, live.host, "finished", {})
            return False
        return True

    async def there(self, room: Room) -> bool:
        """Whether the room's table still is; if not, the lobby is told, as the engine would have."""
        if room.table is None:
            return False
        try:
            return await self.check(room.room, room.table)
        except EngineAway:
            return True

    async def given_up(self, code: str, asked: str) -> None:
        """A worker died over this opening: the engine knows how far it came."""
        live = await self._tables.look(code, "")
        if live is None:
            await self._rooms.change(code, lambda room, _: table.not_opened(room, asked))
        else:
            await self._rooms.change(code, lambda room, now: table.opened(room, asked, live.table, now))

    # ---- told of -----------------------------------------------------------------

    async def closed(self, code: str, name: str, host: str, why: str, bots: Mapping[str, str]) -> None:

        def close(room: Room, now: int) -> bool:
            was = room.table == name
            if was or room.lost == name:
                table.bots_are(room, bots)
            table.closed(room, name, host, why, now, self._times)
            return was

        if (await self._rooms.change(code, close))[1]:
            self._metrics.table_closed(why)
            self._log.info("a table is closed", room=code, table=name, why=why)

    async def host_is(self, code: str, name: str, host: str) -> None:
        await self._rooms.change(code, lambda room, _: table.host_is(room, name, host))

    async def left(self, code: str, name: str, player: str) -> None:
        """Gone from the table by the × or the grace: off the list, until a new socket brings them back.

        A host stays on it: theirs is the room until the engine says whose it is.
        """

        def make(room: Room, now: int) -> None:
            if room.table == name and room.host != player:
                lobby.leave(room, player, now, self._times)

        await self._rooms.change(code, make)

    async def back(self, code: str, name: str, player: str) -> None:
        """Somebody who had left the table plays on: back on the list, if they left that too."""

        def make(room: Room, now: int) -> None:
            if room.table == name and any(p.player == player for p in room.left):
                lobby.come_back(room, player, "", now, self._times)

        await self._rooms.change(code, make)
