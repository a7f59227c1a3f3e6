"""Rooms as gateways ask it, on a real Valkey and a real nats-server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import redis.asyncio
from pydantic import ValidationError

from generated.snatch.rooms.v1 import rooms_pb2 as pb
from servicekit import bus, rooms_client, rpc
from servicekit.tokens import Tokens
from services.rooms.settings import RoomsSettings
from tests.services.rooms_client import SECRET, LobbyFrames, TwinTables, Worker, news, refusal, rooms_worker
from wire import client_in as ask
from wire import subjects
from wire.places import CODE_ALPHABET, new_code

METHODS: list[Any] = list(pb.DESCRIPTOR.services_by_name["RoomsService"].methods)
QUICK: dict[str, Any] = {"host_grace": 0.4, "room_idle": 0.6, "socket_stale": 30.0, "table_check": 0.5}


@pytest.fixture
def tables() -> TwinTables:
    return TwinTables()


@pytest.fixture
async def one(nats_url: str, redis_url: str, tables: TwinTables) -> AsyncIterator[Worker]:
    async with rooms_worker(nats_url, redis_url, tables) as worker:
        yield worker


@pytest.fixture
async def quick(nats_url: str, new_redis: Callable[[], Any], tables: TwinTables) -> AsyncIterator[Worker]:
    """A worker whose times are short, alone on its Valkey: another's would settle its rooms with long ones."""
    async with rooms_worker(nats_url, new_redis().url, tables, **QUICK) as worker:
        yield worker


async def test_a_host_makes_a_room_and_a_friend_joins_by_a_code_typed_anyhow(one: Worker) -> None:
    ann = await one.client.create("  Ann ")
    assert len(ann.room) == 5
    assert set(ann.room) <= set(CODE_ALPHABET)
    typed = f" {ann.room[:2].lower()} {ann.room[2:].lower()} "
    bo = await one.client.join(typed, "Bo")
    lobby = await one.client.lobby(ann.room)
    assert lobby.host == ann.player
    assert [(p.player, p.name, p.present) for p in lobby.players] == [
        (ann.player, "Ann", False),
        (bo.player, "Bo", False),
    ]
    assert bo.room == ann.room


async def test_every_change_goes_out_whole_and_counted(one: Worker, nc: bus.Bus) -> None:
    ann = await one.client.create()
    heard = await LobbyFrames().listen(nc, ann.room)
    bo = await one.client.join(ann.room, "Bo")
    await one.client.here(bo.token)
    await one.client.here(bo.token)
    answered = await one.client.act(ann.token, ask.AddBot("hard"))
    last = await heard.until(lambda lobby: len(lobby.players) == 3)
    assert last == answered
    assert [lobby.rev for lobby in heard.seen] == [2, 3, 4]
    assert [p.present for p in last.players] == [False, True, True]


async def test_a_create_call_sent_again_makes_one_room(one: Worker) -> None:
    made = await asyncio.gather(*(one.client.create("Ann", "the-same-request") for _ in range(5)))
    assert len({(m.room, m.player, m.token) for m in made}) == 1
    other = await one.client.create("Ann", "another-request")
    assert other.room != made[0].room


async def test_the_same_request_id_of_somebody_else_brings_them_a_room_of_their_own(one: Worker) -> None:
    ann = await one.client.create("Ann", "1")
    bo = await one.client.create("Bo", "1")
    assert bo.room != ann.room
    assert bo.token != ann.token


async def test_join_tapped_twice_within_an_instant_seats_one(one: Worker) -> None:
    ann = await one.client.create()
    twice = await asyncio.gather(*(one.client.join(ann.room, "Bo", request="tap-1") for _ in range(2)))
    assert twice[0] == twice[1]
    assert [p.name for p in (await one.client.lobby(ann.room)).players] == ["Ann", "Bo"]


async def test_an_act_whose_call_is_sent_again_is_done_once(one: Worker) -> None:
    ann = await one.client.create()
    await asyncio.gather(*(one.client.act(ann.token, ask.AddBot(), "the same call") for _ in range(4)))
    await one.client.act(ann.token, ask.AddBot(), "another call")
    assert [p.bot for p in (await one.client.lobby(ann.room)).players] == [None, "medium", "medium"]


async def test_two_people_with_the_same_request_id_are_two_players(one: Worker) -> None:
    ann = await one.client.create()
    bo = await one.client.join(ann.room, "Bo", request="1")
    cy = await one.client.join(ann.room, "Cy", request="1")
    assert bo.player != cy.player


