"""Rooms, tables and the people between them, end to end in one process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis.asyncio
from websockets.asyncio.client import connect

from servicekit import bus
from servicekit.engines import Engines
from simulate.phone import Phone
from tests.e2e.inprocess import Stack, stack_in_process
from tests.e2e.party import Party, must, party, until, within
from tests.waiting import reach
from wire import client_in, client_out

pytestmark = pytest.mark.timeout(120)


def lobby(phone: Phone) -> client_out.Lobby:
    assert phone.lobby is not None
    return phone.lobby


async def test_both_players_drop_at_once_and_one_returns_to_the_game_as_it_was(stack: Stack, people: Party) -> None:
    ann = await people.host("Ann")
    bo = await people.join("Bo")
    await people.start(ann)
    await must(ann, client_in.Deal())
    await people.live()
    seat, mine = bo.screen.seat, bo.screen.view.mine
    ann.stop()
    bo.stop()
    back = people.tab(bo.token)
    await until(back, lambda p: p.screen.live)
    assert back.screen.seat == seat
    assert back.screen.view.mine == mine


async def test_a_room_that_all_humans_left_goes_with_its_table_and_its_bots(tmp_path: Path) -> None:
    async with stack_in_process(tmp_path, rooms_settings={"room_idle": 1.0}) as stack, party(stack) as people:
        ann = await people.host("Ann")
        for _ in range(3):
            await within(ann.act(client_in.AddBot("hard")))
        await people.start(ann)
        await must(ann, client_in.Deal())
        await people.live()
        seats = stack.bots[0].seats
        assert seats is not None
        await reach(lambda: len(seats) == 3)
        ann.stop()
        await reach(lambda: len(seats) == 0)
        assert await _tables(stack) == []
        client = redis.asyncio.Redis.from_url(stack.redis.url, decode_responses=True)
        async with asyncio.timeout(30):
            while await client.keys("room*"):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
        keys: list[Any] = await client.keys("*")
        await client.aclose()
        assert [key for key in keys if not key.startswith(("made:", "probe:", "workers:"))] == []


async def _tables(stack: Stack) -> list[str]:
    nc = await bus.connect(stack.nats.url, "test")
    engines = Engines(nc, "test")
    await engines.start()
    tables = [t.room for t in (await engines.listing()).tables]
    await engines.stop()
    await nc.close()
    return tables


async def test_the_hosts_x_takes_everyone_back_to_the_room_which_starts_again(stack: Stack, people: Party) -> None:
    ann = await people.host("Ann")
    bo = await people.join("Bo")
    tv = await people.tv()
    await people.start(ann)
    first = lobby(ann).table
    await must(ann, client_in.Deal())
    await people.live()
    await must(ann, client_in.Leave())
    for phone in (ann, bo):
        await until(phone, lambda p: p.screen.phase() == "closed" and p.lobby.table is None)
        assert lobby(phone).notice == "host_left"
        assert [p.name for p in lobby(phone).players] == ["Ann", "Bo"]
    await until(tv, lambda t: t.screen.phase() == "closed")
    await within(ann.act(client_in.StartTable()))
    await until(bo, lambda p: p.lobby.table not in (None, first) and p.screen.phase() == "setup")


async def test_who_joins_after_the_deal_watches_and_plays_in_the_next_game(stack: Stack, people: Party) -> None:
    ann = await people.host("Ann")
    await people.start(ann)
    await must(ann, client_in.Deal())
    await people.live()
    bo = await people.join("Bo")
    await until(bo, lambda p: p.screen.live)
    assert bo.screen.you is not None
    assert bo.screen.you.watching
    assert bo.screen.view.mine is None
    told = await within(bo.move({"t": "turn"}))
    assert told.no is not None
    assert told.no.code == "watching"


async def test_a_player_who_leaves_by_the_x_is_off_the_list_and_comes_back_to_their_seat(
    stack: Stack, people: Party
) -> None:
    ann = await people.host("Ann")
    bo = await people.join("Bo")
    await people.start(ann)
    await must(ann, client_in.Deal())
    await people.live()
    seat, mine = bo.screen.seat, bo.screen.view.mine
    await must(bo, client_in.Leave())
    await until(ann, lambda p: [q.name for q in p.lobby.players] == ["Ann"])
    bo.stop()
    back = people.tab(bo.token)
    await until(back, lambda p: p.screen.live)
    assert back.screen.seat == seat
    assert back.screen.view.mine == mine
    await until(ann, lambda p: [q.name for q in p.lobby.players] == ["Ann", "Bo"])


async def test_a_removed_player_is_told_and_their_token_opens_nothing(stack: Stack, people: Party) -> None:
    ann = await people.host("Ann")
    bo = await people.join("Bo")
    player = lobby(bo).players[1].player
    await within(ann.act(client_in.RemovePlayer(player)))
    await until(bo, lambda p: p.closed is not None)
    assert bo.closed is not None
    assert bo.closed.startswith("4003")
    url = stack.url.replace("http", "ws", 1) + "/ws"
    async with connect(url, compression=None, proxy=None) as socket:
        await socket.send(msgspec.json.encode(client_in.Hello(client_out.VERSION, bo.token, 7)), text=True)
        message = msgspec.json.decode(await within(socket.recv()))
        assert (message["t"], message["code"]) == ("error", "removed")


async def test_a_hand_goes_on_while_redis_is_away(stack: Stack, people: Party) -> None:
    ann = await people.host("Ann")
    bo = await people.join("Bo")
    await people.start(ann)
    await must(ann, client_in.Deal())
    await people.live()
    stack.redis.stop()
    await people.play(ann, bo, speed=40)
    await until(bo, lambda p: p.screen.phase() in ("scores", "standings"))


async def test_a_room_that_redis_lost_is_listed_again_when_a_player_comes_back(stack: Stack, people: Party) -> None:
    ann = await people.host("Ann")
    bo = await people.join("Bo")
    await within(ann.act(client_in.AddBot("easy")))
    await people.start(ann)
    await must(ann, client_in.Deal())
    await people.live()
    before = lobby(ann)
    stack.redis.stop()
    await asyncio.to_thread(stack.redis.start)
    bo.stop()
    back = people.tab(bo.token)
    await until(back, lambda p: p.screen.live and p.lobby.players[1].present)
    again = lobby(back)
    assert again.rev > before.rev
    assert (again.host, again.table) == (before.host, before.table)
    assert [(p.player, p.name, p.bot) for p in again.players] == [(p.player, p.name, p.bot) for p in before.players]
    await must(ann, client_in.Leave())
    await until(back, lambda p: p.lobby.table is None)
