"""What a gateway tells rooms of its sockets, though rooms is away, or has forgotten them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from services.gateway import presence
from tests.servers import NatsServer
from tests.services.stage import ROOM, stage
from wire import client_out

New = Callable[[], NatsServer]


async def test_who_went_while_rooms_was_away_is_gone_when_it_is_back(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.seated("p1"):
            await s.rooms.until(lambda: s.rooms.presence)
            s.rooms.away = True
        await s.engine.until(lambda: s.engine.detached)
        s.rooms.away = False
        await s.rooms.until(lambda: s.rooms.sockets(here=False) == s.rooms.sockets(here=True))


async def test_a_lobby_that_shows_somebody_away_who_is_here_is_told_again(new_nats: New) -> None:
    """As one that was listed anew, when Redis had lost it: nobody waits for the next time in 30 s."""
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.seated("p1"):
            await s.rooms.until(lambda: s.rooms.presence)
            players = [client_out.LobbyPlayer("p1", "P1", 0, present=False)]
            async with asyncio.timeout(15):
                while len(s.rooms.presence) == 1:
                    await s.rooms.change(ROOM, players=players)
                    await asyncio.sleep(0.1)
            first, again = s.rooms.presence[:2]
            assert first == again
            assert first[2]


async def test_a_rooms_sockets_are_told_again_together_and_one_by_one_to_a_worker_of_before(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "EVERY", 0.1)
    monkeypatch.setattr(presence, "TICK", 0.05)
    async with stage(new_nats) as s:
        s.at_table("p1", "p2")
        async with s.seated("p1"), s.seated("p2"):
            await s.rooms.until(lambda: any(len(sockets) == 2 for sockets in s.rooms.still_here))
            assert {player for player, _, _ in s.rooms.presence} == {"p1", "p2"}
            assert {socket for _, socket, _ in s.rooms.presence} >= set(s.rooms.still_here[-1])
            s.rooms.of_before, told = True, len(s.rooms.presence)
            await s.rooms.until(lambda: {p for p, _, here in s.rooms.presence[told:] if here} == {"p1", "p2"})


async def test_who_comes_to_a_room_while_no_worker_answers_sits_at_the_table_all_the_same(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        token = s.rooms.token(ROOM, "p1")
        await s.rooms.stop()
        async with s.phone() as phone:
            await phone.hello(token)
            await phone.until("snapshot")
            await phone.move(1)
            await phone.answered(1)
            await s.rooms.start()
            await phone.until("lobby")


async def test_whoever_is_here_is_told_that_lobbies_are_away_and_when_they_are_back(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1")
        token = s.rooms.token(ROOM, "p1")
        async with s.phone() as phone:
            await phone.hello(token)
            await phone.until("lobby")
            s.rooms.away = True
            assert await phone.until("lobby_away") == {"t": "lobby_away"}
            async with s.phone() as late:
                await late.hello(token, tab=2)
                assert await late.until("lobby_away") == {"t": "lobby_away"}
            s.rooms.away = False
            assert await phone.until("lobby_away", away=False) == {"t": "lobby_away", "away": False}
