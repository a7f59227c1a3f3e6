"""Rooms that end, and calls that nobody heard the answer of: nothing of them stays anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
import redis.asyncio

from servicekit import bus
from services.engine.hall import Hall
from simulate.door import Door
from tests.e2e.inprocess import Stack, stack_in_process
from tests.e2e.party import must, party, until, within
from tests.waiting import reach
from wire import client_in, subjects
from wire.places import PARTITIONS

pytestmark = pytest.mark.timeout(120)

SOON = {"room_idle": 1.0, "request_memory": 1.0, "join_patience": 1.0}


def subscriptions(stack: Stack) -> int:
    """How many NATS subscriptions the services have."""
    buses: list[Any] = [stack.engines[0]._bus, stack.rooms[0]._nc, stack.bots[0]._nc]
    buses += [service.upstream.nc for service in (stack.gateways[0], stack.watches[0]) if service.upstream]
    return sum(len(nc._subs) for nc in buses)


def hall_of(stack: Stack) -> Hall:
    hall = stack.engines[0].hall
    assert hall is not None
    return hall


def tables_in_memory(hall: Hall) -> int:
    """Whatever an engine keeps by room while its table is open."""
    ledgers = sum(len(owner.ledger.rooms) for owner in hall.owners())
    return ledgers + len(hall.beacons) + len(hall.bots._rooms) + hall.deals.rooms


async def keys(stack: Stack) -> list[str]:
    """Redis' keys, but those that show which workers there are."""
    client = redis.asyncio.Redis.from_url(stack.redis.url, decode_responses=True)
    try:
        found: list[Any] = await client.keys("*")
        return [str(key) for key in found if not key.startswith(("probe:", "workers:"))]
    finally:
        await client.aclose()


async def records(stack: Stack) -> int:
    nc = await bus.connect(stack.nats.url, "test")
    try:
        return int((await nc.jetstream().stream_info(subjects.LOG_STREAM)).state.messages)
    finally:
        await nc.close()


async def nothing_in(stack: Stack) -> bool:
    """In the data, too: each partition keeps its last record, and at most one that waits to be trimmed."""
    return await keys(stack) == [] and await records(stack) <= 2 * PARTITIONS


async def test_a_room_nobody_came_to_and_a_game_left_to_its_bots_go_from_memory_redis_and_nats(tmp_path: Path) -> None:
    async with stack_in_process(tmp_path, rooms_settings=SOON) as stack:
        await host_and_go(stack)
        # Who asked NATS something has an inbox from then on, so the first game is none to compare with.
        before = subscriptions(stack)
        await host_and_go(stack)
        # Those of the first one may still have lingered.
        await reach(lambda: subscriptions(stack) <= before, "nobody hears the room any more")


async def host_and_go(stack: Stack) -> None:
    """A room that nobody comes to, and a game that is left to its bots, until nothing is left of both."""
    bots = stack.bots[0].seats
    assert bots is not None
    async with party(stack) as people, Door(stack.url) as door:
        await door.host("Nobody", "a page closed too soon")
        ann = await people.host("Ann")
        for _ in range(3):
            await within(ann.act(client_in.AddBot("hard")))
        tv = await people.tv()
        await people.start(ann)
        await must(ann, client_in.Deal())
        await people.live()
        await until(tv, lambda t: t.screen.live)
        await reach(lambda: len(bots) == 3, "bots have sat down")
        assert tables_in_memory(hall_of(stack)) >= 3
        ann.stop()
        tv.stop()
        await reach(lambda: len(bots) == 0, "bots have stopped")
    await reach(lambda: tables_in_memory(hall_of(stack)) == 0, "the engine has forgotten the table")
    await within(_until_nothing_in(stack))


async def _until_nothing_in(stack: Stack) -> None:
    while not await nothing_in(stack):
        pass


async def test_a_host_call_that_timed_out_at_its_caller_and_is_sent_again_makes_one_room(stack: Stack) -> None:
    """Rooms was told, wrote, and its answer came too late."""
    call: dict[str, Any] = {"json": {"name": "Ann", "request_id": "the one call"}}
    async with httpx.AsyncClient(base_url=stack.url, trust_env=False, timeout=20) as http:
        stack.redis.pause()
        try:
            with pytest.raises(httpx.TimeoutException):
                await http.post("/api/rooms", timeout=0.5, **call)
        finally:
            stack.redis.resume()
        answers = [await http.post("/api/rooms", **call) for _ in range(2)]
    assert [a.status_code for a in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert [key for key in await keys(stack) if key.startswith("room:")] == [f"room:{answers[0].json()['room']}"]


async def test_the_last_to_leave_a_room_is_told_goodbye_and_not_that_there_is_no_such_room(stack: Stack) -> None:
    async with party(stack) as people:
        ann, bo = await people.host("Ann"), await people.join("Bo")
        await until(ann, lambda p: len(p.lobby.players) == 2)
        for phone in (ann, bo):
            await within(phone.act(client_in.LeaveRoom()))
            phone.stop()
        assert people.found.errors == {}
