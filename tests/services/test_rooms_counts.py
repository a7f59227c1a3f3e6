"""What rooms counts of Redis, for operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.services.rooms_client import TwinTables, Worker, refusal, rooms_worker


async def test_a_redis_that_goes_and_comes_back_is_counted(nats_url: str, new_redis: Callable[[], Any]) -> None:
    server = new_redis()
    async with rooms_worker(nats_url, server.url, TwinTables()) as one:
        ann = await one.client.create()
        assert told(one, "redis_seconds_count") > 0
        assert told(one, "redis_returns_total") == 0, "the first time is no return"
        server.stop()
        assert await refusal(one.client.lobby(ann.room)) == ("UNAVAILABLE", "lobby_away")
        assert told(one, "redis_failures_total", kind="connection") > 0
        assert told(one, "redis_away") == 1
        server.start()
        assert (await one.client.create()).room
        assert told(one, "redis_away") == 0
        assert told(one, "redis_returns_total") == 1


async def test_a_redis_that_is_away_from_the_start_is_told_as_one_that_went(
    nats_url: str, new_redis: Callable[[], Any]
) -> None:
    """Whoever starts rooms anew meanwhile must not end the alert by it."""
    server = new_redis()
    server.stop()
    async with rooms_worker(nats_url, server.url, TwinTables()) as one:
        assert await refusal(one.client.create()) == ("UNAVAILABLE", "lobby_away")
        assert told(one, "redis_away") == 1
        server.start()
        assert (await one.client.create()).room
        assert told(one, "redis_away") == 0
        assert told(one, "redis_away_seconds_total") > 0


def told(worker: Worker, name: str, **labels: str) -> float:
    value = worker.service.registry.get_sample_value(f"snatch_rooms_{name}", labels)
    assert value is not None
    return value
