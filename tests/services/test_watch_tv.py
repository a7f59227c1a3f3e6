"""A TV: a code is enough, and what it is sent is what everyone at the table may see."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.servers import NatsServer
from tests.services.phone import Phone
from tests.services.stage import ROOM, Stage, frames_heard, stage
from tests.services.twin_engine import TwinSeat
from wire import client_out, subjects

New = Callable[[], NatsServer]


async def on(tv: Phone, room: str = ROOM) -> None:
    await tv.send({"t": "watch", "v": 1, "room": room})


@asynccontextmanager
async def showing(s: Stage, what: str) -> AsyncIterator[Phone]:
    """A TV that is on and shows `what`: `snapshot`, or `no_table`."""
    async with s.tv() as tv:
        await on(tv)
        await tv.until(what)
        yield tv


@pytest.mark.parametrize("typed", [ROOM, "bcdfg", " bcd fg ", "BC-DFG"])
async def test_a_code_as_typed_is_enough(new_nats: New, typed: str) -> None:
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        async with s.tv() as tv:
            await on(tv, typed)
            snapshot = await tv.until("snapshot")
            assert "you" not in snapshot
            assert tv.tags() == ["welcome", "lobby", "snapshot"]
            await s.engine.tell_table(table, [])
            assert await tv.until("table", n=1)


async def test_a_tv_waits_in_the_lobby_follows_to_the_table_and_back(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.rooms.room(ROOM, "p1")
        async with showing(s, "no_table") as tv:
            assert tv.tags() == ["welcome", "lobby", "no_table"]
            s.tables.open(ROOM, "t2")
            await s.rooms.change(ROOM, table="t2")
            assert (await tv.until("snapshot"))["table"]["table"] == "t2"
            await s.rooms.change(ROOM, table=None)
            await tv.until("no_table")
            s.tables.open(ROOM, "t3")
            await s.rooms.change(ROOM, table="t3")
            assert (await tv.until("snapshot"))["table"]["table"] == "t3"


async def test_no_seats_frame_comes_into_the_watch_process_at_all(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        async with showing(s, "snapshot") as tv:
            (heard,) = frames_heard(s.watch)
            assert heard.subject == subjects.open_frames(ROOM)
            assert s.watch.upstream is not None
            listeners = s.watch.upstream.nc.listeners
            before = listeners.heard
            seat = table.seats[0] = TwinSeat(0, "p1")
            await s.engine.tell_seat(table, seat, [client_out.Step(ev=[{"t": "your_deal"}])], ())
            await s.engine.tell_table(table, [])
            await tv.until("table", n=1)
            assert listeners.heard == before + 1
            assert "seat" not in tv.tags()


async def test_many_tvs_of_a_room_share_a_subscription_and_a_view(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        async with s.tv() as a, s.tv() as b, s.tv() as c:
            for tv in (a, b, c):
                await on(tv)
                await tv.until("snapshot")
            views = s.engine.views
            s.engine.lose_frames = 1
            await s.engine.tell_table(table, [])
            await s.engine.tell_table(table, [])
            for tv in (a, b, c):
                assert (await tv.until("snapshot"))["seq"] == 2
            assert s.engine.views == views + 1
            assert [x.subject for x in frames_heard(s.watch)] == [subjects.open_frames(ROOM)]


@pytest.mark.parametrize(("room", "code"), [("ZZZZZ", "no_room"), ("A", "no_room"), ("BCDF1", "no_room")])
async def test_no_such_room_is_said(new_nats: New, room: str, code: str) -> None:
    async with stage(new_nats, watch=True) as s, s.tv() as tv:
        await on(tv, room)
        assert await tv.closed() == 4002
        assert tv.seen[-1]["code"] == code


@pytest.mark.parametrize(
    "first", ["{", '{"t":"ping","at":1}', '{"t":"hello","v":1,"token":"x","tab":1}', b"\x00", '{"t":"watch","v":1}']
)
async def test_a_tv_that_does_not_begin_with_watch_is_closed(new_nats: New, first: str | bytes) -> None:
    async with stage(new_nats, watch=True) as s, s.tv() as tv:
        await tv.send(first)
        assert await tv.closed() == 4004


async def test_another_version_is_refused(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s, s.tv() as tv:
        await tv.send({"t": "watch", "v": 2, "room": ROOM})
        assert await tv.closed() == 4004
        assert tv.seen[-1]["code"] == "bad_version"


async def test_hostile_messages_on_a_tv_are_errors_and_it_goes_on(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.rooms.room(ROOM, "p1")
        async with showing(s, "no_table") as tv:
            for message in ["", "[]", '{"t":"move","id":1,"basis":0,"m":{}}', b"\xff", "[" * 3000]:
                await tv.send(message)
                assert (await tv.until("error"))["code"] == "bad_message"
            await tv.send({"t": "ping", "at": 2})
            assert (await tv.until("pong"))["at"] == 2
            await tv.send("x" * 1_000_000)
            assert await tv.closed() == 1009


async def test_a_room_that_is_gone_switches_its_tvs_off(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.rooms.room(ROOM, "p1")
        async with showing(s, "no_table") as tv:
            await s.rooms.change(ROOM, players=[], host="")
            assert await tv.closed() == 4002


async def test_while_rooms_is_away_a_tv_still_shows_the_table(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        s.rooms.away = True
        async with showing(s, "snapshot") as tv:
            await s.engine.tell_table(table, [])
            await tv.until("table", n=1)
            s.rooms.away = False
            await tv.until("lobby")


async def test_a_tv_waits_while_no_engine_answers(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        await s.engine.stop()
        async with s.tv() as tv:
            await on(tv)
            await tv.until("waiting")
            other = await s.another_engine("e2")
            await other.claim(epoch=2)
            await tv.until("snapshot")
