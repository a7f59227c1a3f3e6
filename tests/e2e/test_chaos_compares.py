"""What chaos compares can't be fooled: a planted loss, a double and an unequal screen are found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from simulate.chaos_room import ChaosRoom, RoomWish
from simulate.chaos_verdict import RoomVerdict
from simulate.door import Door
from simulate.findings import Findings
from simulate.log_witness import CHAIN, LogWitness
from simulate.outbox import Told
from simulate.room_log import DOUBLED, LOGGED, REPLAYED, TOLD
from simulate.table_run import SAME_VIEW
from simulate.watchers import Sockets
from tests.e2e.inprocess import Stack
from tests.e2e.party import within

pytestmark = pytest.mark.timeout(180)


class Hushed:
    """A room that played for a while and is still now, and the witness of its log."""

    def __init__(self, stack: Stack, door: Door) -> None:
        self.found = Findings()
        self.witness = LogWitness(stack.nats.url, self.found)
        wish = RoomWish(seats=2, bots=1, speed=10.0)
        self.room = ChaosRoom(1, wish, door, stack.watch_url, self.found, Sockets())

    async def play(self) -> None:
        await self.witness.start()
        await within(self.room.gather())
        self.room.play()
        for phone in self.room.phones:
            await within(phone.until(lambda p: len(p.told) >= 12))
        await within(self.room.hush())
        assert await self.witness.catch_up()

    async def compared(self) -> RoomVerdict:
        verdict: RoomVerdict = await within(self.room.compare(self.witness))
        return verdict

    async def end(self) -> None:
        await self.room.leave()
        await self.witness.stop()

    def log(self) -> Any:
        return self.witness.rooms[self.room.room]


@pytest.fixture
async def hushed(stack: Stack) -> AsyncIterator[Hushed]:
    async with Door(stack.url) as door:
        room = Hushed(stack, door)
        try:
            await room.play()
            yield room
        finally:
            await room.end()


async def test_a_room_that_nothing_happened_to_is_equal_on_all_sides_and_plays_on(hushed: Hushed) -> None:
    verdict = await hushed.compared()
    assert verdict.equal, (verdict, hushed.found.told)
    assert (verdict.lost, verdict.doubled, verdict.untold) == (0, 0, 0)
    assert verdict.acknowledged >= 24
    assert hushed.found.told == []
    assert hushed.found.checks[CHAIN] > 0
    await within(hushed.room.resume())
    hushed.room.play()
    for phone in hushed.room.phones:
        await within(phone.until(lambda p: len(p.told) >= 3))
    await within(hushed.room.hush())
    assert await hushed.witness.catch_up()
    again = await hushed.compared()
    assert again.equal
    assert again.acknowledged >= 6
    assert hushed.found.told == []


async def test_planted_losses_and_doubles_are_counted_one_by_one(hushed: Hushed) -> None:
    ann, bo = hushed.room.phones
    bo.told[bo.outbox.highest + 1] = Told(None, "seat", 0.0)  # acknowledged, and the log never heard of it
    accepted = next(key for key, no in hushed.log().decided.items() if key[0] == 0 and no is None)
    hushed.log().decided[accepted] = "refused"  # acknowledged, and the log says otherwise
    hushed.log().twice.append((0, ann.tab, 3))
    untold = next(id for id in ann.told if id != accepted[2])
    del ann.told[untold]  # decided, and its player never learned it
    verdict = await hushed.compared()
    assert (verdict.lost, verdict.doubled, verdict.untold) == (2, 1, 1)
    assert hushed.found.broken == {LOGGED: 2, DOUBLED: 1, TOLD: 1}
    assert verdict.equal, "the screens are innocent"


async def test_one_card_on_one_screen_makes_the_hashes_unequal(hushed: Hushed) -> None:
    hushed.room.phones[0].screen.view.seats[1].left += 1
    verdict = await hushed.compared()
    assert not verdict.equal
    assert verdict.hashes["engine"] == verdict.hashes["log"] != verdict.hashes["clients"]
    assert hushed.found.broken == {SAME_VIEW: 1, REPLAYED: 1}


async def test_a_log_that_tells_another_game_makes_the_hashes_unequal(hushed: Hushed) -> None:
    hushed.log().table.state.members[0].playing = False
    verdict = await hushed.compared()
    assert not verdict.equal
    assert verdict.hashes["engine"] == verdict.hashes["clients"] != verdict.hashes["log"]
