"""Engines as their clients find them: by placement, again when it was wrong, and never for ever."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import grpc
import msgspec
import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import bus, engine_commands, engine_link
from servicekit.engines import EngineAway, EngineRefusal, Engines
from tests.servers import NatsServer
from tests.services.twin_engine import TwinEngine, TwinSeat, TwinTables, bucket
from wire import subjects
from wire.places import PARTITIONS, partition_of

New = Callable[[], NatsServer]
ROOM = "BCDFG"
HERE = partition_of(ROOM)


class World:
    """Two engines over the same tables, neither owning anything yet, and a client."""

    def __init__(self, nats: NatsServer, nc: bus.Bus) -> None:
        self.nats = nats
        self.nc = nc
        self.tables = TwinTables()
        self.a = TwinEngine(nc, self.tables, "a")
        self.b = TwinEngine(nc, self.tables, "b")
        self.client = Engines(nc, "test", timeout=5)


@asynccontextmanager
async def world(new_nats: New) -> AsyncIterator[World]:
    nats = new_nats()
    nc = await bus.connect(nats.url, "test")
    await bucket(nc)
    w = World(nats, nc)
    await w.a.start()
    await w.b.start()
    await w.client.start()
    try:
        yield w
    finally:
        await w.client.stop()
        await w.a.stop()
        await w.b.stop()
        await nc.close()


class Twin:
    """A talker that keeps what it sent until it is told to forget."""

    def __init__(self, engines: Engines, room: str = ROOM) -> None:
        self.room, self.partition = room, partition_of(room)
        self.seat, self.session = 0, 1
        self.sent_to, self.oldest, self.stalled = "", math.inf, False
        self.kept: list[pb.Command] = []
        self.replies: list[pb.Reply] = []
        self._engines = engines
        engines.register(self)

    def outstanding(self) -> list[pb.Command]:
        return list(self.kept)

    def on_reply(self, reply: pb.Reply) -> None:
        self.replies.append(reply)

    def say(self, id: int) -> None:
        command = pb.Command(room=self.room, seat=0, session=1, id=id, body=b"{}", kind=pb.COMMAND_KIND_MOVE)
        self.kept.append(command)
        self._engines.send(self, command)


def a_table(w: World) -> None:
    table = w.tables.open(ROOM)
    table.seats[0] = TwinSeat(0, "p1", session=1)


async def test_a_question_goes_to_the_owner_that_placement_names(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.b.claim(HERE)
        answer = await w.client.open_table(pb.OpenRequest(room=ROOM, table="t1"))
        assert answer.table == "t1"


async def test_a_question_is_asked_again_of_the_new_owner(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        await w.client.open_table(pb.OpenRequest(room=ROOM, table="t1"))
        w.a.owns.clear()
        asking = asyncio.create_task(w.client.view(pb.ViewRequest(room=ROOM)))
        await w.b.claim(HERE, epoch=2)
        await asking
        assert w.b.views == 1


async def test_a_question_waits_for_an_owner_to_come(new_nats: New) -> None:
    async with world(new_nats) as w:
        asking = asyncio.create_task(w.client.open_table(pb.OpenRequest(room=ROOM, table="t1")))
        await asyncio.sleep(0)
        await w.a.claim(HERE)
        assert (await asking).table == "t1"


async def test_a_question_is_given_up_in_time(new_nats: New) -> None:
    async with world(new_nats) as w:
        with pytest.raises(EngineAway, match="no engine owns"):
            await w.client.view(pb.ViewRequest(room=ROOM), timeout=0.2)
        await w.a.claim(HERE)
        await w.a.stop()
        with pytest.raises(EngineAway, match="UNAVAILABLE"):
            await w.client.view(pb.ViewRequest(room=ROOM), timeout=0.5)


async def test_an_owners_no_is_told_with_its_detail(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        with pytest.raises(EngineRefusal) as none:
            await w.client.view(pb.ViewRequest(room=ROOM))
        assert (none.value.code, none.value.detail) == (grpc.StatusCode.NOT_FOUND, "no_table")
        await w.client.open_table(pb.OpenRequest(room=ROOM, table="t1"))
        with pytest.raises(EngineRefusal) as live:
            await w.client.open_table(pb.OpenRequest(room=ROOM, table="t2"))
        assert (live.value.code, live.value.detail) == (grpc.StatusCode.ALREADY_EXISTS, "t1")


async def test_tables_are_those_of_all_engines_and_silent_ones_are_named(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(*range(32))
        await w.b.claim(*range(32, PARTITIONS))
        w.tables.open(ROOM)
        assert [t.room for t in (await w.client.listing()).tables] == [ROOM, ROOM]
        assert (await w.client.listing()).whole
        await w.b.stop()
        assert not (await w.client.listing()).whole
        assert [t.room for t in (await w.client.listing()).tables] == [ROOM]
        assert await w.client.silent() == ["b"]


async def test_older_news_of_a_partition_is_no_news(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.b.claim(HERE, epoch=5)
        assert await w.client.placement.find(HERE) is not None
        late = msgspec.json.encode({"owner": "a", "addr": w.a.addr, "epoch": 4, "state": "open"})
        await w.nc.publish(f"{subjects.OWN_BUCKET}.p.{HERE}", late, headers={"Nats-Sequence": "99999"})
        await bus.barrier(w.nc)
        owner = w.client.placement.known(HERE)
        assert owner is not None
        assert owner.engine == "b"


async def test_a_partition_that_is_being_opened_is_not_asked_yet(new_nats: New) -> None:
    async with world(new_nats) as w:
        kv = await bucket(w.nc)
        entry = {"owner": "a", "addr": w.a.addr, "epoch": 1, "state": "opening"}
        await kv.put(subjects.placement_key(HERE), msgspec.json.encode(entry))
        assert await w.client.placement.find(HERE) is None
        assert HERE in await w.client.placement.without_owner()
        await w.a.claim(HERE)
        assert await w.client.placement.find(HERE) is not None


async def test_placement_that_can_not_be_understood_is_skipped(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        await w.nc.publish(f"{subjects.OWN_BUCKET}.p.{HERE}", b"{", headers={"Nats-Sequence": "99999"})
        await w.nc.publish(f"{subjects.OWN_BUCKET}.p.x", b"{}")
        await bus.barrier(w.nc)
        assert await w.client.placement.find(HERE) is not None


async def test_commands_travel_in_batches(new_nats: New) -> None:
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        await w.client.placement.find(HERE)
        a_table(w)
        talker = Twin(w.client)
        for id in range(1, 201):
            talker.say(id)
        await w.a.until(lambda: len(w.tables.live[ROOM].decided) == 200)
        (link,) = w.client._links
        assert link.batches <= 3


async def test_a_full_queue_loses_nothing_and_keeps_the_order(new_nats: New, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_link, "MAX_QUEUED", 10)
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        await w.client.placement.find(HERE)
        a_table(w)
        talker = Twin(w.client)
        for id in range(1, 51):
            talker.say(id)
        assert w.client.counts.queue_full > 0

        def settled() -> bool:
            done = len(w.tables.live[ROOM].decided)
            talker.kept = [c for c in talker.kept if c.id > done]
            return done == 50

        await w.a.until(settled)
        assert [id for _, id, _ in w.tables.live[ROOM].decided] == list(range(1, 51))


async def test_a_client_that_stops_says_what_it_still_had_to_say(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_commands, "LAST_WORDS", 20.0)  # it ends as soon as all is said
    async with world(new_nats) as w:
        await w.a.claim(HERE)
        other = Engines(w.nc, "other")
        await other.start()
        other.detach(ROOM, 3, 7)
        await other.stop()
        await w.a.until(lambda: w.a.detached)
        assert w.a.detached == [(ROOM, 3, 7)]
