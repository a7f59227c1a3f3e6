"""The rooms' clock: what a lobby does by itself is late for nobody because of another room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from servicekit import bus
from services.rooms.table import Live
from tests.services.rooms_client import LobbyFrames, TwinTables, rooms_worker
from wire import client_in as ask


class SilentAbout(TwinTables):
    """Engines that never answer a look at this room's table."""

    def __init__(self) -> None:
        super().__init__()
        self.silent_about = ""
        self.looked = asyncio.Event()

    async def look(self, room: str, table: str) -> Live | None:
        if room == self.silent_about:
            self.looked.set()
            await asyncio.Event().wait()
        return await super().look(room, table)


async def test_a_room_whose_engine_does_not_answer_delays_no_other_room(
    nats_url: str, new_redis: Callable[[], Any], nc: bus.Bus
) -> None:
    tables = SilentAbout()
    async with rooms_worker(nats_url, new_redis().url, tables, table_check=0.2, host_grace=0.2) as one:
        stuck, ann = await one.client.create(), await one.client.create("Ann")
        await one.client.here(stuck.token)
        await one.client.act(stuck.token, ask.StartTable())
        tables.silent_about = stuck.room
        await tables.looked.wait()
        bo = await one.client.join(ann.room, "Bo")
        heard = await LobbyFrames().listen(nc, ann.room)
        await one.client.here(ann.token)
        await one.client.here(bo.token)
        await one.client.gone(ann.token)
        await heard.until(lambda lobby: lobby.host == bo.player)