async def test_fifteen_joining_two_workers_at_once_all_get_in_and_a_sixteenth_does_not(
    nats_url: str, redis_url: str, tables: TwinTables
) -> None:
    async with (
        rooms_worker(nats_url, redis_url, tables) as first,
        rooms_worker(nats_url, redis_url, tables) as second,
    ):
        ann = await first.client.create()
        workers = [first, second]
        joined = await asyncio.gather(*(workers[n % 2].client.join(ann.room, "Bo") for n in range(15)))
        assert len({j.player for j in joined}) == 15
        lobby = await second.client.lobby(ann.room)
        assert len({p.name for p in lobby.players}) == 16
        assert sorted(p.colour for p in lobby.players[:8]) == list(range(8))
        assert lobby.rev == 16
        assert await refusal(first.client.join(ann.room, "Late")) == ("RESOURCE_EXHAUSTED", "full")


async def test_a_token_brings_its_player_back(one: Worker) -> None:
    ann = await one.client.create()
    bo = await one.client.join(ann.room, "Bo")
    await one.client.act(bo.token, ask.LeaveRoom())
    await one.client.act(bo.token, ask.LeaveRoom())
    assert [p.name for p in (await one.client.lobby(ann.room)).players] == ["Ann"]
    back = await one.client.join(ann.room, token=bo.token)
    assert back.player == bo.player
    assert [p.name for p in (await one.client.lobby(ann.room)).players] == ["Ann", "Bo"]


async def test_a_bad_or_stale_token_is_refused_and_the_real_seat_untouched(one: Worker) -> None:
    ann = await one.client.create()
    await one.client.here(ann.token, "s1")
    await one.client.gone(ann.token, "s1")
    before = await one.client.lobby(ann.room)
    other = Tokens(SECRET).sign(ann.room, "of an older room", ann.player)
    unknown = Tokens(SECRET).sign(ann.room, "", "nobody")
    forged = Tokens("another secret altogether").sign(ann.room, "x", ann.player)
    for token in (ann.token[:-1], "x", "x" * 100_000, forged, other, unknown):
        for asked in (
            one.client.here(token, "evil"),
            one.client.join(ann.room, "Ann", token=token),
            one.client.act(token, ask.SetName("Evil")),
            one.client.lobby(ann.room, token),
        ):
            status = await refusal(asked)
            # GetLobby on a room's code is open to all, but not as somebody else.
            assert status in {("PERMISSION_DENIED", "bad_token"), ("RESOURCE_EXHAUSTED", status[1])}
    assert await one.client.lobby(ann.room) == before


async def test_a_token_of_one_room_opens_no_other(one: Worker) -> None:
    ann, bo = await one.client.create("Ann"), await one.client.create("Bo")
    assert await refusal(one.client.join(bo.room, token=ann.token)) == ("PERMISSION_DENIED", "bad_token")
    assert await refusal(one.client.lobby(bo.room, ann.token)) == ("PERMISSION_DENIED", "bad_token")


async def test_a_removed_players_token_is_refused_in_this_lobby(one: Worker) -> None:
    ann = await one.client.create()
    bo = await one.client.join(ann.room, "Bo")
    await one.client.act(ann.token, ask.RemovePlayer(bo.player))
    removed = ("PERMISSION_DENIED", "removed")
    assert await refusal(one.client.join(ann.room, "Bo", token=bo.token)) == removed
    assert await refusal(one.client.here(bo.token)) == removed
    assert await refusal(one.client.lobby(ann.room, bo.token)) == removed
    assert await refusal(one.client.act(bo.token, ask.SetColour(3))) == removed


async def test_a_room_that_is_not_there_is_not_found(one: Worker) -> None:
    for code in (new_code(), "", "AEIOU", "x" * 1000):
        assert await refusal(one.client.lobby(code)) == ("NOT_FOUND", "no_room")
        assert await refusal(one.client.join(code, "Bo")) == ("NOT_FOUND", "no_room")


@pytest.mark.parametrize(
    "act",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"t":"reign"}',
        b'{"t":"name"}',
        b'{"t":"name","name":7}',
        b'{"t":"name","name":"Bo","as":"host"}',
        b'{"t":"colour","colour":8}',
        b'{"t":"add_bot","level":"godlike"}',
        b"[" * 4000,
        b'{"t":"name","name":"' + b"x" * 5000 + b'"}',
    ],
)
async def test_an_act_that_makes_no_sense_is_refused_and_harms_nothing(one: Worker, act: bytes) -> None:
    ann = await one.client.create()
    before = await one.client.lobby(ann.room)
    assert await refusal(one.client.act(ann.token, act)) == ("INVALID_ARGUMENT", "unknown")
    assert await one.client.lobby(ann.room) == before


