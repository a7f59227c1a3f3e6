"""Phones that drop, reload and open twice, end to end in one process."""

from __future__ import annotations

import asyncio

import pytest

from simulate.phone import Phone
from tests.e2e.inprocess import Stack
from tests.e2e.party import Party, must, until, within
from tests.services.slow_phone import SlowPhone
from wire import client_in, client_out

pytestmark = pytest.mark.timeout(120)


async def two_at_a_table(people: Party) -> tuple[Phone, Phone]:
    ann, bo = await people.host("Ann"), await people.join("Bo")
    await people.start(ann)
    return ann, bo


async def reload(people: Party, phone: Phone) -> Phone:
    """The page is loaded anew: the old socket goes, the tab keeps its number."""
    phone.stop()
    again = people.tab(phone.token)
    again.tab = phone.tab
    await until(again, lambda p: p.screen.table is not None)
    return again


async def test_a_page_refreshed_in_the_countdown_a_pause_and_the_scores_shows_the_same_again(
    stack: Stack, people: Party
) -> None:
    ann, bo = await two_at_a_table(people)
    await must(ann, client_in.Deal())
    await until(bo, lambda p: p.screen.phase() == "countdown")
    mine = bo.screen.view.mine
    bo = await reload(people, bo)
    assert bo.screen.phase() in ("countdown", "live")
    assert bo.screen.view.mine == mine
    await until(bo, lambda p: p.screen.live)
    await must(ann, client_in.Pause())
    await until(bo, lambda p: p.screen.table.paused_by is not None)
    bo = await reload(people, bo)
    assert (bo.screen.phase(), bo.screen.live, bo.screen.view.mine) == ("live", False, mine)
    await must(ann, client_in.Resume())
    await until(bo, lambda p: p.screen.live)
    await people.play(ann, bo, speed=40)
    await until(bo, lambda p: p.screen.phase() in ("scores", "standings"))
    result = bo.screen.view.result
    bo = await reload(people, bo)
    assert bo.screen.phase() in ("scores", "standings")
    assert bo.screen.view.result == result


async def test_a_socket_that_drops_and_comes_back_costs_nothing_and_nobody_says_left(
    stack: Stack, people: Party
) -> None:
    ann, bo = await two_at_a_table(people)
    await must(ann, client_in.Deal())
    await people.live()
    seat, mine = bo.screen.seat, bo.screen.view.mine
    bo.stop()
    await until(ann, lambda p: not p.screen.table.members[seat].present)
    back = people.tab(bo.token)
    await until(back, lambda p: p.screen.live)
    assert (back.screen.seat, back.screen.view.mine) == (seat, mine)
    await until(ann, lambda p: p.screen.table.members[seat].present)
    assert ann.screen.table is not None
    assert not ann.screen.table.members[seat or 0].left
    assert ann.screen.table.host == ann.screen.seat


async def test_the_newer_of_two_tabs_plays_and_the_older_one_says_so_and_stays_quiet(
    stack: Stack, people: Party
) -> None:
    ann, bo = await two_at_a_table(people)
    await must(ann, client_in.Deal())
    await people.live()
    newer = people.tab(bo.token)
    await until(newer, lambda p: p.screen.live)
    await within(bo.taken_over.wait())
    await until(bo, lambda p: p.closed is not None)
    assert (bo.closed or "").startswith("4001")
    assert newer.screen.seat == bo.screen.seat
    told = await within(newer.move({"t": "turn"}))
    assert told.no is None
    assert newer.closed is None


async def test_the_old_sockets_late_close_does_not_throw_the_new_one_out(stack: Stack, people: Party) -> None:
    """The phone is back before anybody has noticed that its first socket is dead: it takes no goodbye either."""
    ann, bo = await two_at_a_table(people)
    await must(ann, client_in.Deal())
    await people.live()
    seat = bo.screen.seat or 0
    bo.stop()
    await until(ann, lambda p: not p.screen.table.members[seat].present)
    dead = SlowPhone(stack.gateways[0].port, "/ws")
    try:
        await dead.start({"t": "hello", "v": client_out.VERSION, "token": bo.token, "tab": bo.tab})
        await until(ann, lambda p: p.screen.table.members[seat].present)
        old = await sockets(stack, people.room, "Bo", other_than=set())
        back = people.tab(bo.token)
        back.tab = bo.tab
        await until(back, lambda p: p.screen.live)
        await sockets(stack, people.room, "Bo", other_than=old)
    finally:
        dead.stop()
    told = await within(back.move({"t": "turn"}))
    assert told.no is None
    assert ann.screen.table is not None
    assert ann.lobby is not None
    member = ann.screen.table.members[seat]
    assert (member.present, member.left) == (True, False)
    assert [p.present for p in ann.lobby.players] == [True, True]
    assert back.closed is None


async def sockets(stack: Stack, room: str, name: str, other_than: set[str]) -> set[str]:
    """Those of this player that rooms knows, once it knows some, and none of these any more."""
    store = stack.rooms[0]._store
    assert store is not None
    async with asyncio.timeout(20):
        while True:
            seen = await store.read(room)
            assert seen is not None
            found = next(set(p.sockets) for p in seen.room.players if p.name == name)
            if found and not found & other_than:
                return found
            await asyncio.sleep(0.02)
