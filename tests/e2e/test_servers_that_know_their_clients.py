"""NATS and Redis as they are deployed: each service may do what it does, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio

from servicekit import bus
from servicekit.settings import Credentials
from tests.deployed import Clients
from tests.e2e.inprocess import Stack, stack_in_process
from tests.e2e.party import must, party, until, within
from tests.servers import NatsServer
from wire import client_in, subjects

pytestmark = pytest.mark.timeout(180)

ROOM = "ABCDE"


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Clients:
    return Clients(tmp_path_factory.mktemp("deployed"))


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory, clients: Clients) -> Iterator[NatsServer]:
    """A NATS server that knows its clients."""
    server = NatsServer(tmp_path_factory.mktemp("nats"), clients.nats)
    server.start()
    yield server
    server.stop()


async def test_a_hand_with_a_bot_and_a_tv_outlives_its_engine_without_anything_being_denied(
    tmp_path: Path, clients: Clients
) -> None:
    async with stack_in_process(tmp_path, engines=2, clients=clients) as stack:
        async with party(stack) as people:
            ann = await people.host("Ann")
            await within(ann.act(client_in.AddBot("hard")))
            tv = await people.tv()
            await people.start(ann)
            await until(tv, lambda t: t.screen.table is not None)
            await must(ann, client_in.SetOptions({"length": "one"}))
            await must(ann, client_in.Deal())
            await people.live()
            await stack.engines[0].stop()
            await people.play(ann)
            for screen in (ann, tv):
                await until(screen, lambda s: s.screen.phase() == "standings")
            await must(ann, client_in.Leave())
        assert "violation" not in (stack.nats.folder / "nats.log").read_text().lower()
        assert await denied_by_redis(stack, clients) == []


async def denied_by_redis(stack: Stack, clients: Clients) -> list[str]:
    """What somebody was not let do.  Older and newer clients name themselves, which is neither needed nor allowed."""
    async with redis.asyncio.from_url(
        stack.redis.url, username="operator", password=clients.password("redis_operator"), decode_responses=True
    ) as operator:
        entries: list[dict[str, Any]] = await operator.acl_log()
        found = [str(entry["object"]) for entry in entries]
    return [what for what in found if not what.startswith("client")]


def user(clients: Clients, name: str) -> Credentials:
    return Credentials(name, clients.password(f"nats_{name}"))


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("gateway", subjects.log(1)),
        ("gateway", subjects.table(ROOM)),
        ("gateway", "$KV.own.p.1"),
        ("gateway", "$JS.API.STREAM.DELETE.LOG"),
        ("watch", subjects.lobby(ROOM)),
        ("rooms", subjects.TABLE_NEWS),
        ("rooms", subjects.log(1)),
        ("bots", subjects.seat(ROOM, 1)),
        ("engine", "$JS.API.STREAM.DELETE.LOG"),
        ("engine", "$JS.API.STREAM.CREATE.LOG"),
        ("engine", subjects.lobby(ROOM)),
        ("setup", subjects.log(1)),
        ("setup", "$JS.API.STREAM.DELETE.LOG"),
        ("observer", subjects.log(1)),
        ("observer", "$JS.API.STREAM.PURGE.LOG"),
    ],
)
async def test_a_user_cannot_say(known: NatsServer, clients: Clients, name: str, subject: str) -> None:
    assert "permissions violation for publish" in await answer(known, user(clients, name), publish=subject)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("gateway", subjects.log(1)),
        ("gateway", "_INBOX.engine.>"),
        ("gateway", "_INBOX.>"),
        ("gateway", ">"),
        ("watch", subjects.seat(ROOM, 1)),
        ("rooms", subjects.room_frames(ROOM)),
        ("bots", subjects.log(1)),
        ("bots", subjects.lobby(ROOM)),
        ("setup", subjects.room_frames(ROOM)),
        ("observer", subjects.seat(ROOM, 1)),
    ],
)
async def test_a_user_cannot_hear(known: NatsServer, clients: Clients, name: str, subject: str) -> None:
    assert "permissions violation for subscription" in await answer(known, user(clients, name), subscribe=subject)


async def test_a_tvs_server_hears_no_seat_however_wide_it_listens(known: NatsServer, clients: Clients) -> None:
    engine = await bus.connect(known.url, "engine", credentials=user(clients, "engine"))
    watch = await bus.connect(known.url, "watch", credentials=user(clients, "watch"))
    heard: asyncio.Queue[str] = asyncio.Queue()
    try:
        await watch.listen(subjects.room_frames(ROOM), lambda subject, _: heard.put_nowait(subject))
        await bus.barrier(watch)
        await engine.publish(subjects.seat(ROOM, 1), b"for one alone")
        await engine.publish(subjects.table(ROOM), b"for all")
        assert await within(heard.get(), 10) == subjects.table(ROOM)
    finally:
        await engine.close()
        await watch.close()


async def test_nobody_comes_in_without_a_password(known: NatsServer, clients: Clients) -> None:
    for who in (None, Credentials("gateway", "guessed"), Credentials("operator", clients.password("nats_engine"))):
        assert "Authorization" in await refusal(known, who)


async def answer(server: NatsServer, who: Credentials, *, publish: str = "", subscribe: str = "") -> str:
    """The server's word on it, as it tells the client."""
    told: asyncio.Queue[str] = asyncio.Queue()

    async def hear(error: Exception) -> None:
        told.put_nowait(str(error))

    connection = await bus.connect(server.url, "test", on_error=hear, credentials=who)
    try:
        if publish:
            await connection.publish(publish, b"{}")
        else:
            await connection.subscribe(subscribe)
        return str(await within(told.get(), 10))
    finally:
        await connection.close()


async def refusal(server: NatsServer, who: Credentials | None) -> str:
    """Why one was not let in, who goes on to knock."""
    told: asyncio.Queue[str] = asyncio.Queue()

    async def hear(error: Exception) -> None:
        told.put_nowait(repr(error))

    knocking = asyncio.create_task(bus.connect(server.url, "test", on_error=hear, credentials=who))
    try:
        return str(await within(told.get(), 10))
    finally:
        knocking.cancel()
        await asyncio.gather(knocking, return_exceptions=True)
