"""Rooms and the engines' tables agree again, both ways, whatever either has lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio

from servicekit import bus
from servicekit.tokens import Tokens
from services.rooms import house
from services.rooms.clock import PERIOD
from services.rooms.engine import EngineAway, Listed
from services.rooms.room import Times
from services.rooms.store import CLOCK, STOOD, Store
from services.rooms.table import Live
from tests.servers import RedisServer
from tests.services.rooms_client import SECRET, LobbyFrames, TwinTables, Worker, news, refusal, rooms_worker
from wire import client_in as ask
from wire import client_out, subjects
from wire.places import new_code

OFTEN: dict[str, Any] = {"reconcile_every": 0.3}


class Engines(TwinTables):
    """Tables that can be lost, sat at, and played to their end; they tell when they are listed."""

    def __init__(self) -> None:
        super().__init__()
        self.silent: set[str] = set()
        """Rooms whose partition doesn't answer."""
        self.fleeting: set[str] = set()
        """Rooms whose table ends, unheard, as soon as it was looked at."""
        self.listings = 0
        self._listed = asyncio.Event()

    async def look(self, room: str, table: str) -> Live | None:
        if room in self.silent:
            raise EngineAway("this partition is silent")
        live = await super().look(room, table)
        if room in self.fleeting:
            self.live.pop(room, None)
        return live

    async def listed(self) -> Listed:
        listed = await super().listed()
        self.listings += 1
        self._listed.set()
        self._listed = asyncio.Event()
        known = {room: table for room, table in listed.tables.items() if room not in self.silent}
        return Listed(known, listed.whole and not self.silent)

    async def until_listed(self, times: int) -> None:
        """So often from now: what the first of these found is done when the second begins."""
        async with asyncio.timeout(20):
            end = self.listings + times
            while self.listings < end:
                await self._listed.wait()

    def set(self, room: str, **fields: Any) -> None:
        live = self.live[room]
        known = {name: getattr(live, name) for name in live.__struct_fields__}
        self.live[room] = Live(**(known | fields))


@pytest.fixture
def tables() -> Engines:
    return Engines()


@pytest.fixture
def server(new_redis: Callable[[], RedisServer]) -> RedisServer:
    return new_redis()


@pytest.fixture
async def one(nats_url: str, server: RedisServer, tables: Engines) -> AsyncIterator[Worker]:
    async with rooms_worker(nats_url, server.url, tables, **OFTEN) as worker:
        yield worker


@pytest.fixture
async def store(server: RedisServer) -> AsyncIterator[Any]:
    async with redis.asyncio.from_url(server.url) as client:
        yield client


async def playing(one: Worker) -> tuple[Any, Any, client_out.Lobby]:
    """Ann's and Bo's room, with a table."""
    ann = await one.client.create("Ann")
    bo = await one.client.join(ann.room, "Bo")
    for seat in (ann, bo):
        await one.client.here(seat.token)
    return ann, bo, await one.client.act(ann.token, ask.StartTable())


def reconciled(one: Worker, what: str) -> float:
    return one.service.registry.get_sample_value("snatch_rooms_reconciled_total", {"what": what}) or 0.0


async def test_a_room_whose_table_is_gone_without_a_word_is_a_lobby_again_and_says_so(
    one: Worker, nc: bus.Bus, tables: Engines
) -> None:
    ann, bo, _ = await playing(one)
    heard = await LobbyFrames().listen(nc, ann.room)
    del tables.live[ann.room]
    lobby = await heard.until(lambda lobby: lobby.table is None)
    assert lobby.notice == "lost"
    assert [p.player for p in lobby.players] == [ann.player, bo.player]
    assert (await one.client.act(ann.token, ask.StartTable())).notice is None
    assert reconciled(one, "table_gone") == 1


async def test_a_table_whose_engine_is_away_is_not_gone(one: Worker, tables: Engines) -> None:
    ann, _, playing_ = await playing(one)
    tables.silent.add(ann.room)
    await tables.until_listed(2)
    assert (await one.client.lobby(ann.room)).table == playing_.table
    tables.silent.clear()
    tables.away = True
    await tables.until_listed(2)
    assert (await one.client.lobby(ann.room)).table == playing_.table
    assert reconciled(one, "table_gone") == 0


