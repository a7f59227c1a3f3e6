"""A game as people play it, through the public doors, all services in one process."""

from __future__ import annotations

import pytest

from tests.e2e.inprocess import Stack
from tests.e2e.party import Party, must, until
from wire import client_in

pytestmark = pytest.mark.timeout(180)


async def test_a_host_a_friend_and_a_bot_play_two_hands_and_the_tv_sees_them(stack: Stack, people: Party) -> None:
    ann = await people.host("Ann")
    bo = await people.join("Bo", people.room.lower())
    await until(ann, lambda p: [q.present for q in p.lobby.players] == [True, True])
    await ann.act(client_in.AddBot("hard"))
    await until(bo, lambda p: len(p.lobby.players) == 3)
    tv = await people.tv()
    await people.start(ann)
    await until(tv, lambda t: t.screen.table is not None and len(t.screen.table.members) == 3)
    await must(ann, client_in.SetOptions({"length": "to50"}))
    await must(ann, client_in.Deal())
    await people.live()
    await people.play(ann, bo)
    for phone in (ann, bo):
        await until(phone, lambda p: p.screen.phase() == "scores")
        assert phone.screen.view.result is not None
        assert len(phone.screen.view.result.scores) == 3
    await until(tv, lambda t: t.screen.phase() == "scores" and t.screen.seq == ann.screen.seq)
    assert tv.screen.view.result == ann.screen.view.result
    assert tv.screen.view.mine is None
    points = {s.seat: s.left for s in ann.screen.view.result.scores}
    await must(ann, client_in.NextHand())
    await people.live()
    assert ann.screen.view.hand == 2
    assert {s.seat: s.total for s in ann.screen.view.seats} == points
    assert ann.screen.table is not None
    bot = next(m.seat for m in ann.screen.table.members if m.bot is not None)
    await until(tv, lambda t: any(c.seat == bot for pile in t.screen.view.middle for c in pile.top))