async def test_a_megabyte_is_refused_unread_by_every_call(one: Worker) -> None:
    ann = await one.client.create()
    big = "x" * 1_000_000
    for asked in (
        one.client.create(big),
        one.client.join(ann.room, big),
        one.client.join(ann.room, "Bo", request=big),
        one.client.act(ann.token, big.encode()),
        one.client.here(ann.token, big),
        one.client.lobby(ann.room, big),
    ):
        assert (await refusal(asked))[0] == "RESOURCE_EXHAUSTED"
    assert len((await one.client.lobby(ann.room)).players) == 1


async def test_names_and_ids_that_are_none_are_refused(one: Worker) -> None:
    ann = await one.client.create()
    for name in ("", " \u200b", "x" * 65):
        assert await refusal(one.client.create(name)) == ("INVALID_ARGUMENT", "name")
        assert await refusal(one.client.join(ann.room, name)) == ("INVALID_ARGUMENT", "name")
    unknown = ("INVALID_ARGUMENT", "unknown")
    assert await refusal(one.client.create("Ann", "r" * 65)) == unknown
    assert await refusal(one.client.here(ann.token, "")) == unknown
    assert await refusal(one.client.here(ann.token, "s" * 65)) == unknown
    assert await refusal(one.client.stub.Presence(pb.PresenceRequest(token=ann.token, socket="s"))) == unknown


async def test_of_many_sockets_told_at_once_each_keeps_its_player_present_or_learns_why_not(one: Worker) -> None:
    ann, other = await one.client.create("Ann"), await one.client.create("Ann")
    bo = await one.client.join(ann.room, "Bo")
    sockets = [(ann.token, "a1"), ("nonsense", "x1"), (other.token, "o1"), (bo.token, "b1"), (ann.token, "")]
    assert await one.client.still_here(*sockets) == ["", "bad_token", "", "", "unknown"]
    assert [p.present for p in (await one.client.lobby(ann.room)).players] == [True, True]
    assert [p.present for p in (await one.client.lobby(other.room)).players] == [True]
    await one.client.act(ann.token, ask.RemovePlayer(bo.player))
    assert await one.client.still_here((bo.token, "b1"), (ann.token, "a1")) == ["removed", ""]
    assert (await refusal(one.client.still_here(*[(ann.token, "a1")] * 65)))[0] == "INVALID_ARGUMENT"


async def test_the_host_away_for_the_grace_is_followed_and_the_returning_one_is_a_player(
    quick: Worker, nc: bus.Bus, tables: TwinTables
) -> None:
    ann = await quick.client.create("Ann")
    bo = await quick.client.join(ann.room, "Bo")
    heard = await LobbyFrames().listen(nc, ann.room)
    await quick.client.here(ann.token, "a1")
    await quick.client.here(bo.token, "b1")
    await quick.client.gone(ann.token, "a1")
    await heard.until(lambda lobby: lobby.host == bo.player)
    await quick.client.here(ann.token, "a2")
    assert await refusal(quick.client.act(ann.token, ask.StartTable())) == ("PERMISSION_DENIED", "not_host")
    started = await quick.client.act(bo.token, ask.StartTable())
    assert started.table == tables.live[ann.room].table


async def test_an_old_sockets_late_close_leaves_the_player_present(one: Worker) -> None:
    ann = await one.client.create()
    await one.client.here(ann.token, "old")
    await one.client.here(ann.token, "new")
    await one.client.gone(ann.token, "old")
    assert (await one.client.lobby(ann.room)).players[0].present
    await one.client.gone(ann.token, "new")
    assert not (await one.client.lobby(ann.room)).players[0].present


async def test_a_room_with_nobody_in_it_leaves_nothing_behind(
    nats_url: str, new_redis: Callable[[], Any], nc: bus.Bus, tables: TwinTables
) -> None:
    url = new_redis().url
    async with rooms_worker(nats_url, url, tables, **QUICK) as one, rooms_worker(nats_url, url, tables, **QUICK):
        ann = await one.client.create("Ann", "request")
        heard = await LobbyFrames().listen(nc, ann.room)
        await one.client.act(ann.token, ask.AddBot())
        await one.client.here(ann.token)
        await one.client.act(ann.token, ask.StartTable())
        table = tables.live[ann.room].table
        await one.client.gone(ann.token)
        await heard.until(lambda lobby: not lobby.players)
        assert tables.closed == [(ann.room, table, "expired")]
        assert await refusal(one.client.lobby(ann.room)) == ("NOT_FOUND", "no_room")
        client = redis.asyncio.Redis.from_url(url)
        found: list[Any] = await client.keys("*")
        keys = [key for key in found if not key.startswith((b"probe:", b"workers:"))]
        left = {key: await client.pttl(key) for key in keys}
        await client.aclose()
        assert set(left) == {b"made:request Ann"}
        assert left[b"made:request Ann"] > 0
        again = await one.client.create("Ann", "request")
        assert again.token != ann.token


async def test_a_joiner_who_never_comes_leaves_the_list_and_is_back_with_their_token(
    nats_url: str, new_redis: Callable[[], Any], nc: bus.Bus, tables: TwinTables
) -> None:
    async with rooms_worker(nats_url, new_redis().url, tables, join_patience=0.3) as one:
        ann = await one.client.create()
        await one.client.here(ann.token)
        heard = await LobbyFrames().listen(nc, ann.room)
        bo = await one.client.join(ann.room, "Bo")
        joined = await heard.until(lambda lobby: len(lobby.players) == 2)
        await heard.until(lambda lobby: lobby.rev > joined.rev and [p.player for p in lobby.players] == [ann.player])
        await one.client.here(bo.token)
        await heard.until(lambda lobby: [p.player for p in lobby.players if p.present] == [ann.player, bo.player])


async def test_every_key_of_a_room_expires_by_itself(one: Worker, redis_url: str) -> None:
    ann = await one.client.create("Ann", "a request of its own")
    await one.client.here(ann.token)
    client = redis.asyncio.Redis.from_url(redis_url)
    assert 0 < await client.pttl(f"room:{ann.room}") <= 4_200_000
    assert 0 < await client.pttl("made:a request of its own Ann") <= 600_000
    await client.aclose()


async def test_start_opens_one_table_for_everybody_however_often_it_is_tapped(
    one: Worker, nc: bus.Bus, tables: TwinTables
) -> None:
    ann = await one.client.create()
    bo = await one.client.join(ann.room, "Bo")
    bot = (await one.client.act(ann.token, ask.AddBot())).players[-1].player
    heard = await LobbyFrames().listen(nc, ann.room)
    taps = await asyncio.gather(*(one.client.act(ann.token, ask.StartTable()) for _ in range(3)))
    assert {t.table for t in taps} == {tables.live[ann.room].table}
    assert tables.opened == [(ann.room, tables.live[ann.room].table, [ann.player, bo.player, bot])]
    lobby = await heard.until(lambda lobby: lobby.table is not None)
    assert lobby.table == tables.live[ann.room].table


async def test_a_table_that_no_engine_opens_leaves_the_lobby_as_it_was(one: Worker, tables: TwinTables) -> None:
    ann = await one.client.create()
    before = await one.client.lobby(ann.room)
    tables.away = True
    assert await refusal(one.client.act(ann.token, ask.StartTable())) == ("UNAVAILABLE", "engine_away")
    assert await one.client.lobby(ann.room) == before
    tables.away = False
    assert await refusal(one.client.act(ann.token, ask.StartTable("bridge"))) == ("INVALID_ARGUMENT", "unknown")
    assert (await one.client.act(ann.token, ask.StartTable())).table is not None


async def test_a_table_that_the_engine_had_already_is_the_rooms_table(one: Worker, tables: TwinTables) -> None:
    ann = await one.client.create()
    await tables.open(ann.room, "t-before", "snatch_solitaire", ann.player, [])
    assert (await one.client.act(ann.token, ask.StartTable())).table == "t-before"


async def test_names_stand_still_while_a_table_is_being_opened(one: Worker, tables: TwinTables) -> None:
    ann = await one.client.create()
    tables.hold = asyncio.Event()
    starting = asyncio.create_task(one.client.act(ann.token, ask.StartTable()))
    refused = ("FAILED_PRECONDITION", "table_live")
    await tables.asked.wait()
    assert await refusal(one.client.act(ann.token, ask.SetName("Zoe"))) == refused
    tables.hold.set()
    assert (await starting).table is not None


async def test_gateways_that_ask_whether_rooms_is_ready_are_no_calls_of_players(one: Worker) -> None:
    gateway = rooms_client.RoomsClient(f"127.0.0.1:{one.service.port}")
    gateway.start()
    await one.client.create()
    assert await gateway.ready() is None
    await gateway.stop()
    counted = [
        s.labels
        for m in one.service.registry.collect()
        for s in m.samples
        if s.name == "snatch_rooms_calls_total" and s.value
    ]
    assert counted == [{"call": "create", "answer": "ok"}]


async def test_bots_come_back_to_the_lobby_at_the_levels_they_were_set_to_at_the_table(
    one: Worker, nc: bus.Bus, tables: TwinTables
) -> None:
    ann = await one.client.create()
    bot = (await one.client.act(ann.token, ask.AddBot("easy"))).players[1].player
    table = (await one.client.act(ann.token, ask.StartTable())).table or ""
    heard = await LobbyFrames().listen(nc, ann.room)
    await nc.publish(subjects.TABLE_NEWS, news("closed", ann.room, "t0", bots={bot: "medium"}))
    await nc.publish(subjects.TABLE_NEWS, news("closed", ann.room, table, bots={bot: "hard"}))
    await heard.until(lambda lobby: lobby.table is None and lobby.players[1].bot == "hard")


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
async def test_bytes_that_are_no_message_are_refused_without_a_trace_in_the_log(
    one: Worker, method: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with rpc.channel(f"127.0.0.1:{one.service.port}") as channel:
        call: Any = channel.unary_unary(f"/{method.containing_service.full_name}/{method.name}")
        assert await refusal(call(b"\xff\xff\xff")) == ("INVALID_ARGUMENT", "bad_message")
    assert [r for r in caplog.records if r.levelname in ("ERROR", "WARNING")] == []


async def test_the_engines_news_reach_the_lobby(one: Worker, nc: bus.Bus, tables: TwinTables) -> None:
    ann = await one.client.create("Ann")
    bo, cy = await one.client.join(ann.room, "Bo"), await one.client.join(ann.room, "Cy")
    heard = await LobbyFrames().listen(nc, ann.room)
    table = (await one.client.act(ann.token, ask.StartTable())).table
    assert table is not None
    await nc.publish(subjects.TABLE_NEWS, news("host", ann.room, table, player=bo.player))
    await heard.until(lambda lobby: lobby.host == bo.player)
    await nc.publish(subjects.TABLE_NEWS, news("left", ann.room, table, player=cy.player))
    await heard.until(lambda lobby: [p.name for p in lobby.players] == ["Ann", "Bo"])
    await nc.publish(subjects.TABLE_NEWS, news("back", ann.room, table, player=cy.player))
    await heard.until(lambda lobby: [p.name for p in lobby.players] == ["Ann", "Bo", "Cy"] and lobby.rev > 5)
    await nc.publish(subjects.TABLE_NEWS, b"garbage")
    await nc.publish(subjects.TABLE_NEWS, news("closed", ann.room, "t0", why="host_left"))
    await nc.publish(subjects.TABLE_NEWS, news("closed", ann.room, table, why="host_left"))
    closed = await heard.until(lambda lobby: lobby.table is None and lobby.rev > 6)
    assert closed.notice == "host_left"
    tables.live.clear()
    again = await one.client.act(bo.token, ask.StartTable())
    assert again.table not in (None, table)
    assert again.notice is None


async def test_a_table_whose_end_nobody_heard_is_noticed(quick: Worker, nc: bus.Bus, tables: TwinTables) -> None:
    ann = await quick.client.create()
    heard = await LobbyFrames().listen(nc, ann.room)
    await quick.client.here(ann.token)
    await quick.client.act(ann.token, ask.StartTable())
    tables.live.clear()
    await heard.until(lambda lobby: lobby.table is None and lobby.rev > 3)


async def test_who_joins_while_a_table_is_live_is_listed(one: Worker) -> None:
    ann = await one.client.create()
    table = (await one.client.act(ann.token, ask.StartTable())).table
    bo = await one.client.join(ann.room, "Bo")
    lobby = await one.client.lobby(ann.room, bo.token)
    assert lobby.table == table
    assert lobby.players[-1].name == "Bo"


@pytest.mark.parametrize("secret", [None, "", "fifteen letters"])
def test_a_secret_that_is_missing_or_short_is_refused_at_start(
    secret: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SNATCH_SECRET", raising=False)
    if secret is not None:
        monkeypatch.setenv("SNATCH_SECRET", secret)
    with pytest.raises(ValidationError, match="SNATCH_SECRET"):
        RoomsSettings()
