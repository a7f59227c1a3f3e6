"""Engines on a real NATS: what was told is in the log, and comes back from it whoever serves."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable

import psutil
import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.engines import EngineAway
from services.engine import hall, ledger, table_clock
from services.engine.claims import ranking
from tests.servers import NatsServer
from tests.services.engine_stack import Driver, EngineStack, bots_table
from tests.waiting import reach
from wire.places import PARTITIONS

ROOM = "BCDFG"
STABLE = 1.0


@pytest.fixture(autouse=True)
def _shorter_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of engines in this process: a short countdown, and a newcomer gets its share soon."""
    monkeypatch.setattr(table_clock, "COUNTDOWN_MS", 200)
    monkeypatch.setattr(hall, "STABLE", STABLE)


async def live_hand(stack: EngineStack, room: str = ROOM) -> Driver:
    """A hand against a bot that stands still."""
    await stack.engines.open_table(bots_table(room))
    ann = Driver(stack, room, "p0")
    await ann.attach()
    assert await ann.move("deal") is None
    await ann.event("live")
    return ann


async def test_every_answered_move_is_in_the_log_once_and_the_refused_ones_too(stack: EngineStack) -> None:
    await stack.start("one")
    ann = await live_hand(stack)
    for t in ("turn", "undo", "undo", "turn", "turn", "pause", "turn", "resume") * 5:
        ann.send(t)
    await ann.hear(lambda: ann.decided == ann.last and len(ann.answers) == ann.last)
    assert await stack.decided(ROOM) == sorted(ann.answers.items())
    assert {"nothing_to_undo", "paused", None} == set(ann.answers.values())


async def test_an_engine_that_ends_in_mid_hand_leaves_all_to_the_next_one(stack: EngineStack) -> None:
    await stack.start("one")
    ann = await live_hand(stack)
    for t in ("turn", "undo", "undo", "turn"):
        await ann.move(t)
    before, answers = stack.state(ROOM), dict(ann.answers)
    await stack.stop("one")
    await stack.start("two")
    await reach(lambda: stack.serving(ROOM) is not None, "the next engine serves the room")
    assert stack.state(ROOM) == before
    again = pb.Command(room=ROOM, seat=0, session=ann.session, id=4, kind=pb.COMMAND_KIND_MOVE)
    [reply] = await stack.raw(ROOM, again)
    assert (reply.kind, reply.id) == (pb.REPLY_KIND_ANSWERED, 4)
    assert json.loads(reply.body) == {"t": "answer", "id": 4, "no": {"code": "nothing_to_undo"}}
    assert answers[4] == "nothing_to_undo"
    assert await ann.move("turn") is None


async def test_the_same_engine_started_again_goes_on_and_room_time_too(stack: EngineStack) -> None:
    await stack.start("one")
    ann = await live_hand(stack)
    first = (await stack.engines.view(pb.ViewRequest(room=ROOM))).snapshot
    await stack.stop("one")
    await stack.start("one")
    second = (await stack.engines.view(pb.ViewRequest(room=ROOM))).snapshot
    assert second.epoch > first.epoch
    assert second.table_number == first.table_number
    assert await ann.move("turn") is None


async def test_a_second_engine_gets_its_share_while_a_hand_goes_on(stack: EngineStack) -> None:
    one = await stack.start("one")
    ann = await live_hand(stack)
    two = await stack.start("two")
    share = {p for p in range(PARTITIONS) if ranking(p, {"one", "two"})[0] == "two"}
    assert 16 <= len(share) <= 48

    def settled() -> bool:
        assert one.hall is not None
        assert two.hall is not None
        of_two = {owner.number for owner in two.hall.owners()}
        return of_two == share and len(one.hall.owners()) == PARTITIONS - len(share)

    moves = 0
    while not settled():
        assert await ann.move("turn") is None
        moves += 1
        await asyncio.sleep(0.02)
    assert await ann.move("turn") is None
    assert sorted(ann.answers) == list(range(1, ann.last + 1))
    assert await two.ready() is None


async def test_what_an_engine_gives_away_as_it_ends_is_not_handed_back_to_it(stack: EngineStack) -> None:
    one = await stack.start("one")
    two = await stack.start("two")
    assert one.hall is not None
    assert two.hall is not None
    halls = (one.hall, two.hall)
    share = {p for p in range(PARTITIONS) if ranking(p, {"one", "two"})[0] == "two"}
    await reach(lambda: {owner.number for owner in halls[1].owners()} == share, "each has its share")
    stable = asyncio.get_running_loop().time() + STABLE
    await reach(lambda: asyncio.get_running_loop().time() > stable, "and keeps it")
    before = {p: halls[0].board.placed[p].entry.epoch for p in share}
    await stack.stop("two")
    await reach(lambda: len(halls[0].owners()) == PARTITIONS, "all are at the one that stays")
    offered_and_claimed = {p: epoch + 2 for p, epoch in before.items()}
    assert {p: halls[0].board.placed[p].entry.epoch for p in share} == offered_and_claimed


