"""The stream of commands in gRPC's own bytes, against grpc.aio's server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import rpc
from servicekit.command_stream import Broken, CommandStream


class Echo:
    """Says what it is told; a body `end` ends the call, `abort` breaks it off, after `deaf` it reads no more."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.over = asyncio.Event()

    async def commands(self, requests: AsyncIterator[pb.CommandsRequest], context: Any) -> Any:
        self.open.set()
        try:
            async for request in requests:
                body = request.commands[0].body
                if body == b"end":
                    return
                if body == b"deaf":
                    await asyncio.Event().wait()
                if body == b"abort":
                    await context.abort(grpc.StatusCode.INTERNAL, "broken off")
                yield pb.CommandsResponse(replies=[pb.Reply(id=c.id, body=c.body) for c in request.commands])
        finally:
            self.over.set()


@asynccontextmanager
async def echo() -> AsyncIterator[tuple[str, Echo, grpc.aio.Server]]:
    server, service = rpc.server(), Echo()
    handler = grpc.stream_stream_rpc_method_handler(
        service.commands, pb.CommandsRequest.FromString, pb.CommandsResponse.SerializeToString
    )
    methods = {"Commands": handler}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("snatch.engine.v1.EngineService", methods)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}", service, server
    finally:
        await server.stop(0)


def request(id: int, body: bytes) -> pb.CommandsRequest:
    return pb.CommandsRequest(commands=[pb.Command(id=id, body=body)])


async def test_messages_small_and_larger_than_every_window_come_whole_and_in_order() -> None:
    async with echo() as (address, _, _), asyncio.timeout(20):
        stream = CommandStream(address)
        bodies = [b"small", b"", bytes(70_000), b"x" * 3_000_000, *(b"%d" % n for n in range(500)), bytes(7_000_000)]

        async def write() -> None:
            for id, body in enumerate(bodies):
                await stream.write(request(id, body))

        writing = asyncio.create_task(write())
        came = []
        async for response in stream:
            came += [(reply.id, reply.body) for reply in response.replies]
            if len(came) == len(bodies):
                break
        await writing
        assert came == list(enumerate(bodies))
        stream.cancel()


@pytest.mark.parametrize("word", [b"end", b"abort"])
async def test_a_call_that_the_engine_ends_is_broken_for_who_reads_and_who_writes(word: bytes) -> None:
    async with echo() as (address, _, _), asyncio.timeout(10):
        stream = CommandStream(address)
        await stream.write(request(1, word))
        with pytest.raises(Broken, match="ended the call"):
            await anext(aiter(stream))
        with pytest.raises(Broken):
            await stream.write(request(2, b"late"))


async def test_an_engine_that_stops_ends_the_call() -> None:
    async with echo() as (address, service, server), asyncio.timeout(10):
        stream = CommandStream(address)
        await stream.write(request(1, b"here"))
        await service.open.wait()
        await server.stop(0)
        with pytest.raises(Broken):
            async for _ in stream:
                pass


async def test_who_cancels_ends_the_call_at_the_engine_too() -> None:
    async with echo() as (address, service, _), asyncio.timeout(10):
        stream = CommandStream(address)
        await stream.write(request(1, b"here"))
        await service.open.wait()
        stream.cancel()
        await service.over.wait()


async def test_where_nobody_listens_the_call_is_broken() -> None:
    async with echo() as (address, _, server):
        await server.stop(0)
        stream = CommandStream(address)
        with pytest.raises(Broken):
            await stream.write(request(1, b"nobody"))
        with pytest.raises(Broken):
            await anext(aiter(stream))


async def test_an_engine_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommandStream, "ping_every", 0.2)
    monkeypatch.setattr(CommandStream, "pong_within", 0.1)

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    async with server, asyncio.timeout(10):
        stream = CommandStream(f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await stream.write(request(1, b"anybody?"))
        with pytest.raises(Broken, match="no sign of life"):
            await anext(aiter(stream))


async def test_who_writes_more_than_the_engine_reads_waits_and_is_let_go_when_the_call_ends() -> None:
    async with echo() as (address, service, server), asyncio.timeout(10):
        stream = CommandStream(address)
        await stream.write(request(1, b"deaf"))
        await service.open.wait()

        async def write() -> None:
            for id in range(2, 1000):
                await stream.write(request(id, bytes(1_000_000)))

        writing = asyncio.create_task(write())
        done, _ = await asyncio.wait([writing], timeout=0.5)
        assert not done
        await server.stop(0)
        with pytest.raises(Broken):
            await writing


async def test_bytes_that_are_no_frames_break_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommandStream, "ping_every", 0.2)  # they may be the beginning of a long frame
    monkeypatch.setattr(CommandStream, "pong_within", 0.1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server, asyncio.timeout(10):
        stream = CommandStream(f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await stream.write(request(1, b"hello?"))
        with pytest.raises(Broken, match=r"no sign of life|no HTTP/2"):
            await anext(aiter(stream))
