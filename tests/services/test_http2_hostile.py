"""The bytes of one gRPC call from an end that breaks the rules, or never reads: it is cut off, and costs little."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import http2_call
from servicekit.command_stream import Broken, CommandStream
from services.engine import command_door
from services.engine.command_door import CommandDoor
from services.engine.replies import CommandReplies

DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
ACK, END_HEADERS, PADDED = 0x1, 0x4, 0x8
INITIAL_WINDOW, MAX_FRAME = 4, 5
HEAD = (
    b"\x83\x86\x04\x28/snatch.engine.v1.EngineService/Commands\x01\x04here"
    b"\x00\x02te\x08trailers\x0f\x10\x10application/grpc"
)
"""The header block of the call, by HPACK's static table (RFC 7541)."""


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b"")
CALL = frame(HEADERS, END_HEADERS, 1, HEAD)
BEGIN = PREFACE + CALL


def echo(command: pb.Command, replies: CommandReplies) -> None:
    replies.reply(pb.Reply(id=command.id, body=command.body))


def data(body: bytes, flags: int = 0) -> bytes:
    return frame(DATA, flags, 1, body)


def message(id: int, body: bytes = b"") -> bytes:
    said = pb.CommandsRequest(commands=[pb.Command(id=id, body=body)]).SerializeToString()
    return struct.pack(">BI", 0, len(said)) + said


@asynccontextmanager
async def caller(*said: bytes) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    door = CommandDoor(echo)
    await door.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port, limit=1 << 12)
    cast(socket.socket, writer.get_extra_info("socket")).setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    writer.write(b"".join(said))
    try:
        async with asyncio.timeout(20):
            yield reader, writer
    finally:
        writer.close()
        await door.stop()


async def frames(reader: asyncio.StreamReader) -> list[tuple[int, int, int, bytes]]:
    """Kind, flags, stream and payload of each, to the end of the connection."""
    found = []
    try:
        while True:
            start = await reader.readexactly(9)
            payload = await reader.readexactly(int.from_bytes(start[:3], "big"))
            found.append((start[3], start[4], int.from_bytes(start[5:], "big"), payload))
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return found


async def cut_off(writer: asyncio.StreamWriter, said: bytes) -> None:
    """Say it again and again until nobody hears it any more."""
    with contextlib.suppress(ConnectionError):
        while True:
            writer.write(said)
            await writer.drain()
            await asyncio.sleep(0)


BROKEN = {
    "padding longer than its frame": data(b"\xff" + message(1), PADDED),
    "padding without a length": data(b"", PADDED),
    "no room for a frame": frame(SETTINGS, 0, 0, struct.pack(">HI", MAX_FRAME, 0)),
    "a window beyond all bounds": frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, 1 << 31)),
    "a window that overflows": frame(WINDOW_UPDATE, 0, 1, b"\x7f\xff\xff\xff") * 2,
    "a compressed message": data(b"\x01\x00\x00\x00\x00"),
    "a message of 4 GB": data(b"\x00\xff\xff\xff\xff"),
    "a frame of 32 KB": data(bytes(32768)),
    "a second beginning": CALL,
}


@pytest.mark.parametrize("why", BROKEN)
async def test_who_breaks_the_rules_is_cut_off_and_its_commands_behind_that_are_not_taken(why: str) -> None:
    async with caller(BEGIN, BROKEN[why], data(message(7))) as (reader, _):
        assert not [payload for kind, _, _, payload in await frames(reader) if kind == DATA]


async def test_a_message_before_the_call_has_begun_is_none() -> None:
    async with caller(PREFACE, data(message(7)), CALL) as (reader, _):
        assert not [payload for kind, _, _, payload in await frames(reader) if kind == DATA]


async def test_padding_and_continued_headers_are_read_over() -> None:
    begin = frame(HEADERS, 0, 1, HEAD[:9]) + frame(CONTINUATION, END_HEADERS, 1, HEAD[9:])
    said = message(7, b"padded")
    padded = data(b"\x03" + said[:4] + bytes(3), PADDED) + data(b"") + data(b"\x00" + said[4:], PADDED)
    end = frame(RST_STREAM, 0, 1, bytes(4))
    async with caller(PREFACE, begin, padded) as (reader, writer):
        while (start := await reader.readexactly(9))[3] != DATA:
            await reader.readexactly(int.from_bytes(start[:3], "big"))
        body = await reader.readexactly(int.from_bytes(start[:3], "big"))
        assert pb.CommandsResponse.FromString(body[5:]).replies[0].body == b"padded"
        writer.write(end)
        assert await frames(reader) == []


