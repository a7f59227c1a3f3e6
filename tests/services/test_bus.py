"""The connection to NATS ends in peace, whatever has become of NATS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
import structlog
import uvloop

from servicekit import bus
from tests.servers import NatsServer

New = Callable[[], NatsServer]


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_bus_is_closed_while_nats_is_away_and_words_wait_for_it(
    new_nats: New, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    nats = new_nats()

    async def speak_and_close() -> None:
        away = asyncio.Event()

        async def note() -> None:
            away.set()

        nc = await bus.connect(nats.url, "test", on_disconnect=note)
        nats.stop()
        await away.wait()
        await nc.publish("a.word", b"never heard")
        await nc.close()
        assert nc.is_closed

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(speak_and_close())


async def test_an_outage_is_said_once_however_often_nats_is_tried(new_nats: New) -> None:
    nats = new_nats()
    refused = 0
    enough = asyncio.Event()

    async def count(error: Exception) -> None:
        nonlocal refused
        refused += isinstance(error, ConnectionRefusedError)
        if refused == 3:
            enough.set()

    with structlog.testing.capture_logs() as said:
        nc = await bus.connect(nats.url, "test", on_error=count)
        nats.stop()
        await enough.wait()
        await nc.close()
    assert sum("ConnectionRefused" in line.get("error", "") for line in said) == 1
