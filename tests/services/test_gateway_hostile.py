"""Hostile input on the players' socket: a clear error, the room unharmed, the others undisturbed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from services.gateway import player
from tests.servers import NatsServer
from tests.services.stage import ROOM, stage

New = Callable[[], NatsServer]

HOSTILE = [
    "",
    "{",
    "[]",
    "null",
    "17",
    '"hello"',
    '{"t":"nothing"}',
    '{"t":"move"}',
    '{"t":"move","id":0,"basis":0,"m":{}}',
    '{"t":"move","id":-1,"basis":0,"m":{}}',
    '{"t":"move","id":4294967296,"basis":0,"m":{}}',
    '{"t":"move","id":"1","basis":0,"m":{}}',
    '{"t":"move","id":1,"basis":0.5,"m":{}}',
    '{"t":"move","id":1,"basis":0,"m":{},"more":1}',
    '{"t":"ping","at":"now"}',
    '{"t":"lobby","req":1,"do":{"t":"start","game":7}}',
    '{"t":"lobby","req":1,"do":{"t":"drop_table"}}',
    '{"t":"hello","v":1,"token":"again","tab":1}',
    '{"t":"ping","at":1e999}',
    "[" * 4000,
    '{"t":"ping","at":' + "1" * 4000 + "}",
    b"\x00\x01\x02",
    b'{"t":"ping","at":1}',
    '{"t":"lobby","req":1,"do":{"t":"name","name":"\\ud800"}}',
]


async def test_hostile_messages_are_errors_and_the_socket_goes_on(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            for message in HOSTILE:
                await phone.send(message)
                error = await phone.until("error")
                assert error["code"] in ("bad_message", "slow_down"), message
                if error["code"] == "slow_down":
                    assert (await phone.until("error"))["code"] == "bad_message", message
            await phone.move(1)
            await phone.answered(1)
        assert table.ids == [1]


async def test_an_error_names_the_move_or_request_it_is_about(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await phone.send({"t": "move", "id": 7, "basis": 0, "m": {}, "x": 1})
            assert (await phone.until("error"))["id"] == 7
            await phone.send({"t": "lobby", "req": 8, "do": {"t": "fly"}})
            assert (await phone.until("error"))["req"] == 8


async def test_too_many_bad_messages_end_the_socket(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            for _ in range(40):
                await phone.send("{")
            assert await phone.closed() == 1008


async def test_of_a_socket_closed_for_its_flood_nothing_more_counts(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player, "THROTTLED_FOR", 0.0)
    async with stage(new_nats, moves_per_second=10) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            for id in range(1, 101):
                await phone.move(id)
            assert await phone.closed() == 1013
            await s.engine.until(lambda: (ROOM, 0, 1) in s.engine.detached)
        assert 20 <= len(table.decided) < 100


@pytest.mark.parametrize("first", ['{"t":"move","id":1,"basis":0,"m":{}}', '{"t":"ping","at":1}', "{", b"\x01"])
async def test_a_socket_that_does_not_begin_with_hello_is_closed(new_nats: New, first: str | bytes) -> None:
    async with stage(new_nats) as s, s.phone() as phone:
        await phone.send(first)
        assert await phone.closed() == 4004
        assert phone.seen[-1]["code"] == "bad_message"


async def test_a_socket_that_says_nothing_is_closed(new_nats: New) -> None:
    async with stage(new_nats, hello_timeout=0.2) as s, s.phone() as phone:
        assert await phone.closed() == 4004


async def test_another_version_is_refused(new_nats: New) -> None:
    async with stage(new_nats) as s, s.phone() as phone:
        await phone.hello("token", v=2)
        assert await phone.closed() == 4004
        assert phone.seen[-1]["code"] == "bad_version"
        assert phone.seen[-1]["text"] == "version 1 is spoken here, not 2"


async def test_a_hello_of_another_version_may_look_otherwise_and_is_told_why(new_nats: New) -> None:
    async with stage(new_nats) as s, s.phone() as phone:
        await phone.send({"t": "greet", "v": 3, "who": {"name": "Ann"}})
        assert await phone.closed() == 4004
        assert phone.seen[-1]["code"] == "bad_version"


async def test_a_megabyte_is_cut_off_with_1009_and_others_go_on(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1", "p2")
        async with s.seated("p1") as bad, s.seated("p2") as good:
            await bad.send(json.dumps({"t": "ping", "at": 1, "x": "y" * 1_000_000}))
            assert await bad.closed() == 1009
            await good.move(1)
            await good.answered(1)


async def test_one_socket_too_many_is_sent_away_until_there_is_room(new_nats: New) -> None:
    async with stage(new_nats, max_sockets=1) as s:
        s.rooms.room(ROOM, "p1")
        token = s.rooms.token(ROOM, "p1")
        async with s.phone() as first:
            await first.hello(token)
            await first.until("lobby")
            async with s.phone() as second:
                assert await second.closed() == 1013
            await first.send({"t": "ping", "at": 1})
            await first.until("pong")


async def test_one_address_may_not_take_all_sockets(new_nats: New) -> None:
    proxied: dict[str, Any] = {"additional_headers": {"x-forwarded-for": "203.0.113.9"}}
    async with stage(new_nats, max_sockets_per_address=1, trusted_proxies="127.0.0.0/8") as s:
        async with s.phone(**proxied) as first, s.phone(**proxied) as second:
            assert await second.closed() == 1013
            other: dict[str, Any] = {"additional_headers": {"x-forwarded-for": "203.0.113.10"}}
            async with s.phone(**other) as third:
                await third.hello("x")
                assert await third.closed() == 4002
            await first.hello("x")
            assert await first.closed() == 4002
        async with s.phone(**proxied) as again:
            await again.hello("x")
            assert await again.closed() == 4002


async def test_gateways_may_share_a_port(new_nats: New) -> None:
    async with stage(new_nats, reuse_port=True) as s:
        other = await s.another_gateway(port=s.gateway.port, reuse_port=True)
        assert other.port == s.gateway.port
        s.at_table("p1")
        for _ in range(4):
            async with s.seated("p1"):
                pass


async def test_a_page_from_elsewhere_gets_no_socket(new_nats: New) -> None:
    async with stage(new_nats, public_url="https://play.example") as s:
        with pytest.raises(InvalidStatus):
            async with s.phone(origin="https://evil.example"):
                pass
        for origin in ("https://play.example", f"http://127.0.0.1:{s.gateway.port}"):
            async with s.phone(origin=origin) as phone:
                await phone.hello("x")
                assert await phone.closed() == 4002