async def test_a_killed_engine_s_partitions_are_taken_over_and_nothing_told_is_lost(stack: EngineStack) -> None:
    doomed = await stack.process("doomed")
    try:
        ann = await live_hand(stack)
        for _ in range(10):
            await ann.move("turn")
        survivor = await stack.start("survivor")
        assert survivor.hall is not None
        told = dict(ann.answers)
        for _ in range(20):
            ann.send("turn")
        workers = psutil.Process(doomed.pid).children(recursive=True)
        assert workers
        doomed.send_signal(signal.SIGKILL)
        await ann.hear(lambda: ann.decided == ann.last)
        await reach(lambda: survivor.hall is not None and len(survivor.hall.owners()) == PARTITIONS, "all taken over")
        _, orphans = await asyncio.to_thread(psutil.wait_procs, workers, 10)
        assert orphans == []
    finally:
        if doomed.returncode is None:
            doomed.kill()
        await doomed.wait()
    logged = await stack.decided(ROOM)
    assert [id for id, _ in logged] == list(range(1, ann.last + 1))
    assert set(told.items()) <= set(logged)


async def test_an_engine_that_slept_through_its_takeover_writes_no_more(stack: EngineStack) -> None:
    sleeper = await stack.process("sleeper")
    try:
        ann = await live_hand(stack)
        survivor = await stack.start("survivor")
        for _ in range(5):
            ann.send("turn")
        sleeper.send_signal(signal.SIGSTOP)
        for _ in range(5):
            ann.send("turn")
        await ann.hear(lambda: ann.decided == ann.last)
        sleeper.send_signal(signal.SIGCONT)
        for _ in range(50):
            assert await ann.move("turn") is None
        assert survivor.hall is not None
        await reach(lambda: survivor.hall is not None and "sleeper" in survivor.hall.keeper.alive(), "it is back")
        await ann.move("undo")
    finally:
        sleeper.kill()
        await sleeper.wait()
    assert [id for id, _ in await stack.decided(ROOM)] == list(range(1, ann.last + 1))


async def test_the_log_is_trimmed_below_snapshots_and_what_is_left_is_the_table(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "SNAPSHOT_RECORDS", 10)
    await stack.start("one")
    ann = await live_hand(stack)
    for _ in range(60):
        await ann.move("turn")
    before = stack.state(ROOM)
    left = await stack.log(ROOM)
    assert 1 <= len(left) < 40
    await stack.stop("one")
    await stack.start("two")
    await reach(lambda: stack.serving(ROOM) is not None, "the next engine serves the room")
    assert stack.state(ROOM) == before
    assert await ann.move("turn") is None


async def test_the_next_deal_is_there_before_the_hand_is_over(stack: EngineStack) -> None:
    engine = await stack.start("one")
    await stack.engines.open_table(bots_table(ROOM))
    ann = Driver(stack, ROOM, "p0")
    await ann.attach()
    await ann.move("options", options={"length": "to50"})
    await ann.move("deal")
    await ann.event("live")
    found = stack.serving(ROOM)
    assert found is not None
    assert engine.hall is not None
    owner = engine.hall.owner_of(ROOM)
    assert owner is not None
    table = owner.ledger.table(ROOM)
    assert table is not None

    deals = engine.hall.deals

    def dealt(ready: str) -> float:
        return engine.registry.get_sample_value("snatch_engine_deals_total", {"ready": ready}) or 0.0

    assert dealt("no") + dealt("yes") == 1.0
    before = dealt("yes")
    await reach(lambda: not deals._jobs, "all that is foreseen is made")
    # Nobody finishes a hand in a moment: the host ends it, as if all had been stuck for good.
    table.cards.end_offered = True
    await ann.move("end_hand")
    await ann.event("scores")
    assert await ann.move("next_hand") is None
    await ann.hear(lambda: [e["hand"] for e in ann.events if e["t"] == "countdown"] == [1, 2])
    assert dealt("yes") == before + 1


async def test_an_engine_rides_out_a_nats_that_goes_away(new_nats: Callable[[], NatsServer]) -> None:
    server = new_nats()
    stack = await EngineStack(server.url).begin()
    try:
        engine = await stack.start("one")
        ann = await live_hand(stack)
        await ann.move("turn")
        assert engine.hall is not None
        owner, bus = engine.hall.owner_of(ROOM), engine.hall.bus
        assert owner is not None
        server.stop()
        ids = [ann.send("turn") for _ in range(3)]
        await reach(lambda: owner.busy and not bus.is_connected, "it is decided, and can't be logged")
        with pytest.raises(EngineAway):
            await stack.engines.view(pb.ViewRequest(room=ROOM), timeout=0.3)
        assert not set(ids) & set(ann.answers), "nobody is told of what isn't durable"
        server.start()
        await ann.hear(lambda: ann.decided >= ids[-1])
        assert [id for id, _ in await stack.decided(ROOM)] == list(range(1, ann.last + 1))
    finally:
        await stack.end()


async def test_an_engine_waits_for_set_up_and_makes_no_stream_itself(new_nats: Callable[[], NatsServer]) -> None:
    from servicekit import bus
    from services.engine.app import Engine
    from services.engine.settings import EngineSettings, SetupSettings
    from services.engine.setup import set_up

    server = new_nats()
    engine = Engine(EngineSettings(nats_url=server.url, instance="early"))
    starting = asyncio.create_task(engine.start())
    nc = await bus.connect(server.url, "test")
    try:
        await reach(lambda: engine.hall is not None, "the engine is at its log")
        assert await engine.ready() is not None
        assert await nc.jetstream().streams_info() == []
        await set_up(SetupSettings(nats_url=server.url))
        await starting
        await reach(lambda: engine.hall is not None and len(engine.hall.owners()) == PARTITIONS, "all claimed")
    finally:
        starting.cancel()
        await engine.stop()
        await nc.close()
