"""What a gateway counts of sockets that it ended, of moves that wait, and of those on whom it hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from servicekit import pulse
from services.gateway import player
from tests.servers import NatsServer
from tests.services.stage import Stage, stage
from tests.waiting import reach

New = Callable[[], NatsServer]


def told(s: Stage, name: str, **labels: str) -> float:
    value = s.gateway.registry.get_sample_value(f"snatch_{name}", labels)
    assert value is not None, name
    return value


async def test_who_sends_too_much_and_who_finds_no_place_are_told_apart(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player, "THROTTLED_FOR", 0.0)
    async with stage(new_nats, moves_per_second=10, max_sockets=1) as s:
        s.at_table("p1")
        async with s.seated("p1") as phone:
            async with s.phone() as second:
                assert await second.closed() == 1013
            for id in range(1, 101):
                await phone.move(id)
            assert await phone.closed() == 1013
        await reach(lambda: told(s, "gateway_evicted_total", why="too_fast") == 1, "the flood's end is counted")
        assert told(s, "gateway_evicted_total", why="too_many") == 1
        assert told(s, "gateway_evicted_total", why="too_slow") == 0
        assert told(s, "gateway_closed_total", code="1013") == 2


async def test_a_socket_that_gives_no_sign_of_life_is_counted_as_silent(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "EVERY", 0.2)
    async with stage(new_nats) as s:
        s.at_table("p1")
        reader, writer = await asyncio.open_connection("127.0.0.1", s.gateway.port)
        writer.write(
            b"GET /ws HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        await reader.readuntil(b"\r\n\r\n")
        await reach(lambda: told(s, "gateway_evicted_total", why="silent") == 1, "it is given up")
        writer.close()


async def test_a_move_whose_answer_nobody_waits_for_any_more_is_counted(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await s.engine.stop()
            await phone.move(1)
            await reach(lambda: told(s, "gateway_moves_pending") == 1, "it waits")
            assert table.decided == []
        await reach(lambda: told(s, "gateway_moves_unanswered_total") == 1, "nobody waits for it")
        assert told(s, "gateway_moves_pending") == 0
        assert told(s, "gateway_move_seconds_count") == 0


async def test_nats_that_goes_and_comes_back_is_counted(new_nats: New) -> None:
    async with stage(new_nats) as s:
        assert told(s, "nats_connected") == 1
        assert told(s, "nats_disconnects_total") == 0
        s.nats.stop()
        await reach(lambda: told(s, "nats_connected") == 0, "it is away")
        s.nats.start()
        await reach(lambda: told(s, "nats_reconnects_total") == 1, "it is back")
        assert told(s, "nats_disconnects_total") == 1
        assert told(s, "nats_connected") == 1


async def test_rooms_that_answers_nothing_and_answers_again_is_counted(new_nats: New) -> None:
    async with stage(new_nats) as s, s.http() as http:
        assert told(s, "grpc_reconnects_total", to="rooms") == 0
        await s.rooms.stop()
        assert (await http.post("/api/rooms", json={"name": "Ann", "request_id": "once"})).status_code == 503
        assert told(s, "grpc_failures_total", to="rooms", code="UNAVAILABLE") > 0
        assert told(s, "gateway_http_requests_total", call="create", status="503") == 1
        await s.rooms.start()
        await reach(lambda: told(s, "grpc_reconnects_total", to="rooms") == 1, "it answers again")
