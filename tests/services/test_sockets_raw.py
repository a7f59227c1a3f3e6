"""The WebSocket protocol byte by byte: what browsers may do, what nobody may, and how each ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from servicekit import pulse, sockets
from servicekit.websocket import BadUpgrade, accept, close_frame, goodbye, text_frame, unmask
from tests.servers import NatsServer
from tests.services.stage import ROOM, Stage, stage

New = Callable[[], NatsServer]
KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
ASK = ["GET /tv HTTP/1.1", "Host: tv", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", KEY]


def frame(first: int, payload: bytes, mask: bytes | None = None) -> bytes:
    """As a client sends it."""
    mask = os.urandom(4) if mask is None else mask
    size = len(payload)
    length = bytes((0x80 | size,)) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return bytes((first,)) + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


def head(lines: list[str]) -> bytes:
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Wire:
    """A connection, and what comes over it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def answer(self) -> bytes:
        """The whole HTTP head."""
        async with asyncio.timeout(10):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def next(self) -> tuple[int, bytes]:
        """First byte and payload of the next frame."""
        async with asyncio.timeout(10):
            first, size = await self.reader.readexactly(2)
            if size == 126:
                size = int.from_bytes(await self.reader.readexactly(2), "big")
            return first, await self.reader.readexactly(size)

    async def closed(self) -> tuple[int | None, bytes]:
        """The close frame's code, and what follows it until the end: nothing."""
        while True:
            first, payload = await self.next()
            if first == 0x88:
                async with asyncio.timeout(10):
                    return goodbye(payload), await self.reader.read()

    async def cut_off(self) -> None:
        """Read to the end, which comes without a goodbye."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionResetError):
            while True:
                assert (await self.next())[0] != 0x88


@asynccontextmanager
async def wire(s: Stage, *first: bytes, lines: list[str] = ASK) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", s.watch.port)
    writer.write(head(lines) + b"".join(first))
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


WATCH = b'{"t":"watch","v":1,"room":"' + ROOM.encode() + b'"}'


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (["GET /elsewhere HTTP/1.1", *ASK[1:]], b"404"),
        (["POST /tv HTTP/1.1", *ASK[1:]], b"400"),
        ([*ASK, "Content-Length: 5"], b"400"),
        ([*ASK[:4], "Sec-WebSocket-Version: 8", KEY], b"426"),
        (ASK[:5], b"400"),
        ([*ASK[:5], "Sec-WebSocket-Key: short"], b"400"),
        ([*ASK, KEY], b"400"),
        ([*ASK, "Origin: https://evil.example"], b"403"),
    ],
)
async def test_what_is_no_upgrade_is_answered_as_http(new_nats: New, change: list[str], status: bytes) -> None:
    async with stage(new_nats, watch=True) as s, wire(s, lines=change) as w:
        assert (await w.answer()).split()[1] == status


async def test_firefox_is_let_in_and_what_comes_with_the_request_counts(new_nats: New) -> None:
    lines = [line.replace("Connection: Upgrade", "Connection: keep-alive, Upgrade") for line in ASK]
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        async with wire(s, frame(0x81, WATCH), lines=lines) as w:
            assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in await w.answer()
            assert (await w.next())[1].startswith(b'{"t":"welcome"')


async def test_a_message_in_parts_with_a_ping_between_them_is_one_message(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        async with wire(s, frame(0x01, WATCH[:9]), frame(0x89, b"hi"), frame(0x00, WATCH[9:20])) as w:
            await w.answer()
            assert await w.next() == (0x8A, b"hi")
            w.writer.write(frame(0x80, WATCH[20:]))
            assert (await w.next())[1].startswith(b'{"t":"welcome"')


async def test_bytes_may_come_one_by_one(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        async with wire(s) as w:
            await w.answer()
            for byte in frame(0x81, WATCH + b" " * 200):
                w.writer.write(bytes((byte,)))
                await w.writer.drain()
            assert (await w.next())[1].startswith(b'{"t":"welcome"')


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"\x81\x02hi", 1002),  # not masked
        (frame(0xC1, b"hi"), 1002),  # a bit that no extension was agreed on for
        (frame(0x83, b"hi"), 1002),  # no such kind
        (frame(0x8B, b"hi"), 1002),
        (frame(0x09, b"hi"), 1002),  # a ping in parts
        (frame(0x89, b"x" * 126), 1002),  # a ping too long
        (frame(0x80, b"hi"), 1002),  # the end of nothing
        (frame(0x01, b"hi") + frame(0x81, b"hi"), 1002),  # a message within a message
        (frame(0x81, b"\xff\xfe"), 1007),
        (frame(0x01, b"\xe2\x82") + frame(0x80, b"x"), 1007),
        (frame(0x81, b"x" * 4097), 1009),
        (frame(0x01, b"x" * 4000) + frame(0x00, b"x" * 97), 1009),
        (b"\x81\xff" + (1 << 40).to_bytes(8, "big") + bytes(4), 1009),
        (frame(0x88, b"\x03"), 1002),
        (frame(0x88, (1005).to_bytes(2, "big")), 1002),
        (frame(0x88, (1000).to_bytes(2, "big") + b"\xff"), 1002),
        (frame(0x88, (1001).to_bytes(2, "big") + b"bye"), 1001),
        (frame(0x88, (4321).to_bytes(2, "big")), 4321),
        (frame(0x88, b""), None),
    ],
)
async def test_each_end_has_its_code(
    new_nats: New, monkeypatch: pytest.MonkeyPatch, sent: bytes, code: int | None
) -> None:
    monkeypatch.setattr(sockets, "CLOSE_WITHIN", 0.2)
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        async with wire(s) as w:
            await w.answer()
            w.writer.write(sent)
            assert await w.closed() == (code, b"")


async def test_after_our_goodbye_the_peers_ends_it_at_once(new_nats: New, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "CLOSE_WITHIN", 1000.0)
    async with stage(new_nats, watch=True) as s, wire(s, frame(0x81, b"{")) as w:
        await w.answer()
        while (await w.next())[0] != 0x88:
            pass
        w.writer.write(frame(0x88, (4004).to_bytes(2, "big")))
        async with asyncio.timeout(10):
            assert await w.reader.read() == b""


async def test_a_silent_socket_is_pinged_and_goes_on_if_it_answers_and_ends_if_not(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "EVERY", 0.2)
    async with stage(new_nats, watch=True) as s:
        s.rooms.room(ROOM, "p1")
        async with wire(s, frame(0x81, WATCH)) as w:
            await w.answer()
            for _ in range(3):
                while (await w.next())[0] != 0x89:
                    pass
                w.writer.write(frame(0x8A, b""))
            await w.cut_off()


def test_masks_of_all_lengths_come_off() -> None:
    dice = random.Random(5)
    for size in [*range(20), 125, 126, 4096]:
        payload = dice.randbytes(size)
        sent = b"abc" + frame(0x82, payload, dice.randbytes(4)) + b"more"
        start = 3 + (2 if size < 126 else 4)
        assert unmask(sent, start, start + 4 + size) == payload


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
def test_a_text_frame_says_its_length_in_the_shortest_way(size: int) -> None:
    made = text_frame(b"x" * size)
    assert made[0] == 0x81
    assert len(made) == size + (2 if size < 126 else 4 if size < 65536 else 10)


def test_a_goodbyes_reason_is_cut_between_characters() -> None:
    made = close_frame(1013, "ä" * 100)
    assert made[1] == len(made) - 2 <= 125
    assert made[4:].decode() == "ä" * 61


def test_the_key_of_the_rfcs_example_is_answered_as_there() -> None:
    headers = [(b"sec-websocket-version", b"13"), (b"sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ==")]
    assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in accept(b"GET", headers)
    with pytest.raises(BadUpgrade):
        accept(b"GET", headers[:1])
