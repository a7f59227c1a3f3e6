"""Clocks go on with what they had left when another engine takes over: however long nobody served, it doesn't count.

The log's times are compared, and that nothing came sooner than it may: lateness is the machine's affair.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from games.registry import GAMES
from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import records as r
from services.engine import table as table_module
from services.engine import table_clock
from services.engine.app import Engine
from services.engine.owner import Owner
from services.engine.settings import EngineSettings
from tests.servers import NatsServer
from tests.services.engine_stack import Driver, EngineStack
from tests.services.engine_twin import BELL_MS, TWIN
from tests.waiting import reach

ROOM = "BCDFG"
CLOCK_MS = 1200
DOWN = 1.6
"""Seconds without any engine: longer than every clock here."""
EARLY_MS = 20
"""Room time is whole ms, and the loop's timers may be a tick early."""


@pytest.fixture(autouse=True)
def _short_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "GRACE_MS", CLOCK_MS)
    monkeypatch.setattr(table_clock, "COUNTDOWN_MS", CLOCK_MS)


class Stack(EngineStack):
    """Engines that know the twin's game, and can die."""

    async def start(self, name: str) -> Engine:
        settings = EngineSettings(nats_url=self.url, instance=name)
        engine = self.running[name] = Engine(settings, games={**GAMES, TWIN.spec.id: TWIN})
        await engine.start()
        return engine

    async def die(self, name: str) -> None:
        """Without a word: no release, no farewell."""
        engine = self.running.pop(name)
        assert engine.hall is not None
        assert engine._bus is not None
        assert engine._server is not None
        doomed = [*engine.hall._tasks.values(), engine.hall._ticker, engine.hall.keeper._task]
        for task in doomed:
            assert task is not None
            task.cancel()
        await engine._server.stop(0)
        await engine._bus.close()
        await engine._deals.stop()

    def owner(self) -> Owner:
        found = self.serving(ROOM)
        assert found is not None
        assert found[1].hall is not None
        owner = found[1].hall.owner_of(ROOM)
        assert owner is not None
        return owner

    async def change_owner(self) -> float:
        """Kill, be away, take over; the loop time at which it serves again."""
        owner = self.owner()
        before, now = self.state(ROOM), owner.ledger.now
        await self.die("one")
        await asyncio.sleep(DOWN)
        await self.start("two")
        await reach(lambda: self.serving(ROOM) is not None, "the room is served again")
        assert self.state(ROOM) == before, "nothing happened while nobody served"
        assert self.owner().ledger.now == now, "room time stood still"
        return self.owner()._room_time

    async def time_of(self, kind: type[r.Event]) -> int:
        """Room time of the last event of this kind."""
        found = [
            record.now
            for record in await self.log(ROOM)
            for chunk in record.chunks
            for step in chunk.steps
            for event in step.events
            if isinstance(event, kind)
        ]
        return found[-1]


@pytest.fixture
async def stack(new_nats: Callable[[], NatsServer]) -> AsyncIterator[Stack]:
    stack = Stack(new_nats().url)
    await stack.begin()
    await stack.start("one")
    yield stack
    await stack.end()


async def seated(stack: Stack, players: int = 2) -> list[Driver]:
    members = [pb.OpenMember(player=f"p{i}", name=f"P{i}", colour=i) for i in range(2)]
    await stack.engines.open_table(pb.OpenRequest(room=ROOM, table="t1", game=TWIN.spec.id, host="p0", members=members))
    drivers = [Driver(stack, ROOM, f"p{i}") for i in range(players)]
    for driver in drivers:
        await driver.attach()
    return drivers


def since(began: float) -> float:
    """Milliseconds."""
    return (asyncio.get_running_loop().time() - began) * 1000 + EARLY_MS


async def test_a_countdown_goes_on_with_what_it_had_left(stack: Stack) -> None:
    ann, _ = await seated(stack)
    await ann.move("deal")
    await ann.event("countdown")
    left = CLOCK_MS - (stack.owner().ledger.now - await stack.time_of(r.CountdownBegun))
    assert left > 0
    served = await stack.change_owner()
    await ann.event("live")
    assert since(served) >= left
    assert await stack.time_of(r.WentLive) - await stack.time_of(r.CountdownBegun) >= CLOCK_MS


async def test_the_grace_of_a_device_that_went_away_goes_on(stack: Stack) -> None:
    ann, bo = await seated(stack)
    stack.engines.detach(ROOM, bo.seat, bo.session)
    await ann.hear(lambda: {"t": "presence", "seat": bo.seat, "present": False} in ann.events)
    left = CLOCK_MS - (stack.owner().ledger.now - await stack.time_of(r.Detached))
    served = await stack.change_owner()
    await ann.hear(lambda: {"t": "gone", "seat": bo.seat, "gone": True} in ann.events)
    assert since(served) >= left
    assert await stack.time_of(r.GraceOver) - await stack.time_of(r.Detached) >= CLOCK_MS


async def test_the_game_s_own_clock_goes_on_where_it_was(stack: Stack) -> None:
    ann, _ = await seated(stack)
    await ann.move("deal")
    await ann.event("live")
    await ann.move("peek")
    played = stack.owner().ledger.now - await stack.time_of(r.WentLive)
    assert played < BELL_MS
    served = await stack.change_owner()
    await ann.event("rang")
    assert since(served) >= BELL_MS - played


async def test_a_pause_stays_a_pause_and_the_clock_under_it_keeps_what_it_had_left(stack: Stack) -> None:
    ann, _ = await seated(stack)
    await ann.move("deal")
    await ann.event("live")
    await ann.move("pause")
    played = await stack.time_of(r.PausedBy) - await stack.time_of(r.WentLive)
    await stack.change_owner()
    assert stack.owner().room_now() >= stack.owner().ledger.now
    table = stack.owner().ledger.table(ROOM)
    assert table is not None
    assert (table.paused, table.state.played) == (True, played)
    assert not any(e["t"] == "rang" for e in ann.events)
    began = asyncio.get_running_loop().time()
    await ann.move("resume")
    await ann.event("rang")
    assert since(began) >= BELL_MS - played


async def test_a_table_that_waits_for_its_host_still_does_and_goes_on_when_they_are_back(stack: Stack) -> None:
    (ann,) = await seated(stack, players=1)
    bo = Driver(stack, ROOM, "p1")
    await bo.attach()
    await ann.move("deal")
    await ann.event("live")
    for driver in (bo, ann):
        stack.engines.detach(ROOM, driver.seat, driver.session)
    await ann.hear(lambda: {"t": "paused", "by": -1} in ann.events)
    await stack.change_owner()
    table = stack.owner().ledger.table(ROOM)
    assert table is not None
    assert table.state.held_at is not None
    rang = sum(e["t"] == "rang" for e in ann.events)
    back = Driver(stack, ROOM, "p0", tab=9)
    assert (await back.attach())["table"]["phase"] == "live"
    await back.hear(lambda: {"t": "resumed", "by": -1} in ann.events)
    await ann.hear(lambda: sum(e["t"] == "rang" for e in ann.events) > rang)
