"""What docs/operations.md tells operators to do with NATS' passwords and with a Redis that is lost, done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis.asyncio
from redis.exceptions import ReadOnlyError

from servicekit import bus
from servicekit.settings import Credentials
from tests.deployed import Clients
from tests.servers import NatsServer, RedisServer

pytestmark = pytest.mark.timeout(120)

OLD, NEW = Credentials("engine", "of before"), Credentials("engine", "of now")


def knows(folder: Path, who: Credentials) -> NatsServer:
    folder.mkdir(exist_ok=True)
    return NatsServer(folder, ("--user", who.user, "--pass", who.password))


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[NatsServer]]:
    servers = [knows(tmp_path / "1", OLD), knows(tmp_path / "2", OLD)]
    for server in servers:
        server.start()
    yield servers
    for server in servers:
        server.stop()


async def change(servers: list[NatsServer], number: int) -> None:
    """That one starts anew on its port, as its pod does, and knows the new password."""
    servers[number].stop()
    after = knows(servers[number].folder, NEW)
    after.port, servers[number] = servers[number].port, after
    await asyncio.to_thread(after.start)


async def at(nc: bus.Bus, server: NatsServer) -> None:
    """Until it is connected there."""
    while not (nc.is_connected and nc.connected_url and nc.connected_url.port == server.port):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    await nc.flush()


async def test_while_nats_passwords_change_a_server_at_a_time_every_service_finds_one_that_takes_it(
    two: list[NatsServer],
) -> None:
    url = ",".join(server.url for server in two)
    async with asyncio.timeout(60):
        before = [await bus.connect(url, "before", credentials=OLD) for _ in range(4)]
        # A new pod that starts too early waits, and nobody is sent to it.
        early = asyncio.create_task(bus.connect(url, "early", credentials=NEW))
        await change(two, 1)
        for nc in before:  # wherever they were
            await at(nc, two[0])
        now = await early
        await at(now, two[1])
        for nc in before:
            await nc.close()
        await change(two, 0)
        late = await bus.connect(url, "late", credentials=NEW)
        for nc in (now, late):
            await nc.flush()
            await nc.close()


async def test_a_redis_that_copied_the_lost_one_takes_its_place_for_good(tmp_path: Path) -> None:
    clients = Clients(tmp_path / "deployed")
    follows = str(clients.secrets / "redis_copy_of")
    for name in ("first", "copy"):
        (tmp_path / name).mkdir()
    first = RedisServer(tmp_path / "first", clients.redis, keeps=True)
    first.start()
    following = (follows, "--replicaof", "127.0.0.1", str(first.port), "--repl-diskless-sync-delay", "0")
    copy = RedisServer(tmp_path / "copy", (*following, *clients.redis), keeps=True)
    copy.start()
    alone = RedisServer(tmp_path / "copy", (follows, *clients.redis), keeps=True)
    rooms = {"username": "rooms", "password": clients.password("redis_rooms"), "decode_responses": True}
    try:
        async with (
            redis.asyncio.from_url(first.url, **rooms) as at_first,
            redis.asyncio.from_url(copy.url, **rooms) as at_copy,
        ):
            await at_first.set("room:ABCDE", "a lobby")
            async with asyncio.timeout(60):
                while await at_copy.get("room:ABCDE") != "a lobby":  # noqa: ASYNC110 - it is asked for, not told
                    await asyncio.sleep(0.02)
            with pytest.raises(ReadOnlyError):
                await at_copy.set("room:ABCDE", "somebody mistook it for the first")
        first.stop()
        copy.stop()
        alone.start()
        async with redis.asyncio.from_url(alone.url, **rooms) as at_copy:
            assert await at_copy.get("room:ABCDE") == "a lobby"
            await at_copy.set("room:ABCDE", "the lobby, changed")
    finally:
        for server in (first, copy, alone):
            server.stop()
