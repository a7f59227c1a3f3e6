"""A house that is full: who comes last is told so, and nobody else notices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import grpc
import msgspec
import pytest

from servicekit import bus
from services.rooms import house as house_module
from services.rooms.house import House
from services.rooms.metrics import RoomsMetrics
from tests.servers import NatsServer, RedisServer
from tests.services.rooms_client import TwinTables, Worker, refusal, rooms_worker
from tests.waiting import reach
from wire import client_in as ask
from wire import subjects
from wire.news import EngineLoad, WorkerBeat
from wire.places import partition_of

HOUSE_FULL, BOTS_BUSY = ("RESOURCE_EXHAUSTED", "house_full"), ("RESOURCE_EXHAUSTED", "bots_busy")


@pytest.fixture(autouse=True)
def long_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said once in a test holds to its end, however busy the machine is."""
    monkeypatch.setattr(house_module, "SILENT", 60.0)
    monkeypatch.setattr(house_module, "PROMISED", 60.0)


@pytest.fixture
def own_url(new_nats: Callable[[], NatsServer]) -> str:
    """Others' engines must not be heard."""
    return new_nats().url


@pytest.fixture
async def own_nats(own_url: str) -> AsyncIterator[bus.Bus]:
    connection = await bus.connect(own_url, "test")
    yield connection
    await connection.close()


@pytest.fixture
def own_redis(new_redis: Callable[[], RedisServer]) -> str:
    """Others' rooms must not be counted."""
    return new_redis().url


@pytest.fixture
async def one(own_url: str, own_redis: str) -> AsyncIterator[Worker]:
    async with rooms_worker(own_url, own_redis, TwinTables()) as worker:
        yield worker


def capacity(worker: Worker) -> float:
    value = worker.service.registry.get_sample_value("snatch_rooms_capacity")
    assert value is not None
    return value


def refused(worker: Worker, what: str) -> float:
    return worker.service.registry.get_sample_value("snatch_rooms_no_place_total", {"what": what}) or 0.0


async def engines_say(nc: bus.Bus, worker: Worker, then: float, *loads: EngineLoad) -> None:
    """Told, and taken in: the worker knows of `then` rooms that there may be."""
    for load in loads:
        await nc.publish(subjects.ENGINE_LOAD, msgspec.json.encode(load))
    await reach(lambda: capacity(worker) == then, f"room for {then}")


async def workers_say(nc: bus.Bus, worker: Worker, beat: WorkerBeat) -> None:
    """Told, and taken in."""
    await nc.publish(subjects.BOTS_BEAT, msgspec.json.encode(beat))
    await nc.flush()
    # What came after it was heard, so it was.
    house = worker.service._house
    assert house is not None
    await reach(lambda: house._workers.get(beat.worker, (0, None))[1] == beat, "the beat is heard")


async def test_a_room_too_many_is_refused_and_those_that_are_there_go_on(own_url: str, own_redis: str) -> None:
    tables = TwinTables()
    async with rooms_worker(own_url, own_redis, tables, rooms_most=2) as one:
        ann, _ = await one.client.create("Ann"), await one.client.create("Bo")
        assert await refusal(one.client.create("Cy")) == HOUSE_FULL
        assert refused(one, "room") == 1
        di = await one.client.join(ann.room, "Di")
        assert di.room == ann.room
        lobby = await one.client.act(ann.token, ask.StartTable())
        assert lobby.table == tables.opened[0][1]
        await one.client.act(ann.token, ask.LeaveRoom())
        assert (await one.client.join(ann.room, token=ann.token)).player == ann.player


async def test_when_a_room_goes_another_can_be_hosted(own_url: str, own_redis: str) -> None:
    async with rooms_worker(own_url, own_redis, TwinTables(), rooms_most=1, room_idle=0.3, join_patience=0.1) as one:
        first = await one.client.create("Ann")
        assert await refusal(one.client.create("Bo")) == HOUSE_FULL
        await reach(lambda: gone(one) == 1, "the first one is gone")
        assert (await one.client.create("Bo")).room != first.room


