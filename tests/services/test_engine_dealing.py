"""Deals: computed off the loop, the awaited before the foreseen, and never by an orphan."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator

import msgspec
import psutil
import pytest

from games.registry import GAMES
from games.snatch_solitaire import deal as deals_of_snatch
from services.engine.dealing import Deals
from tests.services.engine_table import Play


class Asked:
    """What a table is handed."""

    def __init__(self) -> None:
        self.got: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()

    def ready(self, asked: int, event: bytes) -> None:
        self.got.put_nowait((asked, event))

    async def one(self) -> tuple[int, bytes]:
        async with asyncio.timeout(20):
            return await self.got.get()


@pytest.fixture
async def deals() -> AsyncIterator[Deals]:
    deals = Deals(GAMES, 1, lambda seconds, foreseen: taken.append(foreseen))
    taken.clear()
    await deals.start()
    yield deals
    await deals.stop()


taken: list[bool] = []


def waiting(players: int = 2) -> Play:
    play = Play("snatch_solitaire", players=players)
    for phone in play.phones:
        phone.attach()
    assert play.phones[0].move("deal") is None
    return play


async def test_a_table_that_waits_gets_a_checked_deal_of_its_seats(deals: Deals) -> None:
    play, asked = waiting(3), Asked()
    deals.look(play.table, asked.ready)
    number, event = await asked.one()
    assert number == play.table.state.asked
    dealt = msgspec.msgpack.decode(event, type=play.table.game.spec.event_type)
    deals_of_snatch.check(dealt)
    assert [deck.seat for deck in dealt.decks] == [0, 1, 2]


async def test_asking_again_for_the_same_hand_gives_the_same_deal(deals: Deals) -> None:
    play, asked = waiting(), Asked()
    deals.look(play.table, asked.ready)
    first = await asked.one()
    deals.look(play.table, asked.ready)
    assert await asked.one() == first
    assert taken == [False]


async def test_what_a_table_waits_for_comes_before_what_others_will(deals: Deals) -> None:
    asked, order = Asked(), []
    plays = [waiting(8) for _ in range(4)]
    for n, play in enumerate(plays):
        play.table.state.room = f"ROOM{n}"
        if n:
            play.table.state.phase = "scores"
    for play in reversed(plays):
        deals.look(play.table, asked.ready)
    order.append(await asked.one())
    assert len(taken) <= 2
    assert taken[-1] is False


async def test_a_worker_that_dies_is_replaced_and_the_deal_comes_all_the_same(deals: Deals) -> None:
    play, asked = waiting(), Asked()
    deals.look(play.table, asked.ready)
    await asked.one()
    for child in multiprocessing.active_children():
        child.kill()
    play.table.state.asked += 1
    deals.look(play.table, asked.ready)
    assert (await asked.one())[0] == play.table.state.asked


async def test_workers_end_with_the_service() -> None:
    before = set(multiprocessing.active_children())
    deals = Deals(GAMES, 2, lambda seconds, foreseen: None)
    await deals.start()
    play, asked = waiting(), Asked()
    deals.look(play.table, asked.ready)
    await asked.one()
    started = [psutil.Process(c.pid) for c in set(multiprocessing.active_children()) - before]
    assert len(started) == 2
    await deals.stop()
    _, alive = await asyncio.to_thread(psutil.wait_procs, started, 5)
    assert alive == []
