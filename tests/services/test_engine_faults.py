"""What an engine does when its surroundings are not as they must be."""

from __future__ import annotations

import asyncio

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.engines import EngineRefusal
from services.engine import owner as owner_module
from services.engine.app import Engine
from services.engine.board import KV_STREAM, LAYOUT_KEY, OtherLayout
from services.engine.owner import Owner
from services.engine.partition import Phase
from services.engine.settings import EngineSettings, SetupSettings
from services.engine.setup import set_up
from tests.services.engine_stack import EngineStack, seated
from tests.waiting import reach
from wire import subjects
from wire.places import PARTITIONS, partition_of

ROOM, OTHER = "BCDFG", "CCCCC"


def owner_of(engine: Engine, room: str) -> Owner:
    assert engine.hall is not None
    owner = engine.hall.owner_of(room)
    assert owner is not None
    return owner


async def test_a_log_that_lost_its_end_halts_the_partition_and_no_other(stack: EngineStack) -> None:
    engine = await stack.start("one")
    ann, bo = await seated(stack, ROOM), await seated(stack, OTHER)
    owner = owner_of(engine, ROOM)
    await stack.nc.jetstream().purge_stream(subjects.LOG_STREAM, subject=subjects.log(partition_of(ROOM)))
    ann.send("options", options={"length": "to25"})
    await reach(lambda: owner.partition.phase is Phase.HALTED, "halted")
    assert engine.registry.get_sample_value("snatch_engine_halted_total") == 1
    assert ann.answers == {}
    assert engine.hall is not None
    assert "1 of 64 partitions are halted" in (engine.hall.missing() or "")
    assert await bo.move("options", options={"length": "to25"}) is None


async def test_a_log_whose_middle_is_gone_is_never_replayed_with_a_gap(stack: EngineStack) -> None:
    engine = await stack.start("one")
    ann = await seated(stack, ROOM)
    for length in ("to25", "to50", "one"):
        await ann.move("options", options={"length": length})
    last = owner_of(engine, ROOM).ledger.last
    await stack.stop("one")
    js = stack.nc.jetstream()
    await js.purge_stream(subjects.LOG_STREAM, subject=subjects.log(partition_of(ROOM)), seq=last)
    two = await stack.start("two")
    await reach(lambda: two.hall is not None and len(two.hall.owners()) == PARTITIONS - 1, "all but one")
    assert two.registry.get_sample_value("snatch_engine_halted_total") == 1


async def test_the_older_of_two_processes_with_one_name_serves_no_more(stack: EngineStack) -> None:
    old = await stack.start("twin")
    new = Engine(EngineSettings(nats_url=stack.url, instance="twin"))
    try:
        await new.start()
        await reach(lambda: old.hall is not None and old.hall.resigned, "the older one resigns")
        await reach(lambda: old.hall is not None and old.hall.owners() == [], "and gives all up")
        await reach(lambda: new.hall is not None and len(new.hall.owners()) == PARTITIONS, "the newer one serves")
        assert old.hall is not None
        assert "name" in (old.hall.missing() or "")
    finally:
        await new.stop()


async def test_a_view_of_an_owner_that_has_proved_nothing_for_long_waits_for_a_record(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await stack.start("one")
    await seated(stack, ROOM)
    records = len(await stack.log(ROOM))
    await stack.engines.view(pb.ViewRequest(room=ROOM))
    assert len(await stack.log(ROOM)) == records
    monkeypatch.setattr(owner_module, "PROOF_S", -1.0)
    await stack.engines.view(pb.ViewRequest(room=ROOM))
    assert len(await stack.log(ROOM)) == records + 1
    assert owner_of(engine, ROOM).open


async def test_a_no_of_an_owner_that_has_proved_nothing_for_long_waits_for_a_record_too(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else one that slept through a table's opening elsewhere would call it lost, or a socket's end settled."""
    await stack.start("one")
    ann = await seated(stack, ROOM)
    records = len(await stack.log(ROOM))
    monkeypatch.setattr(owner_module, "PROOF_S", -1.0)
    with pytest.raises(EngineRefusal, match="no_table"):
        await stack.engines.view(pb.ViewRequest(room=ROOM, table="another"))
    assert len(await stack.log(ROOM)) == records + 1
    id = ann.send("options", options={"length": "to25"})
    (command,) = ann.outstanding()
    await ann.hear(lambda: id in ann.answers)
    stack.engines.send(ann, command)
    await ann.hear(lambda: [reply.kind for reply in ann.replies] == [pb.REPLY_KIND_ANSWERED])
    assert len(await stack.log(ROOM)) == records + 3


async def test_a_lease_that_lapsed_proves_nothing_for_what_was_open_before(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_module, "PROOF_S", 20.0)
    engine = await stack.start("one")
    await seated(stack, ROOM)
    assert engine.hall is not None
    owner, keeper = owner_of(engine, ROOM), engine.hall.keeper
    now = asyncio.get_running_loop().time()
    owner.proved_at, keeper.lapsed_at = now - 50, now - 100
    records = len(await stack.log(ROOM))
    await stack.engines.view(pb.ViewRequest(room=ROOM))
    assert len(await stack.log(ROOM)) == records, "the lease proves it"
    keeper.lapsed_at = now
    await stack.engines.view(pb.ViewRequest(room=ROOM))
    assert len(await stack.log(ROOM)) == records + 1


async def test_a_record_too_big_to_append_halts_rather_than_hangs(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await stack.start("one")
    ann = await seated(stack, ROOM)
    owner = owner_of(engine, ROOM)
    monkeypatch.setattr(owner_module, "MAX_RECORD", 10)
    ann.send("options", options={"length": "to25"})
    await reach(lambda: owner.partition.phase is Phase.HALTED, "halted")
    assert "bytes" in owner.partition.why


async def test_a_fault_of_the_engine_s_own_drops_the_partition_and_it_comes_back_from_the_log(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await stack.start("one")
    ann = await seated(stack, ROOM)
    await ann.move("options", options={"length": "to25"})
    before, owner = stack.state(ROOM), owner_of(engine, ROOM)

    def broken(*_: object) -> None:
        monkeypatch.undo()
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(owner.ledger, "committed", broken)
    ann.send("options", options={"length": "to50"})
    await reach(lambda: stack.serving(ROOM) is not None and owner_of(engine, ROOM) is not owner, "claimed again")
    await ann.hear(lambda: ann.decided == 2)
    assert stack.state(ROOM) != before
    assert [id for id, _ in await stack.decided(ROOM)] == [1, 2]


async def test_set_up_again_changes_sizes_only_and_refuses_another_layout(stack: EngineStack) -> None:
    js = stack.nc.jetstream()
    await set_up(SetupSettings(nats_url=stack.url, log_max_bytes=64 * 1024**2))
    config = (await js.stream_info(subjects.LOG_STREAM)).config
    assert (config.max_bytes, config.deny_delete, config.allow_direct) == (64 * 1024**2, True, True)
    assert (config.max_age or 0, config.discard) == (0, "new")
    republish = (await js.stream_info(KV_STREAM)).config.republish
    assert republish is not None
    assert republish.dest == subjects.OWN_REPUBLISH
    kv = await js.key_value(subjects.OWN_BUCKET)
    await kv.put(LAYOUT_KEY, b'{"partitions":32,"hash":"crc32-32"}')
    with pytest.raises(OtherLayout):
        await set_up(SetupSettings(nats_url=stack.url))
    engine = Engine(EngineSettings(nats_url=stack.url, instance="one"))
    with pytest.raises(OtherLayout):
        await engine.start()
    await engine.stop()
