"""Queues that fill: who sends too much waits alone, and nothing grows for whoever doesn't listen."""

from __future__ import annotations

import asyncio
import json

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceStub
from servicekit import rpc
from services.engine import owner as owner_module
from services.engine import replies as replies_module
from services.engine import service
from services.engine.owner import Owner
from services.engine.replies import CommandReplies
from tests.services.engine_stack import EngineStack, seated
from tests.waiting import reach

ROOM, OTHER = "BCDFG", "CCCCC"


def owner_of(stack: EngineStack, room: str) -> Owner:
    found = stack.serving(room)
    assert found is not None
    assert found[1].hall is not None
    owner = found[1].hall.owner_of(room)
    assert owner is not None
    return owner


async def test_a_partition_that_can_t_keep_up_holds_up_no_other_on_the_same_stream(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await stack.start("one")
    ann, bo = await seated(stack, ROOM), await seated(stack, OTHER)
    assert engine.hall is not None
    log, stuck, let_go = engine.hall.log, owner_of(stack, ROOM).number, asyncio.Event()
    append = log.append

    async def slow(partition, slot):  # type: ignore[no-untyped-def]
        if partition.number == stuck:
            await let_go.wait()
        return await append(partition, slot)

    monkeypatch.setattr(log, "append", slow)
    monkeypatch.setattr(owner_module, "MAX_QUEUED", 10)
    for at in range(40):
        ann.send("options", options={"length": ("to25", "to50")[at % 2]})
    assert await bo.move("options", options={"length": "to25"}) is None
    await reach(lambda: stack.engines.counts.busy > 0, "some are told to come again")
    assert owner_of(stack, ROOM).depth <= 10
    let_go.set()
    await ann.hear(lambda: ann.decided == ann.last)
    assert [id for id, _ in await stack.decided(ROOM)] == list(range(1, 41))


async def test_a_call_to_a_partition_that_is_full_waits_its_turn(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stack.start("one")
    await seated(stack, ROOM)
    monkeypatch.setattr(owner_module, "MAX_QUEUED", 0)
    viewing = asyncio.create_task(stack.engines.view(pb.ViewRequest(room=ROOM)))
    await asyncio.wait({viewing}, timeout=0.2)
    assert not viewing.done()
    monkeypatch.undo()
    await viewing


async def test_of_a_caller_that_doesn_t_read_its_replies_no_more_is_read_until_it_does(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies_module, "MAX_REPLIES", 200)
    streams: list[CommandReplies] = []

    class Kept(CommandReplies):
        def __init__(self) -> None:
            super().__init__()
            streams.append(self)

    engine = await stack.start("one")
    ann = await seated(stack, ROOM)
    monkeypatch.setattr(service, "CommandReplies", Kept)
    channel = rpc.channel(f"127.0.0.1:{engine.port}")
    call = EngineServiceStub(channel).Commands()
    bad = [pb.Command(room=ROOM, session=ann.session, id=i, kind=pb.COMMAND_KIND_MOVE, body=b"\xff") for i in range(50)]
    sent = 0
    while True:
        writing = asyncio.ensure_future(call.write(pb.CommandsRequest(commands=bad)))
        sent += len(bad)
        await asyncio.wait({writing}, timeout=0.5)
        assert not streams or streams[0].waiting <= 200 + len(bad)
        if not writing.done():
            break
    assert sent > 500
    assert await ann.move("options", options={"length": "to25"}) is None
    heard = 0
    async for response in call:
        heard += len(response.replies)
        if heard >= sent:
            break
    call.cancel()
    await channel.close()


async def test_replies_of_a_caller_that_reads_are_all_told(stack: EngineStack) -> None:
    await stack.start("one")
    ann = await seated(stack, ROOM)
    await ann.move("options", options={"length": "to25"})
    again = pb.Command(room=ROOM, seat=0, session=ann.session, id=1, kind=pb.COMMAND_KIND_MOVE)
    replies = await stack.raw(ROOM, *[again] * 300)
    assert {json.loads(reply.body)["id"] for reply in replies} == {1}
