"""What rooms asks of the engines, as a port, and the port's form in a deployment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import grpc
import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.engines import EngineAway, EngineRefusal, Engines
from services.rooms.room import Player
from services.rooms.table import Live, Seated
from wire.client_out import TableView
from wire.tolerant import decoder

__all__ = ["EngineAway", "EngineTables", "Listed", "Refused", "Tables"]


class Refused(Exception):
    """The engine won't open such a table: an unknown game, too many members."""


class Listed(NamedTuple):
    """Live tables by room.  `whole`: these are all; else there may be more.  Each may have gone since."""

    tables: dict[str, str]
    whole: bool


class Tables(Protocol):
    """The engines' tables.  Each call goes to the one engine that owns the room."""

    async def open(self, room: str, table: str, game: str, host: str, members: Sequence[Player]) -> str:
        """The id of the table that is live afterwards: this one, or one from before.

        The same id again is the same table.  Raises EngineAway, Refused.
        """
        ...

    async def look(self, room: str, table: str) -> Live | None:
        """None: there is no such table any more.  `table` "": whatever is live.  Raises EngineAway."""
        ...

    async def listed(self) -> Listed:
        """All live tables, as far as engines answer."""
        ...

    async def close(self, room: str, table: str, why: str) -> None:
        """Closed, or not there.  Raises EngineAway."""
        ...


class _Glance(msgspec.Struct):
    """What rooms reads of a snapshot."""

    table: TableView


_glance = decoder(_Glance)


class EngineTables:
    """`Tables` by gRPC.  `patience`: seconds until an engine counts as away."""

    def __init__(self, engines: Engines, patience: float) -> None:
        self._engines, self._patience = engines, patience

    async def open(self, room: str, table: str, game: str, host: str, members: Sequence[Player]) -> str:
        listed = [pb.OpenMember(player=m.player, name=m.name, colour=m.colour, bot=m.bot or "") for m in members]
        request = pb.OpenRequest(room=room, table=table, game=game, host=host, members=listed)
        try:
            return (await self._engines.open_table(request, timeout=self._patience)).table
        except EngineRefusal as refusal:
            if refusal.code is grpc.StatusCode.ALREADY_EXISTS and refusal.detail:
                return refusal.detail
            if refusal.code is grpc.StatusCode.INVALID_ARGUMENT:
                raise Refused(refusal.detail) from refusal
            raise EngineAway(str(refusal)) from refusal

    async def look(self, room: str, table: str) -> Live | None:
        request = pb.ViewRequest(room=room, table=table)
        try:
            answer = await self._engines.view(request, timeout=self._patience)
        except EngineRefusal as refusal:
            if refusal.code is grpc.StatusCode.NOT_FOUND:
                return None
            raise EngineAway(str(refusal)) from refusal
        seen = _glance(answer.snapshot.body).table
        host = next((m.player for m in seen.members if m.seat == seen.host), "")
        members = tuple(Seated(m.player, m.name, m.colour, m.bot, m.left) for m in seen.members)
        present = sum(m.present for m in seen.members if m.bot is None)
        return Live(seen.table, host, members, seen.phase, present)

    async def listed(self) -> Listed:
        listing = await self._engines.listing(timeout=self._patience)
        return Listed({t.room: t.table for t in listing.tables}, listing.whole)

    async def close(self, room: str, table: str, why: str) -> None:
        try:
            await self._engines.close_table(pb.CloseRequest(room=room, table=table, why=why), timeout=self._patience)
        except EngineRefusal as refusal:
            if refusal.code is not grpc.StatusCode.NOT_FOUND:
                raise EngineAway(str(refusal)) from refusal
