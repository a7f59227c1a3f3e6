"""The engine's gRPC door: hostile input gets a clear answer, and the room goes on unharmed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from nats.aio.msg import Msg

from generated.snatch.engine.v1 import engine_pb2 as pb
from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceStub
from servicekit import rpc
from services.engine import callers
from tests.servers import NatsServer
from tests.services.engine_stack import Driver, EngineStack, bots_table
from tests.waiting import reach
from wire import subjects
from wire.places import PARTITIONS

if TYPE_CHECKING:
    from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceAsyncStub

ROOM = "BCDFG"
METHODS: list[Any] = list(pb.DESCRIPTOR.services_by_name["EngineService"].methods)
NO_MESSAGE = b"\xff\xff\xff"


@pytest.fixture
async def stack(new_nats: Callable[[], NatsServer]) -> AsyncIterator[EngineStack]:
    stack = await EngineStack(new_nats().url).begin()
    engine = await stack.start("one")
    await reach(lambda: engine.hall is not None and len(engine.hall.owners()) == PARTITIONS, "all claimed")
    yield stack
    await stack.end()


@pytest.fixture
async def stub(stack: EngineStack) -> AsyncIterator[EngineServiceAsyncStub]:
    channel = rpc.channel(f"127.0.0.1:{stack.running['one'].port}")
    stub: EngineServiceAsyncStub = EngineServiceStub(channel)
    yield stub
    await channel.close()


@pytest.fixture
async def ann(stack: EngineStack) -> Driver:
    await stack.engines.open_table(bots_table(ROOM))
    ann = Driver(stack, ROOM, "p0")
    await ann.attach()
    return ann


async def unharmed(ann: Driver) -> None:
    """The room still plays."""
    assert await ann.move("options", options={"length": "to25"}) is None


def move(ann: Driver, body: bytes, id: int = 1, **more: int) -> pb.Command:
    kind = pb.COMMAND_KIND_MOVE
    fields: dict[str, Any] = {"seat": ann.seat, "session": ann.session, "id": id, "body": body, "kind": kind}
    return pb.Command(room=ROOM, **(fields | more))


async def listen(stack: EngineStack, subject: str) -> asyncio.Queue[dict[str, Any]]:
    """What is said on a subject from now on."""
    said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def hear(message: Msg) -> None:
        await said.put(json.loads(message.data))

    await stack.nc.subscribe(subject, cb=hear)
    await stack.nc.flush()
    return said


OPEN = bots_table(ROOM)


@pytest.mark.parametrize(
    ("field", "value", "detail"),
    [
        ("room", "", "room"),
        ("room", "bcdfg", "room"),
        ("room", "f.>", "room"),
        ("room", "AEIOU", "room"),
        ("table", "", "table"),
        ("table", "x" * 65, "table"),
        ("game", "poker", "unknown game"),
        ("host", "nobody", "host"),
        ("host", "bot", "host"),
    ],
)
async def test_a_table_that_can_t_be_is_not_opened(
    stub: EngineServiceAsyncStub, field: str, value: str, detail: str
) -> None:
    request = bots_table(ROOM)
    setattr(request, field, value)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stub.Open(request)
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, detail)
    assert (await stub.Tables(pb.TablesRequest())).tables == []


@pytest.mark.parametrize(
    ("members", "detail"),
    [
        ([], "members"),
        ([pb.OpenMember(player="p0", name="A")] * 2, "a player twice"),
        ([pb.OpenMember(player="p0", name="A", bot="genius")], "bot level"),
        ([pb.OpenMember(player="p0", name=" \x00 ")], "name"),
        ([pb.OpenMember(player=f"p{i}", name="A") for i in range(65)], "members"),
        ([pb.OpenMember(player=f"p{i}", name="A", bot="easy") for i in range(4)], "bots_full"),
    ],
)
async def test_members_are_held_to_what_a_table_takes(
    stub: EngineServiceAsyncStub, members: list[pb.OpenMember], detail: str
) -> None:
    request = pb.OpenRequest(room=ROOM, table="t1", game="snatch_solitaire", host="p0", members=members)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stub.Open(request)
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, detail)


async def test_calls_about_tables_that_are_not_there_say_so(stub: EngineServiceAsyncStub, ann: Driver) -> None:
    for call in (
        stub.View(pb.ViewRequest(room="ZZZZZ")),
        stub.View(pb.ViewRequest(room="\x00 > *")),
        stub.View(pb.ViewRequest(room=ROOM, table="another")),
        stub.Attach(pb.AttachRequest(room="ZZZZZ", player="p0", tab=1)),
        stub.Attach(pb.AttachRequest(room=ROOM, table="another", player="p0", tab=1)),
        stub.Close(pb.CloseRequest(room="ZZZZZ")),
        stub.Close(pb.CloseRequest(room=ROOM, table="another")),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await call
        assert (error.value.code(), error.value.details()) == (grpc.StatusCode.NOT_FOUND, "no_table")
    await unharmed(ann)


async def test_a_view_with_an_old_session_is_taken_over_and_of_no_seat_refused(
    stub: EngineServiceAsyncStub, ann: Driver
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stub.View(pb.ViewRequest(room=ROOM, seat=0, session=ann.session + 1))
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.FAILED_PRECONDITION, "taken_over")
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stub.View(pb.ViewRequest(room=ROOM, seat=4_000_000_000, session=1))
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    "request_",
    [
        pb.AttachRequest(room=ROOM, player="", name="A", tab=1),
        pb.AttachRequest(room=ROOM, player="x" * 65, name="A", tab=1),
        pb.AttachRequest(room=ROOM, player="new", name="", tab=1),
        pb.AttachRequest(room=ROOM, player="bot", tab=1),
        pb.AttachRequest(room=ROOM, player="p0", tab=1, worker="w"),
        pb.AttachRequest(room=ROOM, player="nobody", name="A", tab=1, worker="w"),
    ],
)
async def test_an_attach_that_can_t_be_changes_nothing(
    stub: EngineServiceAsyncStub, stack: EngineStack, ann: Driver, request_: pb.AttachRequest
) -> None:
    before = stack.state(ROOM)
    with pytest.raises(grpc.aio.AioRpcError):
        await stub.Attach(request_)
    assert stack.state(ROOM) == before


async def test_a_table_that_is_full_of_members_takes_no_more(stub: EngineServiceAsyncStub, ann: Driver) -> None:
    for n in range(62):
        await stub.Attach(pb.AttachRequest(room=ROOM, player=f"w{n}", name=f"W{n}", tab=1))
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stub.Attach(pb.AttachRequest(room=ROOM, player="one-more", name="One", tab=1))
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "full")
    await unharmed(ann)


async def test_garbage_on_the_command_stream_is_answered_and_harms_nothing(stack: EngineStack, ann: Driver) -> None:
    good = json.dumps({"t": "move", "id": 1, "basis": 0, "m": {"t": "turn"}}).encode()
    commands = [
        move(ann, b"\xff\x00garbage"),
        move(ann, b"[" * 100_000),
        move(ann, b'{"t":"move","id":1,"basis":0,"m":{"t":"cheat"}}'),
        move(ann, good, id=0),
        move(ann, good, kind=0),
        move(ann, good, kind=77),
        move(ann, good, id=4_000_000_000),
        move(ann, good, seat=4_000_000_000),
        move(ann, good, session=ann.session + 9),
        pb.Command(room="ZZZZZ", kind=pb.COMMAND_KIND_MOVE, id=1, body=good),
        pb.Command(room="\x00.>*" * 1000, kind=pb.COMMAND_KIND_MOVE, id=1, body=good),
        pb.Command(),
    ]
    replies = await stack.raw(ROOM, *commands[:-1])
    kinds = [r.kind for r in replies]
    assert kinds.count(pb.REPLY_KIND_BAD) == 6
    assert kinds.count(pb.REPLY_KIND_EXPECT) == 1
    assert kinds.count(pb.REPLY_KIND_NO_TABLE) == 4
    await unharmed(ann)


async def test_another_s_session_can_t_be_closed_by_a_stranger(stack: EngineStack, ann: Driver) -> None:
    strangers = [
        pb.Command(room=ROOM, seat=0, session=ann.session + by, kind=pb.COMMAND_KIND_DETACH) for by in (-1, 1, 100)
    ]
    before = stack.state(ROOM)
    await stack.raw(ROOM, *strangers, move(ann, b""), count=1)
    assert stack.state(ROOM) == before


async def test_a_huge_batch_is_taken_in_order_and_the_room_s_neighbours_are_served(
    stack: EngineStack, ann: Driver
) -> None:
    await stack.engines.open_table(bots_table("CCCCC"))
    neighbour = Driver(stack, "CCCCC", "p0")
    await neighbour.attach()
    body = b'{"t":"move","id":%d,"basis":0,"m":{"t":"turn"}}'
    flood = [move(ann, body % id, id=id) for id in range(1, 8_001)]
    channel = rpc.channel(f"127.0.0.1:{stack.running['one'].port}")
    stub: EngineServiceAsyncStub = EngineServiceStub(channel)
    call = stub.Commands()
    await call.write(pb.CommandsRequest(commands=flood))
    assert await neighbour.move("options", options={"length": "to50"}) is None
    await ann.hear(lambda: ann.decided == 8_000)
    assert set(ann.answers.values()) == {"not_live"}
    call.cancel()
    await channel.close()


async def test_a_message_beyond_the_size_limit_breaks_its_stream_and_nothing_else(
    stack: EngineStack, ann: Driver
) -> None:
    channel = grpc.aio.insecure_channel(
        f"127.0.0.1:{stack.running['one'].port}", options=[("grpc.max_send_message_length", -1)]
    )
    stub: EngineServiceAsyncStub = EngineServiceStub(channel)
    call = stub.Commands()
    await call.write(pb.CommandsRequest(commands=[move(ann, b"x" * (rpc.MAX_MESSAGE + 1))]))
    with pytest.raises(grpc.aio.AioRpcError):
        async for _ in call:
            pass
    await channel.close()
    await unharmed(ann)


async def test_bytes_that_are_no_protobuf_are_refused(stack: EngineStack, ann: Driver) -> None:
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{stack.running['one'].port}")
    for method in ("Open", "Attach", "View", "Close"):
        call: Any = channel.unary_unary(f"/snatch.engine.v1.EngineService/{method}")
        with pytest.raises(grpc.aio.AioRpcError):
            await call(b"\xff\xff\xff\xff")
    await channel.close()
    await unharmed(ann)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
async def test_bytes_that_are_no_message_are_refused_without_a_trace_in_the_log(
    stack: EngineStack, method: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with rpc.channel(f"127.0.0.1:{stack.running['one'].port}") as channel:
        path = f"/{method.containing_service.full_name}/{method.name}"
        call: Any
        if method.client_streaming:
            call = channel.stream_stream(path)()
            await call.write(b"")
            await call.write(NO_MESSAGE)
            answer = call.read()
        else:
            call = channel.unary_unary(path)
            answer = call(NO_MESSAGE)
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await answer
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, "bad_message")
    assert [r for r in caplog.records if r.levelname in ("ERROR", "WARNING")] == []


async def test_commands_before_one_that_is_no_message_are_answered_first(stack: EngineStack, ann: Driver) -> None:
    first = pb.CommandsRequest(commands=[move(ann, b"{}", id=9)]).SerializeToString()
    async with rpc.channel(f"127.0.0.1:{stack.running['one'].port}") as channel:
        call: Any = channel.stream_stream("/snatch.engine.v1.EngineService/Commands")()
        await call.write(first)
        [reply] = pb.CommandsResponse.FromString(await call.read()).replies
        await call.write(NO_MESSAGE)
        with pytest.raises(grpc.aio.AioRpcError, match="bad_message"):
            await call.read()
    assert (reply.kind, reply.id) == (pb.REPLY_KIND_EXPECT, 1)
    await unharmed(ann)


async def test_a_bot_seat_is_offered_until_a_worker_takes_it_and_again_when_that_is_gone(
    stack: EngineStack, stub: EngineServiceAsyncStub
) -> None:
    wanted = await listen(stack, subjects.BOTS_WANTED)
    await stub.Open(bots_table(ROOM))
    async with asyncio.timeout(10):
        offer = await wanted.get()
        assert {k: offer[k] for k in ("room", "table", "seat", "player", "level", "game")} == {
            "room": ROOM,
            "table": "t1",
            "seat": 1,
            "player": "bot",
            "level": "easy",
            "game": "snatch_solitaire",
        }
        assert (await wanted.get())["seat"] == 1
        await stack.nc.publish(subjects.BOTS_BEAT, b'{"worker":"w1","gone":false}')
        answer = await stub.Attach(pb.AttachRequest(room=ROOM, table="t1", player="bot", tab=1, worker="w1"))
        assert answer.seat == 1
        while not wanted.empty():
            wanted.get_nowait()
        await stack.nc.publish(subjects.BOTS_BEAT, b'{"worker":"w1","gone":true}')
        await wanted.get()
        again = await stub.Attach(pb.AttachRequest(room=ROOM, table="t1", player="bot", tab=2, worker="w2"))
        assert again.session == answer.session + 1


async def test_a_silent_worker_s_seat_is_offered_again(stack: EngineStack, stub: EngineServiceAsyncStub) -> None:
    await stub.Open(bots_table(ROOM))
    await stack.nc.publish(subjects.BOTS_BEAT, b'{"worker":"w1"}')
    await stub.Attach(pb.AttachRequest(room=ROOM, table="t1", player="bot", tab=1, worker="w1"))
    offers = await listen(stack, subjects.BOTS_WANTED)
    async with asyncio.timeout(10):
        await offers.get()


async def test_while_a_worker_is_silent_its_seats_are_offered_to_one_that_is_heard_by_name(
    stack: EngineStack, stub: EngineServiceAsyncStub
) -> None:
    await stub.Open(bots_table(ROOM))
    await stack.nc.publish(subjects.BOTS_BEAT, b'{"worker":"stopped"}')
    await stub.Attach(pb.AttachRequest(room=ROOM, table="t1", player="bot", tab=1, worker="stopped"))
    by_name = await listen(stack, subjects.bots_wanted_of("a.live one"))
    by_queue = await listen(stack, subjects.BOTS_WANTED)
    async with asyncio.timeout(10):
        while by_name.empty() or by_queue.empty():  # either may be deaf: they take turns
            await stack.nc.publish(subjects.BOTS_BEAT, b'{"worker":"a.live one"}')
            await asyncio.sleep(0.1)
    assert by_name.get_nowait()["seat"] == 1


async def test_players_of_a_gateway_that_is_silent_are_detached(
    stack: EngineStack, stub: EngineServiceAsyncStub, ann: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers, "SILENT", 0.6)
    request = pb.AttachRequest(room=ROOM, table="t1", player="p9", name="Bo", tab=1)
    await stub.Attach(request, metadata=((rpc.CALLER, "a-gateway-that-is-killed"),))
    await ann.hear(lambda: {"t": "presence", "seat": 2, "present": False} in ann.events)
    await stub.Attach(request, metadata=((rpc.CALLER, "another"),))
    for _ in range(10):
        await stack.nc.publish(subjects.CALLERS_BEAT, b'{"caller":"another"}')
        await asyncio.sleep(0.1)
    seen = [e for e in ann.events if e["t"] == "presence" and e["seat"] == 2]
    assert [e["present"] for e in seen] == [True, False, True]


async def test_closing_by_call_tells_the_table_and_rooms(stack: EngineStack, ann: Driver) -> None:
    news = await listen(stack, subjects.TABLE_NEWS)
    await stack.engines.close_table(pb.CloseRequest(room=ROOM, table="t1", why="expired"))
    await ann.event("closed")
    async with asyncio.timeout(10):
        told = await news.get()
    closed = {"room": ROOM, "table": "t1", "what": "closed", "player": "p0", "why": "expired"}
    assert told == {**closed, "bots": {"bot": "easy"}}
    assert await stack.engines.listing() == ([], True)
