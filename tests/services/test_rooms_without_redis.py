"""Rooms while Redis is away, hangs, or has lost everything: said, survived, made good."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import redis.asyncio

from servicekit import bus, rooms_client
from servicekit.tokens import Tokens
from tests.services.rooms_client import SECRET, LobbyFrames, TwinTables, Worker, news, refusal, rooms_worker
from wire import client_in as ask
from wire import subjects
from wire.places import new_code


@pytest.fixture
def tables() -> TwinTables:
    return TwinTables()


async def test_without_redis_every_call_says_so_quickly_and_serves_again_when_it_is_back(
    nats_url: str, new_redis: Callable[[], Any], tables: TwinTables
) -> None:
    server = new_redis()
    async with rooms_worker(nats_url, server.url, tables) as one:
        ann = await one.client.create()
        await one.client.here(ann.token)
        assert await one.service.ready() is None
        server.stop()
        away = ("UNAVAILABLE", "lobby_away")
        async with asyncio.timeout(8):
            for asked in (
                one.client.create(),
                one.client.join(ann.room, "Bo"),
                one.client.lobby(ann.room),
                one.client.act(ann.token, ask.AddBot()),
                one.client.here(ann.token),
            ):
                assert await refusal(asked) == away
        missing = await one.service.ready()
        assert missing is not None
        assert "Redis is away" in missing
        server.start()
        assert (await one.client.create()).room
        assert await one.service.ready() is None


async def test_a_redis_that_hangs_is_away_too(nats_url: str, tables: TwinTables) -> None:
    async def deaf(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    server = await asyncio.start_server(deaf, "127.0.0.1", 0)
    url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    async with rooms_worker(nats_url, url, tables, redis_patience=0.2) as one:
        assert await refusal(one.client.create()) == ("UNAVAILABLE", "lobby_away")
    server.close()


async def test_rooms_starts_without_redis_and_says_what_it_waits_for(
    nats_url: str, new_redis: Callable[[], Any], tables: TwinTables
) -> None:
    server = new_redis()
    server.stop()
    async with rooms_worker(nats_url, server.url, tables) as one:
        assert await refusal(one.client.create()) == ("UNAVAILABLE", "lobby_away")
        assert "Redis is away" in (await one.service.ready() or "")
        server.start()
        assert (await one.client.create()).room


async def test_a_redis_that_is_full_is_away_though_lobbies_can_be_read(
    nats_url: str, new_redis: Callable[[], Any], tables: TwinTables
) -> None:
    server = new_redis()
    async with rooms_worker(nats_url, server.url, tables) as one, redis.asyncio.from_url(server.url) as full:
        gateway = rooms_client.RoomsClient(f"127.0.0.1:{one.service.port}")
        gateway.start()
        ann = await one.client.create()
        await full.config_set("maxmemory", "1")
        await until_ready_is(one, "OutOfMemory")
        assert "OutOfMemory" in (await gateway.ready() or "")
        assert await refusal(one.client.create()) == ("UNAVAILABLE", "lobby_away")
        assert (await one.client.lobby(ann.room)).host == ann.player
        assert "OutOfMemory" in (await one.service.ready() or ""), "a read that succeeds is no write"
        await full.config_set("maxmemory", "0")
        await until_ready_is(one, None)
        assert await gateway.ready() is None
        await gateway.stop()
        assert (await one.client.create()).room


async def until_ready_is(one: Worker, missing: str | None) -> None:
    """Nothing tells of readiness: it is asked for."""
    async with asyncio.timeout(10):
        while True:
            why = await one.service.ready()
            if (why is None) if missing is None else (missing in (why or "")):
                return
            await asyncio.sleep(0.02)


async def test_news_heard_while_redis_is_away_is_kept(
    nats_url: str, new_redis: Callable[[], Any], nc: bus.Bus, tables: TwinTables
) -> None:
    server = new_redis()
    async with rooms_worker(nats_url, server.url, tables) as one:
        await one.client.create()
        server.stop()
        # What it is about is lost with this Redis: it must be got over, not got stuck on.
        await nc.publish(subjects.TABLE_NEWS, news("closed", new_code(), "t1"))
        server.start()
        ann = await one.client.create()
        heard = await LobbyFrames().listen(nc, ann.room)
        table = (await one.client.act(ann.token, ask.StartTable())).table or ""
        await nc.publish(subjects.TABLE_NEWS, news("closed", ann.room, table, why="host_left"))
        await heard.until(lambda lobby: lobby.notice == "host_left")


async def test_a_room_that_redis_lost_is_listed_again_from_its_live_table(
    nats_url: str, new_redis: Callable[[], Any], nc: bus.Bus, tables: TwinTables
) -> None:
    server = new_redis()
    async with rooms_worker(nats_url, server.url, tables) as one:
        ann, other = await one.client.create(), await one.client.create("Other")
        bo = await one.client.join(ann.room, "Bo")
        await one.client.act(ann.token, ask.StartTable())
        before = await one.client.lobby(ann.room)
        server.stop()
        server.start()
        heard = await LobbyFrames().listen(nc, ann.room)
        tables.away = True
        for asked in (one.client.here(bo.token), one.client.lobby(ann.room), one.client.lobby(new_code())):
            assert await refusal(asked) == ("UNAVAILABLE", "lobby_away"), "nobody knows whether it is played"
        tables.away = False
        assert await refusal(one.client.here(other.token)) == ("NOT_FOUND", "no_room")
        await asyncio.gather(one.client.here(ann.token), one.client.here(bo.token))
        stranger = Tokens(SECRET).sign(ann.room, "of an older room", bo.player)
        assert await refusal(one.client.here(stranger)) == ("PERMISSION_DENIED", "bad_token")
        again = await heard.until(lambda lobby: all(p.present for p in lobby.players))
        assert (again.host, again.table, again.rev > before.rev) == (before.host, before.table, True)
        assert [(p.player, p.name, p.colour) for p in again.players] == [
            (p.player, p.name, p.colour) for p in before.players
        ]
