"""Moves that had no answer: sent again in order, decided once, whatever happened to the engine they went to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import engine_link
from tests.servers import NatsServer
from tests.services.stage import ROOM, stage
from wire import client_out, frames
from wire.places import partition_of

New = Callable[[], NatsServer]


async def test_not_owner_sends_all_that_is_unanswered_to_the_new_owner_in_order(new_nats: New) -> None:
    async with stage(new_nats) as s:
        other = await s.another_engine("e2")
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            # The old owner has lost the partition, and placement doesn't say so yet.
            s.engine.owns.clear()
            for id in (1, 2, 3):
                await phone.move(id)
            await s.engine.until(lambda: len(s.engine.commands) >= 3)
            await other.claim(partition_of(ROOM), epoch=2)
            await phone.answered(3)
            await phone.move(4)
            await phone.answered(4)
        assert table.ids == [1, 2, 3, 4]
        assert [c.id for c in other.commands][:3] == [1, 2, 3]


async def test_a_broken_stream_is_opened_again_and_nothing_is_lost_or_doubled(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await phone.move(1)
            await phone.answered(1)
            s.engine.deaf = True
            await phone.move(2)
            await phone.move(3)
            await s.engine.until(lambda: s.engine.heard == 3)
            s.engine.deaf = False
            s.engine.break_streams()
            await phone.answered(3)
        assert table.ids == [1, 2, 3]


async def test_silence_of_half_a_second_sends_again(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.deaf = True
            await phone.move(1)
            await s.engine.until(lambda: s.engine.heard == 1)
            s.engine.deaf = False
            await phone.answered(1)
        assert table.ids == [1]
        assert s.engine.heard >= 2


async def test_an_engine_that_says_expect_is_sent_from_there_on(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.drop_ids.add(1)  # lost on its way, once
            for id in (1, 2, 3):
                await phone.move(id)
            await phone.answered(3)
        assert table.ids == [1, 2, 3]
        assert "expect" not in phone.tags()


async def test_an_answer_whose_frame_was_lost_is_in_the_snapshot(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.lose_frames = 1
            await phone.move(1)
            await s.engine.until(lambda: table.decided)
            await s.engine.beacon(table)
            assert (await phone.until("snapshot"))["answered"] == 1
            await phone.move(2)
            await phone.answered(2)
        assert table.ids == [1, 2]


async def test_a_snapshot_settles_no_move_that_it_does_not_answer(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.deaf = True
            await phone.move(1)
            await s.engine.until(lambda: s.engine.heard == 1)
            s.engine.lose_frames = 1
            await s.engine.tell_table(table, [])
            await s.engine.tell_table(table, [])
            assert (await phone.until("snapshot")).get("answered", 0) == 0
            s.engine.deaf = False
            s.engine.break_streams()
            await phone.answered(1)
        assert table.ids == [1]


async def test_a_move_that_came_again_before_its_answer_is_answered_though_a_snapshot_settles_it(new_nats: New) -> None:
    """The page may have seen it in the table's frame, when the gateway misses the seat's."""
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.lose_frames = 1
            await phone.move(1)
            await s.engine.until(lambda: table.decided)
            await phone.move(1)
            await phone.send({"t": "ping", "at": 7})
            await phone.until("pong")
            await s.engine.beacon(table)
            assert (await phone.until("snapshot"))["answered"] == 1
            assert await phone.until("answer", id=1)
            await phone.move(2)
            await phone.answered(2)
        assert table.ids == [1, 2]


async def test_a_move_that_came_again_is_answered_though_the_frame_of_a_later_one_settles_it(new_nats: New) -> None:
    """The seat's frame is missing, and the table's that follows it says what became of the next move."""
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            s.engine.deaf = True
            await phone.move(1)
            await phone.move(1)
            await phone.move(2)
            await s.engine.until(lambda: s.engine.heard >= 2)
            seat = table.seats[0]
            seat.answered, seat.frames = 2, seat.frames + 1
            step = client_out.Step([], seat.number, 2)
            await s.engine.tell_table(table, [step], (frames.Answered(seat.number, seat.session, 2),))
            await phone.until("table", n=table.frames)
            await s.engine.beacon(table)
            assert (await phone.until("snapshot"))["answered"] == 2
            s.engine.deaf = False
            assert await phone.until("answer", id=1)
            await phone.move(3)
            await phone.answered(3)


async def test_a_decided_move_that_comes_again_is_asked_about_until_an_engine_answers(new_nats: New) -> None:
    """The engine that was asked is stopped, hands over, dies: the question goes to the next, before what is new."""
    async with stage(new_nats) as s:
        other = await s.another_engine("e2")
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            for id in (1, 2):
                await phone.move(id)
                await phone.answered(id)
            s.engine.deaf = True
            await phone.move(2)
            await phone.move(1)
            await phone.move(3)
            await phone.move(2)
            await s.engine.until(lambda: s.engine.heard >= 5)
            await s.engine.stop()
            await other.claim(partition_of(ROOM), epoch=2)
            await phone.answered(3)
            answers = [m["id"] for m in phone.seen if m["t"] == "answer"]
            while len(answers) < 2:
                answers.append((await phone.until("answer"))["id"])
            assert answers == [1, 2]
        assert table.ids == [1, 2, 3]
        assert [c.id for c in other.commands][:3] == [1, 2, 3]


@pytest.mark.parametrize("how", ["silence", "broken stream", "busy", "not owner", "full queue"])
async def test_a_question_about_a_decided_move_outlives(
    new_nats: New, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await phone.move(1)
            await phone.answered(1)
            if how == "full queue":
                with monkeypatch.context() as patched:
                    patched.setattr(engine_link, "MAX_QUEUED", 0)
                    await phone.move(1)
                    await phone.send({"t": "ping", "at": 1})
                    await phone.until("pong")
            elif how in ("busy", "not owner"):
                owned = set(s.engine.owns)
                s.engine.busy = how == "busy"
                if how == "not owner":
                    s.engine.owns.clear()
                await phone.move(1)
                await s.engine.until(lambda: len(s.engine.commands) >= 2)
                s.engine.owns |= owned
            else:
                s.engine.deaf = True
                await phone.move(1)
                await s.engine.until(lambda: s.engine.heard == 2)
                s.engine.deaf = False
                if how == "broken stream":
                    s.engine.break_streams()
            await phone.until("answer", id=1)
            await phone.move(2)
            await phone.answered(2)
        assert table.ids == [1, 2]


async def test_more_questions_about_decided_moves_than_are_kept_are_told_so(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servicekit.seat.MAX_UNANSWERED", 2)
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.seated("p1") as phone:
            for id in (1, 2, 3):
                await phone.move(id)
                await phone.answered(id)
            s.engine.deaf = True
            for id in (1, 2, 2, 3):
                await phone.move(id)
            assert (await phone.until("error"))["id"] == 3
            s.engine.deaf = False
            assert [(await phone.until("answer"))["id"] for _ in (1, 2)] == [1, 2]
            await phone.move(3)
            await phone.until("answer", id=3)


async def test_a_move_sent_while_the_owner_is_away_waits_for_the_next(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await s.engine.stop()
            await phone.move(1)
            await phone.move(2)
            other = await s.another_engine("e2")
            await other.claim(epoch=2)
            await phone.answered(2)
        assert table.ids == [1, 2]


async def test_a_phone_that_comes_while_its_engine_is_away_waits_for_its_seat(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        await s.engine.stop()
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await phone.move(1)
            await phone.until("waiting")
            other = await s.another_engine("e2")
            await other.claim(epoch=2)
            await phone.until("snapshot")
            await phone.answered(1)
        assert table.ids == [1]


async def test_a_socket_closed_while_its_seat_is_being_taken_gives_it_back(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        s.engine.hold_attach = asyncio.Event()
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await s.engine.until(lambda: s.engine.attaches == 1)
        s.engine.hold_attach.set()
        await s.engine.until(lambda: s.engine.detached)
        assert s.engine.detached[0] == (ROOM, 0, 1)


async def test_a_detach_reaches_the_owner_that_comes_next(new_nats: New) -> None:
    async with stage(new_nats) as s:
        other = await s.another_engine("e2")
        s.at_table("p1")
        async with s.seated("p1"):
            await s.engine.stop()
        await other.claim(epoch=2)
        await other.until(lambda: other.detached)
        assert other.detached[0] == (ROOM, 0, 1)


async def test_a_table_that_is_gone_is_not_played_at(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.seated("p1") as phone:
            del s.tables.live[ROOM]
            await phone.move(1)
            await s.engine.until(lambda: len(s.engine.commands) == 1)
            await s.rooms.change(ROOM, table=None)
            await phone.until("lobby", rev=2)
            await phone.move(2)
            assert (await phone.until("error", id=2))["code"] == "no_table"
        assert s.engine.commands[0].kind == pb.COMMAND_KIND_MOVE


async def test_a_move_that_waited_for_one_table_is_not_made_at_the_next(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        s.engine.hold_attach = asyncio.Event()
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await s.engine.until(lambda: s.engine.attaches == 1)
            await phone.move(1)
            await phone.send({"t": "ping", "at": 1})
            await phone.until("pong")
            table = s.tables.open(ROOM, "t2")
            await s.rooms.change(ROOM, table="t2")
            assert (await phone.until("error", id=1))["code"] == "no_table"
            s.engine.hold_attach.set()
            await phone.until("snapshot")
            await phone.move(1, {"t": "turn", "other": True})
            await phone.answered(1)
        assert [b"other" in body for _, _, body in table.decided] == [True]
