"""The engine's port for commands alone: any gRPC can call it, and nobody harms another by it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceStub
from servicekit import rpc
from servicekit.command_stream import Broken, CommandStream
from servicekit.engine_link import EngineLink
from servicekit.pace import Pace
from services.engine import command_door
from services.engine.command_door import CommandDoor
from services.engine.replies import CommandReplies


def echo(command: pb.Command, replies: CommandReplies) -> None:
    replies.reply(pb.Reply(id=command.id, body=command.body))


@pytest.fixture
async def door() -> AsyncIterator[CommandDoor]:
    door = CommandDoor(echo)
    await door.start("127.0.0.1", 0)
    yield door
    await door.stop()


def request(id: int, body: bytes) -> pb.CommandsRequest:
    return pb.CommandsRequest(commands=[pb.Command(id=id, body=body)])


async def test_our_caller_is_heard_and_answered_whatever_the_size(door: CommandDoor) -> None:
    async with asyncio.timeout(20):
        stream = CommandStream(f"127.0.0.1:{door.port}")
        bodies = [b"small", b"", bytes(70_000), b"x" * 3_000_000, *(b"%d" % n for n in range(500)), bytes(7_000_000)]

        async def write() -> None:
            for id, body in enumerate(bodies):
                await stream.write(request(id, body))

        writing = asyncio.create_task(write())
        came: list[tuple[int, bytes]] = []
        async for response in stream:
            came += [(reply.id, reply.body) for reply in response.replies]
            if len(came) == len(bodies):
                break
        await writing
        assert came == list(enumerate(bodies))
        stream.cancel()


async def test_grpc_s_own_caller_is_heard_and_answered_and_told_of_the_end(door: CommandDoor) -> None:
    async with asyncio.timeout(20), rpc.channel(f"127.0.0.1:{door.port}") as channel:
        call = EngineServiceStub(channel).Commands()
        for id in range(100):
            await call.write(request(id, bytes(100 * id)))
        heard: list[int] = []
        while len(heard) < 100:
            response = await call.read()
            assert isinstance(response, pb.CommandsResponse)
            heard += [len(reply.body) for reply in response.replies]
        assert heard == [100 * id for id in range(100)]
        await door.stop()
        assert await call.read() is grpc.aio.EOF
        assert await call.code() is grpc.StatusCode.OK


async def test_a_batch_counts_as_many_as_it_holds_for_the_pace(
    door: CommandDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    pace = Pace()
    monkeypatch.setattr(pace, "heard", counted.append)
    monkeypatch.setattr(command_door, "pace", pace)
    async with asyncio.timeout(10):
        stream = CommandStream(f"127.0.0.1:{door.port}")
        await stream.write(pb.CommandsRequest(commands=[pb.Command(id=id) for id in range(30)]))
        await anext(aiter(stream))
        stream.cancel()
    assert counted == [30]


async def test_bytes_that_are_no_message_end_the_call_with_bad_message(door: CommandDoor) -> None:
    async with asyncio.timeout(10), rpc.channel(f"127.0.0.1:{door.port}") as channel:
        call: Any = channel.stream_stream("/snatch.engine.v1.EngineService/Commands")()
        await call.write(b"\xff\xff\xff")
        assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    "said", [b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 64, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 9]
)
async def test_who_speaks_no_http2_is_cut_off_and_others_go_on(door: CommandDoor, said: bytes) -> None:
    async with asyncio.timeout(10):
        stream = CommandStream(f"127.0.0.1:{door.port}")
        await stream.write(request(1, b"here"))
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(said)
        await reader.read()
        writer.close()
        await stream.write(request(2, b"still here"))
        ids = [reply.id async for response in first(stream, 2) for reply in response.replies]
        assert ids == [1, 2]
        stream.cancel()


async def first(stream: CommandStream, replies: int) -> AsyncIterator[pb.CommandsResponse]:
    async for response in stream:
        yield response
        replies -= len(response.replies)
        if replies <= 0:
            return


async def test_of_a_caller_that_doesn_t_read_its_replies_no_more_is_read_until_it_does(
    door: CommandDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_door, "MAX_REPLIES", 100)
    async with asyncio.timeout(20):
        stream = CommandStream(f"127.0.0.1:{door.port}")
        await stream.write(request(0, b""))
        ids = [reply.id async for response in first(stream, 1) for reply in response.replies]
        stream.hold()
        sent = 1

        async def write() -> None:
            nonlocal sent
            while sent < 5000:
                await stream.write(request(sent, bytes(20_000)))
                sent += 1

        writing = asyncio.create_task(write())
        await asyncio.wait({writing}, timeout=1.0)
        assert not writing.done()
        stream.release()
        ids += [reply.id async for response in first(stream, 4999) for reply in response.replies]
        await writing
        assert ids == list(range(5000))
        stream.cancel()


async def test_a_link_finds_the_port_for_commands_and_does_without_it_where_it_can_t_be_reached() -> None:
    where = {"port": 0}
    served: list[str] = []
    replied: asyncio.Queue[pb.Reply] = asyncio.Queue()

    def told(which: str) -> command_door.Take:
        def take(command: pb.Command, replies: CommandReplies) -> None:
            served.append(which)
            replies.reply(pb.Reply(id=command.id))

        return take

    async def commands_at(_: pb.CommandsAtRequest, __: object) -> pb.CommandsAtResponse:
        return pb.CommandsAtResponse(port=where["port"])

    async def commands(requests: AsyncIterator[pb.CommandsRequest], _: object) -> AsyncIterator[pb.CommandsResponse]:
        async for asked in requests:
            served.append("gRPC port")
            yield pb.CommandsResponse(replies=[pb.Reply(id=c.id) for c in asked.commands])

    server = rpc.server()
    methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        "CommandsAt": grpc.unary_unary_rpc_method_handler(
            commands_at, pb.CommandsAtRequest.FromString, pb.CommandsAtResponse.SerializeToString
        ),
        "Commands": grpc.stream_stream_rpc_method_handler(
            commands, pb.CommandsRequest.FromString, pb.CommandsResponse.SerializeToString
        ),
    }
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("snatch.engine.v1.EngineService", methods)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    door = CommandDoor(told("own port"))
    await door.start("127.0.0.1", 0)
    where["port"] = door.port
    broke = asyncio.Event()
    link = EngineLink(f"127.0.0.1:{port}", lambda _, reply: replied.put_nowait(reply), lambda _: broke.set())
    async with asyncio.timeout(10):
        link.send(pb.Command(id=1))
        assert (await replied.get()).id == 1
        await door.stop()  # and its port is told of all the same
        await broke.wait()
        for id in (2, 3):
            broke.clear()
            link.send(pb.Command(id=id))
            if id == 2:
                await broke.wait()
        assert (await replied.get()).id == 3
        assert served == ["own port", "gRPC port"]
        await link.close()
        await server.stop(0)


async def test_a_door_that_closes_ends_its_calls(door: CommandDoor) -> None:
    async with asyncio.timeout(10):
        stream = CommandStream(f"127.0.0.1:{door.port}")
        await stream.write(request(1, b""))
        await anext(aiter(stream))
        await door.stop()
        with pytest.raises(Broken):
            async for _ in stream:
                pass
