"""What an operator does about partitions that are halted: look, and have them claimed anew.

The log decides what there is.  What it doesn't hold any more is reported, and told to the
rooms service; their players learn that the table is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
import nats.errors
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from servicekit import logs
from services.engine.owner import Owner
from services.engine.partition import Phase
from wire import subjects
from wire.news import TableNews

if TYPE_CHECKING:
    from services.engine.hall import Hall

WITHIN = 20.0
LOST = "lost"
"""Why a table is gone that nobody closed."""


class NotHalted(Exception):
    """Only a partition that is halted here can be claimed anew."""


class Reclaimed(msgspec.Struct, omit_defaults=True):
    """`gone`: rooms that were here and aren't in the log; `back`: by how many frames a room is behind what it was."""

    partition: int
    phase: str
    why: str = ""
    rooms: int = 0
    gone: list[str] = []
    back: dict[str, int] = {}


async def reclaim(hall: Hall, partition: int, *, lose: bool = False) -> Reclaimed:
    """Claim a halted partition anew.  `lose`: give up the rooms of which the log has lost something.

    Without it, a log that can't be replayed halts the partition again, and loses nothing
    more.  Raises NotHalted.
    """
    log = logs.logger(__name__).bind(partition=partition)
    before = hall.halted().get(partition)
    if before is None:
        raise NotHalted(f"partition {partition} is not halted here")
    log.warning("an operator has it claimed anew", lose=lose, why=before.partition.why)
    owner = hall.claim_anew(partition, lose=lose)
    try:
        async with asyncio.timeout(WITHIN):
            await owner.told.wait()
    except TimeoutError:
        return Reclaimed(partition, owner.partition.phase.value, "not open yet: look again")
    phase = owner.partition.phase
    if phase is not Phase.OPEN:
        return Reclaimed(partition, phase.value, owner.partition.why)
    found = _compare(partition, before, owner)
    log.warning("claimed anew", rooms=found.rooms, gone=found.gone, back=found.back)
    await _tell(hall, before, found.gone)
    return found


def _compare(partition: int, before: Owner, owner: Owner) -> Reclaimed:
    rooms = owner.ledger.rooms
    gone = {room for room in before.ledger.rooms if room not in rooms and room not in owner.ledger.closed}
    back = {
        name: missing
        for name, room in before.ledger.rooms.items()
        if name in rooms and (missing := room.table.state.frames - rooms[name].table.state.frames) > 0
    }
    return Reclaimed(partition, Phase.OPEN.value, "", len(rooms), sorted(gone | owner.ledger.lost), back)


async def _tell(hall: Hall, before: Owner, gone: list[str]) -> None:
    for name in gone:
        table = before.ledger.table(name)
        if table is None:
            continue
        s = table.state
        news = TableNews(name, s.table, "closed", s.members[s.host].player, LOST, table.bot_levels())
        try:
            await hall.bus.publish(subjects.TABLE_NEWS, msgspec.json.encode(news))
        except nats.errors.Error:
            return


def routes(here: Callable[[], Hall | None]) -> list[Route]:
    """For the operations port: `GET /partitions`, `POST /partitions/reclaim`, `POST /partitions/<n>/reclaim`."""

    def hall() -> Hall:
        found = here()
        if found is None:
            raise HTTPException(503, "the engine is starting")
        return found

    async def look(_: Request) -> Response:
        return _json({"partitions": hall().states()})

    async def one(request: Request) -> Response:
        try:
            found = await reclaim(hall(), request.path_params["partition"], lose=_lose(request))
        except NotHalted as error:
            return _json({"error": str(error)}, 409)
        return _json(found)

    async def every(request: Request) -> Response:
        found = []
        for partition in sorted(hall().halted()):
            with contextlib.suppress(NotHalted):  # Another operator's word came first.
                found.append(await reclaim(hall(), partition, lose=_lose(request)))
        return _json({"reclaimed": found})

    return [
        Route("/partitions", look),
        Route("/partitions/reclaim", every, methods=["POST"]),
        Route("/partitions/{partition:int}/reclaim", one, methods=["POST"]),
    ]


def _lose(request: Request) -> bool:
    return request.query_params.get("lose") == "yes"


def _json(body: Any, status: int = 200) -> Response:
    return JSONResponse(msgspec.to_builtins(body), status_code=status)
