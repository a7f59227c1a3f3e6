"""Callers while engines come and go: they follow at once, and what they have to say is heard in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import engine_calls, engine_commands
from servicekit.engines import EngineAway
from servicekit.feed import Feeds
from servicekit.seat import SeatSession
from tests.servers import NatsServer
from tests.services.test_feed_engines import HERE, ROOM, Twin, World, a_table, world
from tests.services.twin_engine import TwinSeat, bucket
from tests.waiting import reach
from wire import subjects

New = Callable[[], NatsServer]
NEVER = 1000.0


async def offer(w: World) -> None:
    kv = await bucket(w.nc)
    entry = {"owner": "b", "addr": w.b.addr, "epoch": 2, "state": "offer"}
    await kv.put(subjects.placement_key(HERE), msgspec.json.encode(entry))


async def test_what_a_stopped_engine_has_goes_to_the_new_owner_as_soon_as_that_is_heard_of(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_commands, "ANSWER_WITHIN", NEVER)
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        await w.client.placement.find(HERE)
        a_table(w)
        w.a.deaf = True
        talker = Twin(w.client)
        for id in (1, 2, 3):
            talker.say(id)
        await w.a.until(lambda: w.a.heard == 3)
        await w.b.claim(HERE, epoch=2)
        await w.b.until(lambda: len(w.tables.live[ROOM].decided) == 3)
        assert w.tables.live[ROOM].ids == [1, 2, 3]


async def test_nothing_more_goes_to_an_owner_that_gives_its_partition_away(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        await w.client.placement.find(HERE)
        a_table(w)
        talker = Twin(w.client)
        await offer(w)
        await reach(lambda: w.client.placement.known(HERE) is None, "the offer is heard of")
        talker.say(1)
        await w.b.claim(HERE, epoch=3)
        await w.b.until(lambda: len(w.tables.live[ROOM].decided) == 1)
        assert w.a.heard == 0


async def test_a_question_to_a_stopped_engine_is_put_to_the_new_owner_at_once(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_calls, "TRY_TIMEOUT", NEVER)
    async with world(new_nats) as w:
        w.client.timeout = NEVER
        await w.a.claim(HERE)
        a_table(w)
        w.a.hold_attach = asyncio.Event()
        attaching = asyncio.create_task(w.client.attach(pb.AttachRequest(room=ROOM, player="p1", tab=1)))
        await w.a.until(lambda: w.a.attaches == 1)
        await w.b.claim(HERE, epoch=2)
        await attaching
        assert w.b.attaches == 1


async def test_a_detach_is_told_until_an_engine_has_confirmed_it(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_commands, "DETACH_AGAIN_MOST", 0.1)
    async with world(new_nats) as w:
        w.client.detach(ROOM, 3, 7)
        w.a.deaf = True
        await w.a.claim(HERE)
        await w.a.until(lambda: w.a.heard >= 2)
        w.a.deaf = False
        await w.a.until(lambda: w.a.detached)
        await reach(lambda: not w.client._commands._detaches, "it is confirmed")
        assert w.a.detached[0] == (ROOM, 3, 7)


async def test_an_attach_that_is_never_answered_is_undone_by_its_name_and_a_later_one_is_not(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        a_table(w)
        feeds = Feeds(w.nc, w.client)
        await feeds.start()
        w.a.hold_attach = asyncio.Event()
        request = pb.AttachRequest(room=ROOM, player="p1", tab=1)
        first = SeatSession(feeds, request, Nobody())
        with pytest.raises(EngineAway):
            await first.attach(0.2)
        await w.a.until(lambda: w.a.attempts_undone)
        w.a.hold_attach.set()
        second = SeatSession(feeds, request, Nobody())
        await second.attach()
        assert w.a.attempts_undone == [w.a.attempts[0]]
        assert w.a.attempts[-1] not in w.a.attempts_undone
        await feeds.stop()


class Nobody:
    def on_snapshot(self, body: bytes) -> None: ...

    def on_frame(self, kind: int, body: bytes) -> None: ...

    def on_answer(self, body: bytes) -> None: ...

    def on_waiting(self) -> None: ...

    def on_taken_over(self) -> None: ...

    def on_superseded(self) -> None: ...

    def on_no_table(self) -> None: ...


async def test_a_dead_address_is_not_asked_again_and_again_and_is_as_soon_as_it_serves(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        await w.client.placement.find(HERE)
        table = w.tables.open(ROOM)
        table.seats = {n: TwinSeat(n, f"p{n}", session=1) for n in range(1)}
        talker = Twin(w.client)
        await w.a.stop()
        talker.say(1)
        await reach(lambda: w.client.counts.broken_streams >= 3, "it is tried again")
        assert w.client.counts.sent_again <= w.client.counts.broken_streams + 1
        await w.b.claim(HERE, epoch=2)
        await w.b.until(lambda: len(table.decided) == 1)


async def test_a_dead_owner_is_left_also_when_the_news_of_the_next_one_was_lost(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        await w.client.placement.find(HERE)
        a_table(w)
        talker = Twin(w.client)
        news = w.client.placement._sub
        assert news is not None
        await news.unsubscribe()
        w.client.placement._sub = None
        await w.a.stop()
        await w.b.claim(HERE, epoch=2)
        talker.say(1)
        w.client.detach(ROOM, 3, 7)
        await w.b.until(lambda: len(w.tables.live[ROOM].decided) == 1 and (ROOM, 3, 7) in w.b.detached)
