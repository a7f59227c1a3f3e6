"""A WebSocket's first and last bytes as networks cut them: in any pieces, behind another request, half closed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

import pytest

from tests.servers import NatsServer
from tests.services.stage import stage
from tests.services.test_sockets_raw import ASK, WATCH, Wire, frame, head, wire

New = Callable[[], NatsServer]
FIREFOX = [line.replace("Connection: Upgrade", "Connection: keep-alive, Upgrade") for line in ASK]


async def test_a_request_and_the_first_frame_may_be_cut_anywhere(new_nats: New) -> None:
    whole = head(FIREFOX) + frame(0x81, WATCH)
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        for cut in range(1, len(whole)):
            reader, writer = await asyncio.open_connection("127.0.0.1", s.watch.port)
            writer.write(whole[:cut])
            await asyncio.sleep(0)
            writer.write(whole[cut:])
            w = Wire(reader, writer)
            assert b" 101 " in await w.answer(), cut
            assert (await w.next())[1].startswith(b'{"t":"welcome"'), cut
            writer.close()


async def test_a_connection_that_asked_for_a_page_before_becomes_a_socket_all_the_same(new_nats: New) -> None:
    first = head(["HEAD /favicon.ico HTTP/1.1", "Host: tv"])
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        reader, writer = await asyncio.open_connection("127.0.0.1", s.watch.port)
        writer.write(first + head(FIREFOX) + frame(0x81, WATCH))
        w = Wire(reader, writer)
        assert b" 101 " not in await w.answer()
        assert b" 101 " in await w.answer()
        assert (await w.next())[1].startswith(b'{"t":"welcome"')
        writer.close()


async def test_who_says_no_more_is_sent_what_was_on_its_way_and_let_go(new_nats: New) -> None:
    async with stage(new_nats, watch=True) as s:
        s.at_table("p1")
        async with wire(s, frame(0x81, WATCH)) as w, asyncio.timeout(10):
            await w.answer()
            assert (await w.next())[1].startswith(b'{"t":"welcome"')
            w.writer.write_eof()
            await w.reader.read()


async def test_who_pings_and_takes_no_pong_is_cut_off_and_written_to_no_more(
    new_nats: New, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(new_nats, watch=True) as s, asyncio.timeout(20):
        s.at_table("p1")
        with socket.socket() as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            await asyncio.to_thread(peer.connect, ("127.0.0.1", s.watch.port))
            peer.sendall(head(ASK) + frame(0x81, WATCH))
            peer.setblocking(False)
            with contextlib.suppress(ConnectionError):
                while True:
                    await asyncio.get_running_loop().sock_sendall(peer, frame(0x89, bytes(125)) * 500)
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []
