"""Real servers for the services' tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from servicekit import bus
from tests.servers import NatsServer, RedisServer
from tests.services.engine_stack import EngineStack

S = TypeVar("S", NatsServer, RedisServer)


@contextmanager
def _as_many_as_wanted(kind: type[S], folders: pytest.TempPathFactory) -> Iterator[Callable[[], S]]:
    servers: list[S] = []

    def start() -> S:
        server = kind(folders.mktemp(kind.__name__))
        server.start()
        servers.append(server)
        return server

    try:
        yield start
    finally:
        for server in servers:
            server.stop()


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One JetStream server for the whole session: use rooms, streams and buckets of your own."""
    with _as_many_as_wanted(NatsServer, tmp_path_factory) as start:
        yield start().url


@pytest.fixture
def new_nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], NatsServer]]:
    """Start a server of one's own, as often as wanted; all end with the test."""
    with _as_many_as_wanted(NatsServer, tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Valkey for the whole session: use rooms of your own."""
    with _as_many_as_wanted(RedisServer, tmp_path_factory) as start:
        yield start().url


@pytest.fixture
def new_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], RedisServer]]:
    """Start a Valkey of one's own, as often as wanted; all end with the test."""
    with _as_many_as_wanted(RedisServer, tmp_path_factory) as start:
        yield start


@pytest.fixture
async def nc(nats_url: str) -> AsyncIterator[bus.Bus]:
    """A connection of the test's own to the session's NATS."""
    connection = await bus.connect(nats_url, "test")
    yield connection
    await connection.close()


@pytest.fixture
async def stack(new_nats: Callable[[], NatsServer]) -> AsyncIterator[EngineStack]:
    """Engines of the test's own, none of them started yet, on a NATS of its own."""
    stack = await EngineStack(new_nats().url).begin()
    yield stack
    await stack.end()
