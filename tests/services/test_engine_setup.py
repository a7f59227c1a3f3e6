"""Setting NATS up: done once, done again without harm, and what can't be is said at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import nats.js.errors
import pytest

from servicekit import bus
from services.engine.board import KV_STREAM
from services.engine.settings import SetupSettings
from services.engine.setup import set_up
from tests.servers import NatsServer
from wire import subjects

New = Callable[[], NatsServer]


async def test_done_again_it_changes_nothing_but_the_size(new_nats: New) -> None:
    url = new_nats().url
    await set_up(SetupSettings(nats_url=url, log_max_bytes=64 * 1024**2))
    nc = await bus.connect(url, "test")
    js = nc.jetstream()
    before = [(await js.stream_info(name)).config for name in (subjects.LOG_STREAM, KV_STREAM)]
    await set_up(SetupSettings(nats_url=url, log_max_bytes=32 * 1024**2))
    after = [(await js.stream_info(name)).config for name in (subjects.LOG_STREAM, KV_STREAM)]
    assert after[0].max_bytes == 32 * 1024**2
    after[0].max_bytes = before[0].max_bytes
    assert after == before
    await nc.close()


async def test_three_copies_on_a_server_that_is_alone_are_refused_at_once(new_nats: New) -> None:
    with pytest.raises(nats.js.errors.ServerError, match="replicas > 1 not supported"):
        async with asyncio.timeout(10):
            await set_up(SetupSettings(nats_url=new_nats().url, log_replicas=3))