async def test_rooms_that_a_wiped_redis_lost_are_listed_again_by_themselves(
    one: Worker, nc: bus.Bus, tables: Engines, store: Any
) -> None:
    ann, bo, before = await playing(one)
    empty = await one.client.create("Zoe")
    heard = await LobbyFrames().listen(nc, ann.room)
    await store.flushall()
    again = await heard.until(lambda lobby: lobby.rev > before.rev)
    assert (again.table, again.host) == (before.table, before.host)
    assert [(p.player, p.name, p.colour) for p in again.players] == [
        (p.player, p.name, p.colour) for p in before.players
    ]
    cy = await one.client.join(ann.room, "Cy")
    for seat in (ann, bo, cy):
        await one.client.here(seat.token)
    older = Tokens(SECRET).sign(ann.room, "of an older room", ann.player)
    assert await refusal(one.client.here(older)) == ("PERMISSION_DENIED", "bad_token")
    assert await refusal(one.client.here(empty.token)) == ("NOT_FOUND", "no_room"), "a lobby can be lost"
    del tables.live[ann.room]
    await nc.publish(subjects.TABLE_NEWS, news("closed", ann.room, before.table or "", why="host_left"))
    lobby = await heard.until(lambda lobby: lobby.table is None)
    assert lobby.notice == "host_left"
    assert (await one.client.act(ann.token, ask.StartTable())).table is not None


async def test_who_knows_only_the_code_comes_into_a_lost_room_before_anybody_has_looked(
    one: Worker, tables: Engines, store: Any
) -> None:
    ann, _, before = await playing(one)
    tables.silent.add(new_code())  # no look through all of it succeeds
    await store.flushall()
    await one.client.join(ann.room, "Cy")
    lobby = await one.client.lobby(ann.room)
    assert lobby.table == before.table
    assert [p.name for p in lobby.players] == ["Ann", "Bo", "Cy"]
    assert await refusal(one.client.join(new_code(), "Cy")) == ("NOT_FOUND", "no_room")


