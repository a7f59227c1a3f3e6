"""Engines of this release take over what the release before left, and the games go on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from games.registry import GAMES
from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.engines import EngineRefusal
from servicekit.tokens import Tokens
from services.engine import records as r
from services.engine import table_clock
from services.engine import table_store as store
from services.gateway.app import Gateway
from services.gateway.settings import GatewaySettings
from services.rooms.app import Rooms
from services.rooms.settings import RoomsSettings
from tests.golden.stored import RELEASES, Golden
from tests.servers import NatsServer, RedisServer
from tests.services.engine_stack import Driver, EngineStack, bots_table
from tests.services.phone import Phone
from tests.waiting import reach


@pytest.fixture(params=RELEASES)
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.param)


@pytest.fixture
async def stack(golden: Golden, new_nats: Callable[[], NatsServer]) -> AsyncIterator[EngineStack]:
    """An engine that came upon what the release before left."""
    url = new_nats().url
    await golden.restore(url)
    stack = await EngineStack(url).begin()
    await stack.start("heir")
    yield stack
    await stack.end()


async def served(stack: EngineStack, golden: Golden, phase: str) -> str:
    room: str = golden.rooms[phase]["room"]
    await reach(lambda: stack.serving(room) is not None, f"{phase}'s room is served")
    return room


async def driver(stack: EngineStack, golden: Golden, phase: str, seat: int = 0) -> Driver:
    """A member back at the table, with the tab they had."""
    member = golden.rooms[phase]["members"][seat]
    player = Tokens(golden.json("rooms")["secret"]).read(member["token"]).player
    found = Driver(stack, await served(stack, golden, phase), player, member["tab"])
    await found.attach()
    assert found.seat == member["seat"]
    return found


async def test_the_rooms_are_as_they_were(stack: EngineStack, golden: Golden) -> None:
    for phase in ("standings", "scores", "paused", "countdown", "setup"):
        room = await served(stack, golden, phase)
        assert stack.state(room) == store.dump(store.load(golden.tables[room], GAMES))


async def test_a_repeated_move_is_answered_as_the_old_engine_did_and_new_ones_go_on(
    stack: EngineStack, golden: Golden
) -> None:
    ann = await driver(stack, golden, "paused")
    told: dict[str, Any] = golden.rooms["paused"]["members"][0]["answers"]
    assert ann.decided == len(told) > 5
    for id, code in told.items():
        again = pb.Command(room=ann.room, seat=0, session=ann.session, id=int(id), kind=pb.COMMAND_KIND_MOVE)
        [reply] = await stack.raw(ann.room, again)
        assert (reply.kind, reply.id) == (pb.REPLY_KIND_ANSWERED, int(id))
        assert json.loads(reply.body).get("no", {}).get("code") == code
    assert await ann.move("turn") == "paused"
    assert await ann.move("resume") is None
    assert await ann.move("turn") is None
    decided = await stack.decided(ann.room)
    assert decided[-3:] == [(ann.last - 2, "paused"), (ann.last - 1, None), (ann.last, None)]


async def test_a_countdown_goes_on_with_what_it_had_left(stack: EngineStack, golden: Golden) -> None:
    room = await served(stack, golden, "countdown")
    shown = json.loads((await stack.engines.view(pb.ViewRequest(room=room))).snapshot.body)["table"]
    assert shown["phase"] == "countdown"
    assert 0 < shown["countdown"] <= 60_000


async def test_scores_go_on_to_the_next_hand_and_standings_to_a_new_game(
    stack: EngineStack, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_clock, "COUNTDOWN_MS", 200)
    ann = await driver(stack, golden, "scores")
    assert await ann.move("next_hand") is None
    await ann.event("live")
    assert await ann.move("turn") is None
    other = await driver(stack, golden, "standings")
    assert await other.move("new_game") is None
    await other.event("setup")
    third = await driver(stack, golden, "setup")
    assert await third.move("deal") is None
    await third.event("live")


async def test_a_closed_table_is_not_opened_again_and_its_room_takes_another(
    stack: EngineStack, golden: Golden
) -> None:
    room = await served(stack, golden, "closed")
    closed = next(
        event.table
        for log in golden.partitions().values()
        for _, record in log
        for chunk in record.chunks
        if chunk.room == room
        for step in chunk.steps
        for event in step.events
        if isinstance(event, r.Opened)
    )
    with pytest.raises(EngineRefusal, match="gone"):
        await stack.engines.open_table(bots_table(room, closed))
    await stack.engines.open_table(bots_table(room, "another"))


async def test_a_page_of_that_release_comes_back_to_its_seat_through_all_services(
    stack: EngineStack, golden: Golden, new_redis: Callable[[], RedisServer]
) -> None:
    url = new_redis().url
    redis = Redis.from_url(url)
    for key, document in golden.json("redis").items():
        await redis.set(key, document, px=600_000)
        await redis.zadd("rooms:due", {key.removeprefix("room:"): 0})
    await redis.aclose()
    secret = golden.json("rooms")["secret"]
    rooms = Rooms(RoomsSettings(nats_url=stack.url, redis_url=url, secret=secret))
    await rooms.start()
    gateway = Gateway(GatewaySettings(nats_url=stack.url, port=0, secret=secret, rooms_addr=f"127.0.0.1:{rooms.port}"))
    await gateway.start()
    try:
        member = golden.rooms["paused"]["members"][0]
        async with Phone(f"ws://127.0.0.1:{gateway.port}/ws") as phone:
            await phone.hello(member["token"], tab=member["tab"])
            snapshot = await phone.until("snapshot")
            assert snapshot["you"] == {"seat": member["seat"], "watching": False}
            assert snapshot["answered"] == len(member["answers"])
            assert snapshot["table"]["paused_by"] == 1
    finally:
        await gateway.stop()
        await rooms.stop()