async def test_a_second_call_on_the_connection_is_refused_and_the_first_goes_on() -> None:
    other = frame(HEADERS, END_HEADERS, 3, HEAD)
    end = frame(RST_STREAM, 0, 1, bytes(4))
    async with caller(BEGIN, other, data(message(7))) as (reader, writer):
        refused = b""
        while (start := await reader.readexactly(9))[3] != DATA:
            payload = await reader.readexactly(int.from_bytes(start[:3], "big"))
            if start[3] == RST_STREAM:
                refused = start[5:] + payload
        assert refused == b"\x00\x00\x00\x03\x00\x00\x00\x07"
        writer.write(end)


async def test_who_sends_more_than_its_window_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def take(command: pb.Command, replies: CommandReplies) -> None:
        taken.append(command.id)
        replies.reply(pb.Reply(id=command.id, body=bytes(1 << 16)))

    monkeypatch.setattr(command_door, "MAX_REPLIES", 1)
    door = CommandDoor(take)
    await door.start("127.0.0.1", 0)
    _, writer = await asyncio.open_connection("127.0.0.1", door.port, limit=1 << 12)
    writer.write(BEGIN + b"".join(data(message(id, bytes(10_000))) for id in range(500)))
    async with asyncio.timeout(20):
        await cut_off(writer, frame(PING, ACK, 0, bytes(8)))
    assert len(taken) <= 27, "256 KB of them"
    writer.close()
    await door.stop()


class Deaf(asyncio.Transport):
    """Holds what is written; `full`: all of it still waits."""

    def __init__(self, full: bool = False) -> None:
        super().__init__()
        self.written, self.full = b"", full

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def get_write_buffer_size(self) -> int:
        return len(self.written) if self.full else 0

    def abort(self) -> None:
        pass


async def test_who_asks_for_signs_of_life_and_takes_none_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2_call, "MAX_UNSENT", 10_000)
    stream, transport = CommandStream("127.0.0.1:1"), Deaf(full=True)
    stream.connection_made(transport)
    for _ in range(1000):
        stream.data_received(frame(PING, 0, 0, bytes(8)))
    assert stream.over == "the other end takes nothing"
    assert len(transport.written) < 11_000


async def test_a_larger_window_doesn_t_fill_a_transport_that_takes_nothing() -> None:
    stream, transport = CommandStream("127.0.0.1:1"), Deaf()
    stream.connection_made(transport)
    stream.pause_writing()
    more = (1 << 20).to_bytes(4, "big")
    stream.data_received(b"".join(frame(WINDOW_UPDATE, 0, which, more) for which in (0, 1)))
    before = len(transport.written)
    sending = asyncio.create_task(stream.send(bytes(1000)))
    await asyncio.sleep(0)
    assert len(transport.written) == before
    stream.resume_writing()
    await sending
    assert len(transport.written) > before + 1000
    stream.cancel()


async def test_nothing_is_told_after_the_end_of_a_call() -> None:
    door = CommandDoor(echo)
    await door.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    async with asyncio.timeout(20):
        writer.write(BEGIN + data(message(1, b"here")))
        start = await reader.readexactly(9)
        while start[3] != DATA:
            await reader.readexactly(int.from_bytes(start[:3], "big"))
            start = await reader.readexactly(9)
        await reader.readexactly(int.from_bytes(start[:3], "big"))
        # A reply that the window doesn't let through, and then the window, once all is over.
        long = message(2, bytes(70_000))
        writer.write(b"".join(data(long[at : at + 16000]) for at in range(0, len(long), 16000)))
        told = 0
        while told < 65535 - 20:
            start = await reader.readexactly(9)
            size = len(await reader.readexactly(int.from_bytes(start[:3], "big")))
            told += size if start[3] == DATA else 0
        await door.stop()
        more = (1 << 20).to_bytes(4, "big")
        writer.write(b"".join(frame(WINDOW_UPDATE, 0, which, more) for which in (0, 1)))
        assert DATA not in [kind for kind, _, _, _ in await frames(reader)]
        writer.close()


async def test_an_engine_that_never_lets_a_message_through_is_given_up_by_who_cancels() -> None:
    stream, transport = CommandStream("127.0.0.1:1"), Deaf()
    stream.connection_made(transport)
    sending = asyncio.create_task(stream.send(bytes(1 << 20)))
    await asyncio.sleep(0)
    stream.cancel()
    with pytest.raises(Broken):
        await sending