async def test_a_new_room_never_gets_the_code_of_a_table_that_is_still_played(
    one: Worker, tables: Engines, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, _, _ = await playing(one)
    tables.silent.add(new_code())
    await store.flushall()
    free = new_code()
    codes = iter([ann.room, free])
    monkeypatch.setattr(house, "new_code", lambda: next(codes))
    assert (await one.client.create("Zoe")).room == free


async def test_with_redis_empty_and_its_engine_away_no_code_is_given_out(
    one: Worker, tables: Engines, store: Any
) -> None:
    tables.away = True
    await store.flushall()
    assert await refusal(one.client.create("Zoe")) == ("UNAVAILABLE", "lobby_away")
    tables.away = False
    assert (await one.client.create("Zoe")).room


async def test_a_table_of_an_older_room_with_the_same_code_is_closed(one: Worker, tables: Engines) -> None:
    ann = await one.client.create("Ann")
    tables.live[ann.room] = Live("tolder-1", "somebody", present=1)
    await tables.until_listed(2)
    assert tables.closed == [(ann.room, "tolder-1", "expired")]
    assert (await one.client.lobby(ann.room)).table is None
    assert reconciled(one, "foreign") == 1


async def test_a_table_that_its_room_forgot_is_closed_or_with_somebody_there_the_rooms_again(
    one: Worker, tables: Engines
) -> None:
    ann, _, lobby = await playing(one)
    table = tables.live.pop(ann.room)
    await tables.until_listed(2)
    assert (await one.client.lobby(ann.room)).table is None
    tables.live[ann.room] = Live(table.table, ann.player, table.members, present=1)
    await tables.until_listed(2)
    assert (await one.client.lobby(ann.room)).table == lobby.table
    tables.live.pop(ann.room)
    await tables.until_listed(2)
    tables.live[ann.room] = Live(table.table, ann.player, table.members)
    await tables.until_listed(2)
    assert tables.closed == [(ann.room, table.table, "expired")]
    assert (reconciled(one, "adopted"), reconciled(one, "orphan")) == (1, 1)


async def test_a_table_that_ends_while_its_room_gets_it_back_leaves_no_ghost(
    nats_url: str, server: RedisServer, tables: Engines, store: Any
) -> None:
    async with rooms_worker(nats_url, server.url, tables) as one:
        reconciler = one.service.reconciler
        assert reconciler is not None
        ann, _, _ = await playing(one)
        table = tables.live.pop(ann.room)
        assert await reconciler.once()
        tables.live[ann.room] = Live(table.table, ann.player, table.members, present=1)
        tables.fleeting.add(ann.room)
        assert await reconciler.once()
        assert reconciled(one, "adopted") == 1
        assert (await one.client.lobby(ann.room)).table is None
        tables.live[ann.room] = table
        await store.flushall()
        assert await reconciler.once()
        assert reconciled(one, "relisted") == 1
        assert (await one.client.lobby(ann.room)).table is None


async def test_two_workers_that_look_at_the_same_time_list_each_lost_room_once(
    nats_url: str, nc: bus.Bus, server: RedisServer, tables: Engines, store: Any
) -> None:
    async with (
        rooms_worker(nats_url, server.url, tables) as first,
        rooms_worker(nats_url, server.url, tables) as second,
    ):
        rooms = [await playing(first) for _ in range(5)]
        workers = (first.service.reconciler, second.service.reconciler)
        await store.flushall()
        assert all(r is not None for r in workers)
        assert all(await asyncio.gather(*(r.once() for r in workers if r is not None)))
        assert reconciled(first, "relisted") + reconciled(second, "relisted") == 5
        for ann, _, before in rooms:
            again = await second.client.lobby(ann.room, ann.token)
            assert (again.table, again.host) == (before.table, before.host)


async def test_the_standings_are_closed_after_a_while_and_everyone_is_in_the_lobby(
    nats_url: str, nc: bus.Bus, server: RedisServer, tables: Engines
) -> None:
    async with rooms_worker(nats_url, server.url, tables, finished_kept=0.4, table_check=0.1) as one:
        ann, _, before = await playing(one)
        heard = await LobbyFrames().listen(nc, ann.room)
        tables.set(ann.room, phase="standings")
        lobby = await heard.until(lambda lobby: lobby.table is None)
        assert (lobby.notice, len(lobby.players)) == (None, 2)
        assert tables.closed == [(ann.room, before.table, "expired")]


async def test_a_redis_that_hangs_and_wakes_costs_a_host_no_grace(
    nats_url: str, nc: bus.Bus, server: RedisServer, tables: Engines
) -> None:
    async with (
        rooms_worker(nats_url, server.url, tables, host_grace=2.5, redis_patience=0.3) as one,
        rooms_worker(nats_url, server.url, tables, host_grace=2.5, redis_patience=0.3) as two,
    ):
        ann = await one.client.create("Ann")
        bo = await one.client.join(ann.room, "Bo")
        heard = await LobbyFrames().listen(nc, ann.room)
        for seat in (ann, bo):
            await one.client.here(seat.token)
        await one.client.gone(ann.token)
        server.pause()
        away = ("UNAVAILABLE", "lobby_away")
        loop = asyncio.get_running_loop()
        until = loop.time() + 6.0
        while loop.time() < until:
            assert await refusal(two.client.here(ann.token, "again")) == away
            await asyncio.sleep(0.2)
        server.resume()
        assert (await until_answered(one, ann.room)).host == ann.player
        await two.client.here(ann.token, "again")
        assert (await one.client.lobby(ann.room)).host == ann.player
        assert {lobby.host for lobby in heard.seen} == {ann.player}
        away_for = one.service.registry.get_sample_value("snatch_rooms_redis_away_seconds_total")
        assert away_for is not None
        assert away_for > 1
        await two.client.gone(ann.token, "again")
        await heard.until(lambda lobby: lobby.host == bo.player)


async def until_answered(one: Worker, room: str) -> client_out.Lobby:
    async with asyncio.timeout(10):
        while True:
            try:
                return await one.client.lobby(room)
            except Exception:
                await asyncio.sleep(0.01)


async def test_no_time_passes_in_a_lobby_while_no_worker_runs(
    nats_url: str, nc: bus.Bus, server: RedisServer, tables: Engines
) -> None:
    stale = STOOD / 1000 + 2  # what passes before it stands still, and what the two workers take
    short: dict[str, Any] = {"host_grace": 1.0, "socket_stale": stale, "room_idle": 2.0}
    async with rooms_worker(nats_url, server.url, tables, **short) as one:
        ann = await one.client.create("Ann")
        bo = await one.client.join(ann.room, "Bo")
        for seat in (ann, bo):
            await one.client.here(seat.token)
    await asyncio.sleep(stale + 2)  # nothing tells of time that does not pass
    async with rooms_worker(nats_url, server.url, tables, **short) as one:
        await asyncio.sleep(2 * PERIOD)  # nor of a room that is not settled
        lobby = await one.client.lobby(ann.room)
        assert [p.present for p in lobby.players] == [True, True]
        assert lobby.host == ann.player


async def test_after_a_time_without_workers_lobbies_time_goes_on_where_it_was_once_gateways_were_heard(
    server: RedisServer, store: Any
) -> None:
    rooms = Store(server.url, "a worker", Times(), lambda why: None)
    assert (await rooms.take_due(1)).stood == 0
    before = await rooms.now()
    # As if the last worker had come a minute ago; time before that is a minute older, too.
    await store.hincrby(CLOCK, "beat", -60_000)
    stopped = await rooms.now()
    assert 0 <= stopped - (before - 60_000) <= STOOD + 1000
    assert await rooms.now() == stopped
    assert (await rooms.take_due(1)).stood >= 60_000 - STOOD
    await store.hincrby(CLOCK, "hold", 60_000)  # a hold that this machine can't be too slow for
    assert await rooms.now() == stopped
    assert (await rooms.take_due(1)).stood == 0
    assert await rooms.now() == stopped
    await store.hset(CLOCK, "hold", 0)
    assert stopped <= await rooms.now() <= stopped + STOOD
    await rooms.close()


async def test_a_redis_that_keeps_its_data_comes_back_with_all_rooms_and_hears_what_it_missed(
    nats_url: str, nc: bus.Bus, tmp_path: Path, tables: Engines
) -> None:
    server = RedisServer(tmp_path, keeps=True)
    server.start()
    try:
        async with rooms_worker(nats_url, server.url, tables, **OFTEN) as one:
            first, second, idle = await playing(one), await playing(one), await one.client.create("Zoe")
            server.stop()
            # One end is heard meanwhile, the other one is lost.
            for ann, _, _ in (first, second):
                tables.live.pop(ann.room)
            ended = first[2].table or ""
            await nc.publish(subjects.TABLE_NEWS, news("closed", first[0].room, ended, why="host_left"))
            heard = [await LobbyFrames().listen(nc, ann.room) for ann, _, _ in (first, second)]
            server.start()
            await heard[0].until(lambda lobby: (lobby.table, lobby.notice) == (None, "host_left"))
            await heard[1].until(lambda lobby: (lobby.table, lobby.notice) == (None, "lost"))
            assert (await one.client.lobby(idle.room)).host == idle.player
            assert (await one.client.act(first[0].token, ask.StartTable())).table is not None
    finally:
        server.stop()


async def test_after_a_busy_life_nothing_is_left_in_redis_that_does_not_end_by_itself(
    nats_url: str, server: RedisServer, tables: Engines, store: Any
) -> None:
    short: dict[str, Any] = {"room_idle": 0.6, "request_memory": 2.0, **OFTEN}
    async with rooms_worker(nats_url, server.url, tables, **short) as one:
        for number in range(20):
            ann = await one.client.create("Ann", f"create {number}")
            bo = await one.client.join(ann.room, "Bo", request=f"join {number}")
            await one.client.here(bo.token)
            await one.client.act(ann.token, ask.AddBot(), f"act {number}")
            if number % 2:
                await one.client.act(ann.token, ask.StartTable(), f"start {number}")
            if number % 3:
                await one.client.gone(bo.token)
            else:
                await one.client.act(bo.token, ask.LeaveRoom())
        async with asyncio.timeout(30):
            while await store.keys("[rm]*"):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
        assert tables.live == {}
        left = {key: await store.pttl(key) for key in await store.keys("*")}
        ends = {f"probe:{one.service.instance}".encode(), b"workers:reconciled", b"workers:reconciling"}
        assert b"workers:clock" in left
        assert set(left) <= {b"workers:clock", *ends}
        assert -1 not in left.values(), "a key that never expires"
