"""A room's TVs share a snapshot and each frame, whenever each of them came."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest

from services.watch import fan, show
from tests.servers import NatsServer
from tests.services.phone import Phone
from tests.services.stage import ROOM, stage
from wire import client_out

New = Callable[[], NatsServer]
LARGE = [client_out.Step(ev=["x" * 3000])]


async def on(tv: Phone) -> None:
    await tv.send({"t": "watch", "v": 1, "room": ROOM})


def numbers(tv: Phone) -> list[int]:
    return [m["n"] for m in tv.seen if m["t"] == "table"]


async def test_who_comes_late_is_shown_the_same_snapshot_and_the_frames_since_without_a_view(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        async with s.tv() as first, s.tv() as late:
            await on(first)
            await first.until("snapshot")
            for _ in range(3):
                await s.engine.tell_table(table, [])
            await first.until("table", n=3)
            views = s.engine.views
            await on(late)
            await late.until("table", n=3)
            assert late.tags() == ["welcome", "lobby", "snapshot", "table", "table", "table"]
            await s.engine.tell_table(table, [])
            await late.until("table", n=4)
            assert numbers(late) == [1, 2, 3, 4]
            assert s.engine.views == views


async def test_when_much_has_been_told_who_comes_gets_a_new_snapshot_and_the_others_none(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "MAX_SINCE", 5)
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        async with s.tv() as first, s.tv() as late:
            await on(first)
            await first.until("snapshot")
            for _ in range(10):
                await s.engine.tell_table(table, [])
            await first.until("table", n=10)
            await on(late)
            assert (await late.until("snapshot"))["seq"] == 10
            await s.engine.tell_table(table, [])
            await late.until("table", n=11)
            await first.until("table", n=11)
            assert numbers(late) == [11]
            assert first.tags().count("snapshot") == 1


@pytest.mark.parametrize("kept", [0, 3, 1000])
async def test_tvs_that_come_and_go_while_frames_are_told_miss_none_and_see_none_twice(
    new_nats: New, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(fan, "SLICE", 3)
    monkeypatch.setattr(show, "MAX_SINCE", kept)
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        done = asyncio.Event()

        async def tell() -> int:
            while not done.is_set():
                await s.engine.tell_table(table, [])
            await s.engine.tell_table(table, [])
            return table.frames

        async def look(last: asyncio.Task[int]) -> None:
            async with s.tv() as tv:
                await on(tv)
                seq = (await tv.until("snapshot"))["seq"]
                assert len([m for m in tv.seen if m["t"] == "snapshot"]) == 1
                if not last.done():
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(0.2):
                            await asyncio.shield(last)
                while not last.done() or (numbers(tv) or [seq])[-1] < last.result():
                    await tv.next()
                assert numbers(tv) == list(range(seq + 1, seq + 1 + len(numbers(tv))))

        telling = asyncio.create_task(tell())
        looking = [asyncio.create_task(look(telling)) for _ in range(12)]
        while table.frames < 300:
            await asyncio.wait({telling}, timeout=0.01)
        done.set()
        await asyncio.gather(*looking)


async def test_a_snapshot_ahead_of_the_frames_is_shown_when_they_have_come_and_none_is_shown_twice(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "MAX_SINCE", 0)
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        async with s.tv() as first, s.tv() as late:
            await on(first)
            await first.until("snapshot")
            await s.engine.tell_table(table, [])
            await first.until("table", n=1)
            # Two more are decided, and on their way while somebody comes.
            table.frames, table.seq, views = 3, 3, s.engine.views
            await on(late)
            await s.engine.until(lambda: s.engine.views > views)
            await late.until("lobby")
            table.frames, table.seq = 1, 1
            for _ in range(3):
                await s.engine.tell_table(table, [])
            assert (await late.until("snapshot"))["seq"] == 3
            await late.until("table", n=4)
            await first.until("table", n=4)
            assert numbers(late) == [4]
            assert numbers(first) == [1, 2, 3, 4]
            assert first.tags().count("snapshot") == 1


async def test_a_room_that_tells_more_than_can_be_sent_is_shown_anew(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan, "MAX_PENDING_BYTES", 10_000)
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        async with s.tv() as tv:
            await on(tv)
            await tv.until("snapshot")
            assert s.watch.upstream is not None
            # Told in one piece, so that it comes in one turn of the loop.
            for _ in range(8):
                table.frames += 1
                table.seq += 1
            for _ in range(50):
                await s.engine.tell_table(table, LARGE)
            assert (await tv.until("snapshot"))["seq"] >= 8
            while tv.seen[-1].get("n", tv.seen[-1].get("seq")) != table.seq:
                await tv.next()


async def test_a_tv_that_comes_while_the_table_is_waited_for_is_told_so(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        await s.engine.stop()
        async with s.tv() as first, s.tv() as second:
            await on(first)
            await first.until("waiting")
            await on(second)
            await second.until("waiting")
            other = await s.another_engine("e2")
            await other.claim(epoch=2)
            await first.until("snapshot")
            await second.until("snapshot")


async def test_a_room_whose_last_tv_went_is_heard_no_more_and_the_next_one_is_shown_it_again(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        for _ in range(3):
            async with s.tv() as tv:
                await on(tv)
                await tv.until("snapshot")
            await asyncio.sleep(0)
        async with s.tv() as unknown:
            await unknown.send({"t": "watch", "v": 1, "room": "ZZZZZ"})
            assert await unknown.closed() == 4002
