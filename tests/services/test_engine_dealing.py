"""Deals: made off the loop and ahead of time, the awaited before the foreseen, and never by an orphan."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import AsyncIterator

import msgspec
import psutil
import pytest

from games.registry import GAMES
from games.snatch_solitaire import deal as deals_of_snatch
from services.engine import dealers
from services.engine.deal_worker import Kind
from services.engine.dealers import Dealers
from services.engine.dealing import Deals
from tests.services.engine_table import Play
from tests.services.engine_twin import TWIN


class Asked:
    """What a table is handed."""

    def __init__(self) -> None:
        self.got: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()

    def ready(self, asked: int, event: bytes) -> None:
        self.got.put_nowait((asked, event))

    async def one(self) -> tuple[int, bytes]:
        async with asyncio.timeout(20):
            return await self.got.get()


class Taken:
    """Of each deal that a table got, in order: it was there already."""

    def __init__(self) -> None:
        self.ready: list[bool] = []

    def __call__(self, seconds: float, ready: bool) -> None:
        assert (seconds == 0) is ready
        self.ready.append(ready)


@pytest.fixture
def taken() -> Taken:
    return Taken()


@pytest.fixture
async def deals(taken: Taken) -> AsyncIterator[Deals]:
    deals = Deals(GAMES, 1, taken)
    await deals.start()
    yield deals
    await deals.stop()


class OneAtATime(Dealers):
    """A worker that makes a deal of its own number when it is told to."""

    def __init__(self) -> None:
        super().__init__(GAMES, 1)
        self.ready = True
        self.made: list[Kind] = []
        self._go = asyncio.Semaphore(0)

    async def start(self) -> None:
        """There is no process."""

    async def stop(self) -> None:
        """Nor is there one to end."""

    def go(self) -> None:
        self._go.release()

    async def make(self, kind: Kind, count: int) -> list[bytes]:
        await self._go.acquire()
        self.made += [kind] * count
        return [b"%d" % n for n in range(len(self.made) - count + 1, len(self.made) + 1)]


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


async def test_asking_again_for_the_same_hand_gives_the_same_deal(deals: Deals, taken: Taken) -> None:
    play, asked = waiting(), Asked()
    deals.look(play.table, asked.ready)
    first = await asked.one()
    deals.look(play.table, asked.ready)
    assert await asked.one() == first
    assert len(taken.ready) == 1


async def test_a_table_in_setup_finds_its_deal_ready_though_its_players_are_still_coming(taken: Taken) -> None:
    deals, worker, asked, play = *by_hand(taken), Asked(), Play("snatch_solitaire", players=3)
    play.phones[0].attach()
    deals.look(play.table, asked.ready)
    await made(deals, worker, 1)
    assert [len(kind.seats) for kind in worker.made] == [3]
    play.gather()
    assert play.phones[0].move("deal") is None
    deals.look(play.table, asked.ready)
    assert await asked.one() == (1, b"1")
    assert taken.ready == [True]
    await deals.stop()


async def test_the_next_hands_deal_is_made_while_this_hand_is_played_once(taken: Taken) -> None:
    deals, worker, asked, play = *by_hand(taken), Asked(), Play("snatch_solitaire").start(length="to25")
    for _ in range(3):
        deals.look(play.table, asked.ready)
    await made(deals, worker, 1)
    play.table.state.phase = "scores"
    deals.look(play.table, asked.ready)
    play.table.state.phase = "dealing"
    play.table.state.asked += 1
    deals.look(play.table, asked.ready)
    assert await asked.one() == (2, b"1")
    assert (len(worker.made), taken.ready) == (1, [True])
    await deals.stop()


async def test_options_that_change_no_deal_leave_the_one_that_is_ready(taken: Taken) -> None:
    deals, worker, asked, play = *by_hand(taken), Asked(), Play("snatch_solitaire").gather()
    deals.look(play.table, asked.ready)
    await made(deals, worker, 1)
    assert play.phones[0].move("options", options={"length": "to50"}) is None
    deals.look(play.table, asked.ready)
    assert play.phones[0].move("deal") is None
    deals.look(play.table, asked.ready)
    assert await asked.one() == (1, b"1")
    assert (len(worker.made), taken.ready) == (1, [True])
    await deals.stop()


async def test_options_of_a_game_that_deals_by_them_make_another_deal(taken: Taken) -> None:
    worker, asked, play = OneAtATime(), Asked(), Play(TWIN.spec.id).gather()
    deals = Deals({TWIN.spec.id: TWIN}, 1, taken, worker)
    assert TWIN.spec.deal_options is None
    deals.look(play.table, asked.ready)
    await made(deals, worker, 1)
    play.table.state.options = {**play.table.state.options, "more": 1}
    deals.look(play.table, asked.ready)
    await made(deals, worker, 2)
    assert worker.made[0].options != worker.made[1].options
    await deals.stop()


async def test_a_wait_is_counted_and_no_two_tables_have_one_deal(taken: Taken) -> None:
    deals, worker = by_hand(taken)
    plays, asked = [waiting() for _ in range(5)], [Asked() for _ in range(5)]
    for n, (play, one) in enumerate(zip(plays, asked, strict=True)):
        play.table.state.room = f"ROOM{n}"
        deals.look(play.table, one.ready)
    assert deals.waiting == 5
    await made(deals, worker, 5)
    events = [(await one.one())[1] for one in asked]
    assert len(set(events)) == 5
    assert (taken.ready, deals.waiting) == ([False] * 5, 0)
    await deals.stop()


async def test_what_a_table_waits_for_comes_before_what_others_will(taken: Taken) -> None:
    deals, worker = by_hand(taken)
    asked, plays = Asked(), [waiting(8 - n) for n in range(4)]
    for n, play in enumerate(plays):
        play.table.state.room = f"ROOM{n}"
        if n:
            play.table.state.phase = "scores"
    for play in reversed(plays):
        deals.look(play.table, asked.ready)
    await made(deals, worker, 2)
    assert len(worker.made[0].seats) == 5, "it was begun before anybody waited"
    assert len(worker.made[1].seats) == 8
    await asked.one()
    await deals.stop()


async def test_a_table_that_is_gone_leaves_nothing_here(taken: Taken) -> None:
    deals, worker = by_hand(taken)
    play, asked = waiting(), Asked()
    deals.look(play.table, asked.ready)
    assert (deals.rooms, deals.waiting) == (1, 1)
    deals.forget(play.table.state.room)
    assert (deals.rooms, deals.waiting) == (0, 0)
    await made(deals, worker, 1)
    assert asked.got.empty()
    await deals.stop()


def by_hand(taken: Taken) -> tuple[Deals, OneAtATime]:
    """With no stock to begin with."""
    worker = OneAtATime()
    return Deals(GAMES, 1, taken, worker), worker


async def made(deals: Deals, worker: OneAtATime, count: int) -> None:
    """Let so many deals be made, and be handed out."""
    while len(worker.made) < count:
        assert deals._jobs
        worker.go()
        await asyncio.gather(*deals._jobs)


async def test_a_worker_that_dies_is_replaced_and_the_deal_comes_all_the_same(deals: Deals) -> None:
    play, asked = waiting(3), Asked()
    deals.look(play.table, asked.ready)
    await asked.one()
    for child in multiprocessing.active_children():
        child.kill()
    play.table.state.members[1].playing = False  # Of such seats there is no stock.
    play.table.state.asked += 1
    deals.look(play.table, asked.ready)
    assert (await asked.one())[0] == play.table.state.asked


async def test_a_worker_that_hangs_is_replaced_and_the_deal_comes_all_the_same(
    deals: Deals, monkeypatch: pytest.MonkeyPatch
) -> None:
    play, asked = waiting(3), Asked()
    deals.look(play.table, asked.ready)
    await asked.one()
    monkeypatch.setattr(dealers, "PATIENCE", 0.2)
    hung = multiprocessing.active_children()
    for child in hung:
        psutil.Process(child.pid).suspend()
    play.table.state.members[1].playing = False  # Of such seats there is no stock.
    play.table.state.asked += 1
    deals.look(play.table, asked.ready)
    assert (await asked.one())[0] == play.table.state.asked
    assert not set(hung) & set(multiprocessing.active_children())


async def test_workers_end_with_the_service() -> None:
    before = set(multiprocessing.active_children())
    deals = Deals(GAMES, 2, lambda seconds, ready: None)
    await deals.start()
    play, asked = waiting(), Asked()
    deals.look(play.table, asked.ready)
    await asked.one()
    started = [psutil.Process(c.pid) for c in set(multiprocessing.active_children()) - before]
    assert len(started) == 2
    await deals.stop()
    _, alive = await asyncio.to_thread(psutil.wait_procs, started, 5)
    assert alive == []


async def test_deals_that_are_given_up_hold_up_nobody_whose_worker_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    workers, kind = Dealers(GAMES, 1), Kind("snatch_solitaire", (0, 1), "{}")
    await workers.start()
    given_up = [asyncio.create_task(workers.make(kind, 1)) for _ in range(4)]
    wanted = asyncio.create_task(workers.make(kind, 1))
    await asyncio.wait([*given_up, wanted], timeout=0)
    for deal in given_up:
        deal.cancel()
    await asyncio.wait(given_up)
    for child in workers._children:
        child.kill()
    assert len(await wanted) == 1
    await workers.stop()
    assert failed == []