def gone(worker: Worker) -> float:
    value = worker.service.registry.get_sample_value("snatch_rooms_expired_total")
    assert value is not None
    return value


async def test_of_many_who_host_at_once_at_two_workers_just_so_many_get_a_room(own_url: str, own_redis: str) -> None:
    tables = TwinTables()
    async with (
        rooms_worker(own_url, own_redis, tables, rooms_most=3) as first,
        rooms_worker(own_url, own_redis, tables, rooms_most=3) as second,
    ):
        workers = [first, second]
        asked = [workers[n % 2].client.create(f"P{n}") for n in range(12)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        codes = [a.details() for a in answers if isinstance(a, grpc.aio.AioRpcError)]
        assert codes == ["house_full"] * 9


async def test_who_asks_again_for_the_room_they_have_got_gets_it_though_the_house_is_full(
    own_url: str, own_redis: str
) -> None:
    async with rooms_worker(own_url, own_redis, TwinTables(), rooms_most=1) as one:
        ann = await one.client.create("Ann", "the request")
        assert await one.client.create("Ann", "the request") == ann


async def test_engines_say_how_many_rooms_there_may_be(one: Worker, own_nats: bus.Bus) -> None:
    assert capacity(one) == float("inf")
    await engines_say(own_nats, one, 1, EngineLoad("a", 0, 1))
    await one.client.create("Ann")
    assert await refusal(one.client.create("Bo")) == HOUSE_FULL
    await engines_say(own_nats, one, 2, EngineLoad("b", 0, 1))
    await one.client.create("Bo")
    assert await refusal(one.client.create("Cy")) == HOUSE_FULL
    await engines_say(own_nats, one, 1, EngineLoad("b", 1, 1, gone=True))
    assert await refusal(one.client.create("Cy")) == HOUSE_FULL


async def test_an_engine_without_time_takes_no_more_than_it_has(one: Worker, own_nats: bus.Bus) -> None:
    await engines_say(own_nats, one, 100, EngineLoad("a", 1, 100))
    await one.client.create("Ann")
    await engines_say(own_nats, one, 1, EngineLoad("a", 1, 100, strained=True))
    assert await refusal(one.client.create("Bo")) == HOUSE_FULL
    await engines_say(own_nats, one, 100, EngineLoad("a", 1, 100))
    await one.client.create("Bo")


async def test_the_lower_of_what_is_set_and_what_engines_say_counts(
    own_url: str, own_nats: bus.Bus, own_redis: str
) -> None:
    async with rooms_worker(own_url, own_redis, TwinTables(), rooms_most=7) as one:
        assert capacity(one) == 7
        await engines_say(own_nats, one, 5, EngineLoad("a", 0, 5))
        await engines_say(own_nats, one, 7, EngineLoad("b", 0, 5))


async def test_with_all_engines_silent_nobody_is_told_that_the_house_is_full(
    one: Worker, own_nats: bus.Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something else is wrong then, and whoever starts a table hears what."""
    await engines_say(own_nats, one, 0, EngineLoad("a", 0, 5, strained=True))
    assert await refusal(one.client.create("Ann")) == HOUSE_FULL
    monkeypatch.setattr(house_module, "SILENT", 0.05)
    await reach(lambda: capacity(one) == float("inf"), "the engine is forgotten")
    await one.client.create("Ann")


async def test_a_new_room_s_code_falls_to_an_engine_that_has_room(own_nats: bus.Bus) -> None:
    house = House(0, lambda partition: "spare" if partition < 32 else "strained", RoomsMetrics())
    await house.start(own_nats)
    for load in (EngineLoad("spare", 3, 9), EngineLoad("strained", 3, 9, strained=True)):
        await own_nats.publish(subjects.ENGINE_LOAD, msgspec.json.encode(load))
    await reach(lambda: house.most() == 12, "both are heard")
    partitions = [partition_of(house.code()) for _ in range(50)]
    assert max(partitions) < 32
    await house.stop(own_nats)


async def test_while_an_engine_of_a_release_before_says_nothing_no_bound_is_known(own_nats: bus.Bus) -> None:
    owners = ["new", "old"]
    house = House(0, lambda partition: owners[partition % 2], RoomsMetrics())
    await house.start(own_nats)
    await own_nats.publish(subjects.ENGINE_LOAD, msgspec.json.encode(EngineLoad("new", 5, 5)))
    await reach(lambda: "new" in house._engines, "it is heard")
    assert house.most() == float("inf")
    owners[1] = "new"
    assert house.most() == 5
    await house.stop(own_nats)


async def test_an_engine_that_ends_counts_no_more_while_its_tables_go_elsewhere(own_nats: bus.Bus) -> None:
    house = House(0, lambda partition: "stays" if partition else "ends", RoomsMetrics())
    await house.start(own_nats)
    for load in (EngineLoad("stays", 5, 9), EngineLoad("ends", 5, 9), EngineLoad("ends", 5, 9, gone=True)):
        await own_nats.publish(subjects.ENGINE_LOAD, msgspec.json.encode(load))
    await reach(lambda: house.most() == 9, "one of them has ended")
    await own_nats.publish(subjects.ENGINE_LOAD, msgspec.json.encode(EngineLoad("stays", 5, 9, gone=True)))
    await reach(lambda: house.most() == float("inf"), "nobody is left to say")
    await house.stop(own_nats)


async def test_a_bot_too_many_is_refused_and_the_others_stay(one: Worker, own_nats: bus.Bus) -> None:
    ann = await one.client.create("Ann")
    await workers_say(own_nats, one, WorkerBeat("w", free=1))
    await one.client.act(ann.token, ask.AddBot())
    assert await refusal(one.client.act(ann.token, ask.AddBot())) == BOTS_BUSY
    assert refused(one, "bot") == 1
    assert [p.bot for p in (await one.client.lobby(ann.room)).players] == [None, "medium"]
    await workers_say(own_nats, one, WorkerBeat("w2", free=1))
    await one.client.act(ann.token, ask.AddBot())


async def test_a_table_whose_bots_nobody_would_drive_is_not_opened_and_opens_without_them(
    one: Worker, own_nats: bus.Bus
) -> None:
    ann = await one.client.create("Ann")
    lobby = await one.client.act(ann.token, ask.AddBot())
    await workers_say(own_nats, one, WorkerBeat("w", free=0))
    assert await refusal(one.client.act(ann.token, ask.StartTable())) == BOTS_BUSY
    assert (await one.client.lobby(ann.room)).table is None
    await one.client.act(ann.token, ask.RemovePlayer(lobby.players[1].player))
    assert (await one.client.act(ann.token, ask.StartTable())).table is not None


async def test_a_seat_is_not_promised_twice(one: Worker, own_nats: bus.Bus) -> None:
    """Workers say only every half a second how many seats are left."""
    hosts = [await one.client.create(f"Host {n}") for n in range(4)]
    await workers_say(own_nats, one, WorkerBeat("w", free=1))
    for host in hosts:
        await one.client.act(host.token, ask.AddBot())
    starts = [one.client.act(host.token, ask.StartTable()) for host in hosts]
    answers = await asyncio.gather(*starts, return_exceptions=True)
    codes = [a.details() for a in answers if isinstance(a, grpc.aio.AioRpcError)]
    assert codes == ["bots_busy"] * 3


async def test_a_promise_is_forgotten_though_nobody_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_module, "PROMISED", 0.0)
    house = House(0, lambda partition: None, RoomsMetrics())
    for n in range(100):
        house.promise(f"room {n}", 1)
    assert len(house._promised) == 1


async def test_workers_that_say_nothing_of_seats_are_left_to_do_what_they_can(one: Worker, own_nats: bus.Bus) -> None:
    ann = await one.client.create("Ann")
    await workers_say(own_nats, one, WorkerBeat("of a release before"))
    await one.client.act(ann.token, ask.AddBot())
    await workers_say(own_nats, one, WorkerBeat("of this one", free=0))
    assert (await one.client.act(ann.token, ask.StartTable())).table is not None, "the other one may have a seat"
