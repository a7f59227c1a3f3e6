"""A player's socket: hello, lobby, seat, moves, and what hostile input does (nothing)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from tests.servers import NatsServer
from tests.services.stage import ROOM, stage

New = Callable[[], NatsServer]


async def test_a_phone_gets_welcome_then_lobby_then_snapshot(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.seated("p1") as phone:
            assert phone.tags() == ["welcome", "lobby", "snapshot"]
            assert phone.seen[0]["player"] == "p1"
            assert phone.seen[2]["you"] == {"seat": 0, "watching": False}


async def test_a_move_goes_to_the_engine_byte_for_byte_and_comes_back_as_a_frame(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            said = '{"t":"move", "id":1,"basis":0,  "m":{"t":"middle","card":"5h","src":"snatch"}}'
            await phone.send(said)
            assert await phone.answered(1)
        assert table.decided == [(0, 1, said.encode())]


async def test_a_start_in_the_lobby_brings_everyone_to_the_table_and_its_end_back(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1", "p2")
        async with s.phone() as ann, s.phone() as bo:
            for phone, player in ((ann, "p1"), (bo, "p2")):
                await phone.hello(s.rooms.token(ROOM, player))
                await phone.until("lobby")
            s.tables.open(ROOM, "t7")
            await s.rooms.change(ROOM, table="t7")
            assert (await ann.until("snapshot"))["table"]["table"] == "t7"
            assert (await bo.until("snapshot"))["table"]["table"] == "t7"
            await s.rooms.change(ROOM, table=None)
            await ann.until("lobby", rev=3)
            await ann.move(1)
            assert (await ann.until("error"))["code"] == "no_table"


async def test_moves_sent_with_the_hello_are_not_lost_and_not_doubled(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            for id in (1, 2, 3):
                await phone.move(id)
            await phone.answered(3)
        assert table.ids == [1, 2, 3]


async def test_a_move_sent_again_after_a_reload_is_answered_and_not_decided_again(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        token = s.rooms.token(ROOM, "p1")
        async with s.phone() as phone:
            await phone.hello(token, tab=5)
            await phone.move(1)
            await phone.answered(1)
        async with s.phone() as phone:
            await phone.hello(token, tab=5)
            assert (await phone.until("snapshot"))["answered"] == 1
            await phone.move(1)
            assert await phone.until("answer", id=1)
            await phone.move(2)
            await phone.answered(2)
        assert table.ids == [1, 2]


async def test_an_id_too_far_ahead_is_told_which_one_is_expected(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await phone.move(3)
            assert (await phone.until("expect"))["id"] == 1
            await phone.move(1)
            await phone.answered(1)
        assert table.ids == [1]


async def test_a_move_that_the_engine_can_not_read_leaves_its_id_free(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            await phone.move(1, {"t": "bad"})
            assert (await phone.until("error"))["id"] == 1
            await phone.move(1)
            await phone.answered(1)
        assert table.ids == [1]


async def test_the_newer_tab_plays_and_the_older_is_told_finally(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.seated("p1", tab=1) as old, s.seated("p1", tab=2) as new:
            assert await old.closed() == 4001
            assert old.seen[-1] == {"t": "taken_over"}
            await new.move(1)
            await new.answered(1)
        assert len(table.decided) == 1


async def test_a_tab_whose_attach_a_newer_one_overtook_is_taken_over(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        s.engine.refuse_attach = "taken_over"
        async with s.phone() as old:
            await old.hello(s.rooms.token(ROOM, "p1"))
            assert await old.closed() == 4001
            assert old.seen[-1] == {"t": "taken_over"}


async def test_an_attach_that_a_later_socket_of_the_same_tab_overtook_is_no_takeover(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        s.engine.refuse_attach = "superseded"
        async with s.phone() as old:
            await old.hello(s.rooms.token(ROOM, "p1"))
            assert await old.closed() == 1012
            assert "taken_over" not in old.tags()


async def test_an_older_tab_on_another_gateway_is_taken_over_too(new_nats: New) -> None:
    async with stage(new_nats) as s:
        other = await s.another_gateway()
        s.at_table("p1")
        async with s.seated("p1", tab=1) as old, s.seated("p1", other, tab=2):
            assert await old.closed() == 4001


async def test_a_closed_socket_detaches_its_own_session_and_tells_rooms(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.seated("p1") as first, s.seated("p1") as second:
            assert await first.closed() == 4001
            await s.rooms.until(lambda: len(s.rooms.sockets(here=True)) == 2)
            await s.rooms.until(lambda: len(s.rooms.sockets(here=False)) == 1)
            # The old socket's late close threw nobody out: it detached nothing, and named only itself.
            await second.move(1)
            await second.answered(1)
            assert s.engine.detached == []
        await s.engine.until(lambda: s.engine.detached)
        assert s.engine.detached == [(ROOM, 0, 2)]
        await s.rooms.until(lambda: len(s.rooms.sockets(here=False)) == 2)


@pytest.mark.parametrize(
    ("token", "code", "close"),
    [("", "bad_token", 4002), ("nonsense", "bad_token", 4002), ("stale", "bad_token", 4002), ("gone", "no_room", 4002)],
)
async def test_a_bad_or_stale_token_is_refused_and_the_real_seat_is_untouched(
    new_nats: New, token: str, code: str, close: int
) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        tokens = {"stale": s.rooms.token(ROOM, "p1", birth="b0"), "gone": s.rooms.token("XXXXX", "p1")}
        async with s.seated("p1"):
            pass
        attaches, told = s.engine.attaches, len(s.rooms.presence)
        async with s.phone() as phone:
            await phone.hello(tokens.get(token, token), tab=9)
            assert (await phone.next())["code"] == code
            assert await phone.closed() == close
        assert s.engine.attaches == attaches
        assert all(not here for _, _, here in s.rooms.presence[told:])


async def test_a_removed_player_is_told_so_and_put_out(new_nats: New) -> None:
    async with stage(new_nats) as s:
        lobby = s.rooms.room(ROOM, "p1", "p2")
        token = s.rooms.token(ROOM, "p2")
        async with s.phone() as phone:
            await phone.hello(token)
            await phone.until("lobby")
            s.rooms.removed.add("p2")
            await s.rooms.change(ROOM, players=lobby.players[:1])
            assert await phone.closed() == 4003
            assert phone.seen[-1]["code"] == "removed"
        async with s.phone() as phone:
            await phone.hello(token)
            assert await phone.closed() == 4003


async def test_who_comes_back_to_a_room_that_filled_up_meanwhile_is_told_so_and_may_wait(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1")
        s.rooms.no_place.add("p2")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p2"))
            await phone.until("error", code="full")
            await s.rooms.change(ROOM, host="p1")
            await phone.until("lobby", rev=2)


async def test_a_room_that_is_gone_ends_its_sockets(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await phone.until("lobby")
            await s.rooms.change(ROOM, players=[], host="")
            assert await phone.closed() == 4002
            assert phone.seen[-1]["code"] == "no_room"


async def test_lobby_acts_are_answered_by_their_request(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1", "p2")
        async with s.phone() as host, s.phone() as guest:
            for phone, player in ((host, "p1"), (guest, "p2")):
                await phone.hello(s.rooms.token(ROOM, player))
                await phone.until("lobby")
            await guest.send({"t": "lobby", "req": 1, "do": {"t": "name", "name": "Bo"}})
            assert await guest.until("done", req=1)
            lobby = await host.until("lobby", rev=2)
            assert lobby["players"][1]["name"] == "Bo"
            await guest.send({"t": "lobby", "req": 2, "do": {"t": "start"}})
            assert (await guest.until("error", req=2))["code"] == "not_host"
            await guest.send({"t": "lobby", "req": 3, "do": {"t": "leave"}})
            assert await guest.until("done", req=3)
            assert await guest.closed() == 1000


async def test_pings_come_back(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.rooms.room(ROOM, "p1")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await phone.send({"t": "ping", "at": 12.5})
            assert await phone.until("pong") == {"t": "pong", "at": 12.5}


async def test_moves_above_the_limit_are_read_more_slowly_and_none_is_lost(new_nats: New) -> None:
    async with stage(new_nats, moves_per_second=50) as s:
        table = s.at_table("p1")
        async with s.seated("p1") as phone:
            for id in range(1, 131):
                await phone.move(id)
            assert (await phone.until("error"))["code"] == "slow_down"
            await phone.answered(130)
        assert table.ids == list(range(1, 131))


async def test_while_rooms_is_away_the_hand_goes_on_and_the_lobby_says_so(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        token = s.rooms.token(ROOM, "p1")
        async with s.phone() as phone:
            await phone.hello(token)
            await phone.until("snapshot")
            s.rooms.away = True
            await phone.send({"t": "lobby", "req": 1, "do": {"t": "name", "name": "Bo"}})
            assert (await phone.until("error", req=1))["code"] == "lobby_away"
            await phone.move(1)
            await phone.answered(1)
        other = await s.another_gateway()
        async with s.phone(other) as phone:
            await phone.hello(token)
            await phone.until("snapshot")
            assert [tag for tag in phone.tags() if tag != "lobby_away"] == ["welcome", "snapshot"]
            await phone.move(2)
            await phone.answered(2)
            s.rooms.away = False
            await phone.until("lobby")
        assert table.ids == [1, 2]


async def test_a_stopping_gateway_tells_its_phones_to_come_back_and_detaches(new_nats: New) -> None:
    async with stage(new_nats) as s:
        gateway = await s.another_gateway()
        s.at_table("p1")
        async with s.seated("p1", gateway) as phone:
            await s.rooms.until(lambda: s.rooms.presence)
            await gateway.stop()
            assert await phone.closed() == 1012
        assert s.engine.detached == [(ROOM, 0, 1)]
        assert s.rooms.sockets(here=False) == s.rooms.sockets(here=True)


async def test_what_is_sent_is_what_the_command_kinds_say(new_nats: New) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await phone.move(1)
            await phone.answered(1)
        assert [c.kind for c in s.engine.commands] == [pb.COMMAND_KIND_MOVE]
