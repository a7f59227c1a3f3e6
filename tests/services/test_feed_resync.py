"""Frames that were missed: found by a gap, a beacon or silence, and made good by a snapshot, never by a guess."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import pytest
from nats.errors import SlowConsumerError

from tests.servers import NatsServer
from tests.services.stage import ROOM, frames_heard, stage
from wire import client_out, frames, subjects

New = Callable[[], NatsServer]


async def test_a_gap_brings_a_snapshot_that_holds_what_was_missed(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await s.engine.tell_table(table, [])
            await phone.until("table", n=1)
            s.engine.lose_frames = 1
            await s.engine.tell_table(table, [])
            await s.engine.tell_table(table, [])
            assert (await phone.until("snapshot"))["seq"] == 3
            await s.engine.tell_table(table, [])
            assert await phone.until("table", n=4)
        assert [m.get("n") for m in phone.seen if m["t"] == "table"] == [1, 4]


async def test_a_lost_last_frame_is_noticed_by_the_beacon(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.lose_frames = 1
            await s.engine.tell_table(table, [])
            await s.engine.beacon(table)
            assert (await phone.until("snapshot"))["seq"] == 1


async def test_a_lost_frame_of_the_seat_alone_is_noticed_too(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.lose_frames = 1
            await s.engine.tell_seat(table, table.seats[0], [], ())
            await s.engine.beacon(table)
            assert await phone.until("snapshot")


async def test_a_beacon_that_knows_no_more_changes_nothing(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await s.engine.tell_table(table, [])
            await s.engine.beacon(table)
            await s.engine.beacon(table)
            await s.engine.tell_table(table, [])
            await phone.until("table", n=2)
        assert phone.tags().count("snapshot") == 1
        assert s.engine.views == 0


async def test_frames_of_a_lower_epoch_are_dropped(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.epoch = 5
            await s.engine.tell_table(table, [])
            await phone.until("table", n=1)
            zombie = msgspec.json.encode(client_out.TableFrame(2, 99, []))
            await s.nc.publish(subjects.table(ROOM), frames.pack(frames.TABLE, 4, 2, (), zombie))
            await s.engine.tell_table(table, [])
            assert (await phone.until("table", n=2))["seq"] == 2


async def test_frames_of_other_seats_never_come_to_a_phone(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1", "p2")
        async with s.seated("p1") as ann, s.seated("p2") as bo:
            secret = client_out.Step(ev=[{"t": "your_deal"}])
            await s.engine.tell_seat(table, table.seats[1], [secret], ())
            await bo.until("seat")
            await s.engine.tell_table(table, [])
            await ann.until("table", n=1)
        assert not any(m["t"] == "seat" and m["steps"] for m in ann.seen)


async def test_what_can_not_be_understood_on_a_subject_is_skipped(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            for data in (b"", b"{}", b"\x09" * 40, frames.pack(frames.BEACON, 1, 0, (), b"{")):
                await s.nc.publish(subjects.table(ROOM), data)
            await s.nc.publish(f"f.{ROOM}.seat.x", frames.pack(frames.SEAT, 1, 1, (), b"{}"))
            await s.engine.tell_table(table, [])
            assert await phone.until("table", n=1)


async def test_a_slow_consumer_gets_a_snapshot(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.seated("p1") as phone:
            (subscription,) = frames_heard(s.gateway)
            await subscription._conn._error_cb(SlowConsumerError(subscription.subject, "", 1, subscription))
            assert await phone.until("snapshot")


async def test_after_nats_was_away_a_phone_has_the_table_right_and_plays_on(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        back = asyncio.Event()
        s.nc.reconnect_listeners.append(back.set)
        async with s.seated("p1") as phone:
            s.nats.stop()
            # What happened meanwhile was told to nobody.
            table.frames += 1
            table.seq += 1
            s.nats.start()
            await back.wait()
            assert (await phone.until("snapshot"))["seq"] == 1
            await phone.move(1)
            await phone.answered(1)
        assert table.ids == [1]


async def test_a_seat_that_was_given_up_while_nats_was_away_is_taken_again(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await phone.move(1)
            await phone.answered(1)
            s.engine.deaf = True
            await phone.move(1)  # decided, and asked about
            await phone.move(2)
            await s.engine.until(lambda: s.engine.heard == 3)
            s.nats.stop()
            table.seats[0].attached = False  # the engine heard no beat of this gateway
            s.nats.start()
            s.engine.deaf = False
            await s.engine.until(lambda: table.seats[0].session == 2)
            await phone.answered(2)
            if not any(m["t"] == "answer" for m in phone.seen):
                await phone.until("answer", id=1)
            await phone.move(3)
            await phone.answered(3)
            assert "taken_over" not in phone.tags()
        assert table.ids == [1, 2, 3]
        assert table.seats[0].session == 2
        await s.engine.until(lambda: s.engine.detached)
        assert s.engine.detached == [(ROOM, 0, 2)]


async def test_a_player_who_left_by_the_cross_is_not_brought_back(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await phone.move(1, {"t": "leave"})
            await phone.answered(1)
            table.seats[0].attached = False
            s.engine.lose_frames = 1
            await s.engine.tell_table(table, [])
            await s.engine.beacon(table)
            await phone.until("snapshot")
        assert table.seats[0].session == 1


async def test_silence_is_looked_into_and_says_nothing_when_nothing_was_missed(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servicekit.feed.SILENCE", 0.1)
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await s.engine.until(lambda: s.engine.views >= 1)
            await s.engine.tell_table(table, [])
            await phone.until("table", n=1)
            assert phone.tags().count("snapshot") == 1
            s.engine.lose_frames = 1
            await s.engine.tell_table(table, [])
            assert (await phone.until("snapshot"))["seq"] == 2


async def test_while_no_engine_answers_a_phone_waits_and_then_gets_a_snapshot(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servicekit.feed.SILENCE", 0.1)
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await s.engine.stop()
            assert await phone.until("waiting")
            other = await s.another_engine("e2")
            await other.claim(epoch=2)
            assert await phone.until("snapshot")
            await phone.move(1)
            await phone.answered(1)
        assert table.ids == [1]
        assert other.epoch == 2


async def test_sockets_of_a_room_share_one_subscription(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1", "p2", "p3")
        async with s.seated("p1") as a, s.seated("p2") as b, s.seated("p3") as c:
            assert [x.subject for x in frames_heard(s.gateway)] == [subjects.room_frames(ROOM)]
            await s.engine.tell_table(table, [])
            for phone in (a, b, c):
                assert await phone.until("table", n=1)
