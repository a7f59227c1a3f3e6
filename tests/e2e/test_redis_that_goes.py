"""Redis wiped, restarted with its data, and hanging, under a whole stack: hands go on, and lobbies work after."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis.asyncio

from simulate.phone import Phone, Refused
from tests.e2e.inprocess import Stack, stack_in_process
from tests.e2e.party import must, party, until, within
from tests.servers import RedisServer
from wire import client_in

pytestmark = pytest.mark.timeout(180)


def cut(server: RedisServer) -> Callable[[], None]:
    server.stop()
    return server.start


def hang(server: RedisServer) -> Callable[[], None]:
    server.pause()
    return server.resume


async def refused_by_the_lobby(phone: Phone, url: str) -> None:
    """Whoever wants something of a lobby is told, at once, that it can't be done just now."""
    with pytest.raises(Refused, match="lobby_away"):
        await within(phone.act(client_in.AddBot()), 5)
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        answer = await http.post("/api/rooms", json={"name": "Di", "request_id": "a room of Di's"})
        assert (answer.status_code, answer.json()["error"]) == (503, "lobby_away")
        assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("take_away", "keeps"),
    [(cut, False), (cut, True), (hang, False)],
    ids=["it loses everything", "it keeps its data", "it hangs"],
)
async def test_redis_goes_in_a_hand_which_goes_on_and_afterwards_room_and_table_agree(
    tmp_path: Path, take_away: Callable[[RedisServer], Callable[[], None]], keeps: bool
) -> None:
    async with stack_in_process(tmp_path, redis_keeps=keeps) as stack, party(stack) as people:
        zoe = await people.host("Zoe")  # in a lobby all the time
        lobby_room = people.room
        people.phones.remove(zoe)
        try:
            ann = await people.host("Ann")
            bo = await people.join("Bo")
            await within(ann.act(client_in.AddBot("hard")))
            await people.start(ann)
            await must(ann, client_in.SetOptions({"length": "one"}))
            await must(ann, client_in.Deal())
            await people.live()
            bring_back = take_away(stack.redis)
            await refused_by_the_lobby(zoe, stack.url)
            await people.play(ann, bo, speed=40)
            await until(bo, lambda p: p.screen.phase() in ("scores", "standings"))
            await asyncio.to_thread(bring_back)
            before = ann.lobby
            assert before is not None
            cy = await people.join("Cy")
            await until(cy, lambda p: p.screen.phase() in ("scores", "standings"))
            for phone in (ann, bo, cy):
                await until(phone, lambda p: [q.name for q in p.lobby.players][-1] == "Cy")
                await until(phone, lambda p: all(q.present for q in p.lobby.players))
                assert phone.lobby is not None
                assert (phone.lobby.table, phone.lobby.host) == (before.table, before.host)
            await until(ann, lambda p: p.screen.phase() == "standings")
            await must(ann, client_in.Leave())
            for phone in (ann, bo, cy):
                await until(phone, lambda p: p.lobby.table is None)
            await within(ann.act(client_in.StartTable()))
            for phone in (ann, bo, cy):
                await until(phone, lambda p: p.lobby.table is not None and p.screen.phase() == "setup")
            if keeps or take_away is hang:
                await within(zoe.act(client_in.AddBot()))
            else:
                await until(zoe, lambda p: p.closed is not None)
                assert await codes(stack) == {people.room}, "a lobby that was lost, and says so"
                assert lobby_room != people.room
        finally:
            zoe.stop()


async def codes(stack: Stack) -> set[str]:
    async with redis.asyncio.from_url(stack.redis.url, decode_responses=True) as client:
        found: list[Any] = await client.keys("room:*")
        return {str(key).removeprefix("room:") for key in found}
