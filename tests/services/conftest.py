"""Real servers for the services' tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.servers import NatsServer, RedisServer


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One JetStream server for the whole session: use rooms, streams and buckets of your own."""
    server = NatsServer(tmp_path_factory.mktemp("nats"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
def new_nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], NatsServer]]:
    """Start a server of one's own, as often as wanted; all end with the test."""
    servers: list[NatsServer] = []

    def start() -> NatsServer:
        server = NatsServer(tmp_path_factory.mktemp("nats"))
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Valkey for the whole session: use rooms of your own."""
    server = RedisServer(tmp_path_factory.mktemp("valkey"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
def new_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], RedisServer]]:
    """Start a Valkey of one's own, as often as wanted; all end with the test."""
    servers: list[RedisServer] = []

    def start() -> RedisServer:
        server = RedisServer(tmp_path_factory.mktemp("valkey"))
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()
