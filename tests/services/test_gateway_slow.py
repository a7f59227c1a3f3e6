"""A socket that stops reading is closed with 1013; nobody else slows down, and memory stays bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from servicekit import sockets
from tests.servers import NatsServer
from tests.services.phone import Phone
from tests.services.slow_phone import SlowPhone
from tests.services.stage import ROOM, Stage, stage
from tests.services.twin_engine import TwinTable
from wire import client_out

New = Callable[[], NatsServer]
BIG = client_out.Step(ev=["x" * 8000])


@pytest.fixture
def closes(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[tuple[int, int]]:
    """(code, most bytes ever held for it) of every socket that the server closes."""
    told: asyncio.Queue[tuple[int, int]] = asyncio.Queue()
    most: dict[int, int] = {}
    send, close = sockets.Socket.send, sockets.Socket.close

    def watched_send(self: sockets.Socket, body: bytes) -> None:
        send(self, body)
        held = 0 if self.closing else self.queued_bytes
        most[id(self)] = max(most.get(id(self), 0), held)

    def watched_close(self: sockets.Socket, code: int, reason: str = "") -> None:
        if not self.closing:
            told.put_nowait((code, most.get(id(self), 0)))
        close(self, code, reason)

    monkeypatch.setattr(sockets.Socket, "send", watched_send)
    monkeypatch.setattr(sockets.Socket, "close", watched_close)
    return told


async def flood(s: Stage, table: TwinTable, reader: Phone, closes: asyncio.Queue[tuple[int, int]]) -> None:
    """Tell until the one that doesn't read is closed; the reader must get every frame."""

    async def read() -> None:
        while True:
            await reader.next()

    reading = asyncio.create_task(read())
    told = 0
    while closes.empty():
        assert told < 4000, "the slow one was never closed"
        await s.engine.tell_table(table, [BIG])
        told += 1
    code, most = closes.get_nowait()
    assert code == 1013
    assert most <= sockets.MAX_QUEUED_BYTES
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    if reader.seen[-1].get("n") != told:
        await reader.until("table", n=told)
    assert [m["n"] for m in reader.seen if m["t"] == "table"] == list(range(1, told + 1))


async def test_a_phone_that_stops_reading_is_closed_and_the_others_get_every_frame(
    new_nats: New, closes: asyncio.Queue[tuple[int, int]]
) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1", "p2")
        slow = SlowPhone(s.gateway.port, "/ws")
        async with s.seated("p1") as phone:
            await slow.start({"t": "hello", "v": 1, "token": s.rooms.token(ROOM, "p2"), "tab": 1})
            await s.engine.until(lambda: s.engine.attaches == 2)
            await flood(s, table, phone, closes)
            await s.engine.until(lambda: (ROOM, 1, 1) in s.engine.detached)
        slow.stop()


async def test_a_tv_that_stops_reading_is_closed_and_the_others_get_every_frame(
    new_nats: New, closes: asyncio.Queue[tuple[int, int]]
) -> None:
    async with stage(new_nats, watch=True) as s:
        table = s.at_table("p1")
        slow = SlowPhone(s.watch.port, "/tv")
        async with s.tv() as tv:
            await tv.send({"t": "watch", "v": 1, "room": ROOM})
            await tv.until("snapshot")
            await slow.start({"t": "watch", "v": 1, "room": ROOM})
            await s.engine.until(lambda: s.engine.views == 2)
            await flood(s, table, tv, closes)
        assert (await slow.rest()).startswith(b"\x81")
        slow.stop()


async def test_pings_of_a_phone_that_reads_no_answer_are_not_kept_but_end_it(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1")
        phone = SlowPhone(s.gateway.port, "/ws")
        await phone.start({"t": "hello", "v": 1, "token": s.rooms.token(ROOM, "p1"), "tab": 1})
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            await phone.ping(megabytes=32)
        phone.stop()
