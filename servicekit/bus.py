"""NATS, as every service connects to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import nats
from nats.aio.client import Client

from servicekit import logs


async def connect(
    url: str,
    name: str,
    *,
    on_error: Callable[[Exception], Awaitable[None]] | None = None,
    on_disconnect: Callable[[], Awaitable[None]] | None = None,
    on_reconnect: Callable[[], Awaitable[None]] | None = None,
) -> Client:
    """Connect, and keep on trying for as long as the process lives.

    `on_error` hears of slow consumers (messages were dropped: get a snapshot).
    What is published while disconnected is buffered up to 2 MiB and sent later.
    """
    log = logs.logger("servicekit.bus")

    async def error(e: Exception) -> None:
        log.warning("nats", error=repr(e))
        if on_error is not None:
            await on_error(e)

    async def disconnected() -> None:
        log.warning("nats is away")
        if on_disconnect is not None:
            await on_disconnect()

    async def reconnected() -> None:
        log.info("nats is back")
        if on_reconnect is not None:
            await on_reconnect()

    options: dict[str, Any] = {
        "servers": [u.strip() for u in url.split(",")],
        "name": name,
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": 0.1,
        "connect_timeout": 2,
        "ping_interval": 2,
        "max_outstanding_pings": 2,
        "allow_reconnect": True,
        "error_cb": error,
        "disconnected_cb": disconnected,
        "reconnected_cb": reconnected,
    }
    return await nats.connect(**options)


async def barrier(nc: Client) -> None:
    """Wait until the server has every SUB and PUB sent so far: one flush can overtake them, two can't."""
    await nc.flush()
    await nc.flush()
