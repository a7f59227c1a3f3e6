"""NATS, as every service connects to it."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import Any

import nats.errors
from nats.aio.client import Client
from nats.aio.subscription import Subscription
from nats.errors import SlowConsumerError

from servicekit import logs

OnError = Callable[[Exception], Awaitable[None]]
OnChange = Callable[[], Awaitable[None]]


class Bus(Client):
    """A connection that several parts of a service may listen to."""

    def __init__(self) -> None:
        super().__init__()
        self.reconnect_listeners: list[Callable[[], None]] = []
        self.slow_listeners: list[Callable[[Subscription], None]] = []
        """Told which subscription dropped messages."""

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        """nats-py's own looks at each character of each name: a sixth of what taking partitions over cost."""
        found = {}
        for line in raw.decode("utf-8", "replace").split("\r\n"):
            name, colon, value = line.partition(":")
            if colon:
                found[name.strip()] = value.strip()
        return found

    async def close(self) -> None:
        """What was published goes out first; while NATS is away it is dropped."""
        if self.is_connected:
            with contextlib.suppress(nats.errors.Error):
                await self.flush(1)
        else:
            self._pending.clear()
            self._pending_data_size = 0
        try:
            await super().close()
        except (OSError, RuntimeError) as error:
            # The connection broke and nobody has noticed yet; uvloop's says so by a RuntimeError.
            logs.logger("servicekit.bus").warning("nats went away before it was closed", error=repr(error))


async def connect(
    url: str,
    name: str,
    *,
    on_error: OnError | None = None,
    on_disconnect: OnChange | None = None,
    on_reconnect: OnChange | None = None,
) -> Bus:
    """Connect, and keep on trying for as long as the process lives.

    `on_error` hears of slow consumers (messages were dropped: get a snapshot).
    `url` may name several servers, comma-separated: any of one cluster will do.
    What is published while disconnected is buffered up to 2 MiB and sent later.
    """
    log = logs.logger("servicekit.bus")
    nc = Bus()
    said: set[str] = set()

    async def error(e: Exception) -> None:
        # While it is away it is tried ten times a second: each error is said once.
        if nc.is_connected or repr(e) not in said:
            log.warning("nats", error=repr(e))
        said.add(repr(e))
        if isinstance(e, SlowConsumerError):
            for slow in list(nc.slow_listeners):
                slow(e.sub)
        if on_error is not None:
            await on_error(e)

    async def disconnected() -> None:
        if not nc.is_closed:  # closing is no news
            log.warning("nats is away")
        if on_disconnect is not None:
            await on_disconnect()

    async def reconnected() -> None:
        said.clear()
        log.info("nats is back")
        for back in list(nc.reconnect_listeners):
            back()
        if on_reconnect is not None:
            await on_reconnect()

    servers = [u.strip() for u in url.split(",") if u.strip()]
    # Every process begins elsewhere, and goes on down its list: never first to the server that it just lost.
    random.shuffle(servers)
    options: dict[str, Any] = {
        "servers": servers,
        "dont_randomize": True,
        "name": name,
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": 0.1,
        "connect_timeout": 2,
        "ping_interval": 1,  # a server that is stopped is left after 3 s
        "max_outstanding_pings": 2,
        "allow_reconnect": True,
        "error_cb": error,
        "disconnected_cb": disconnected,
        "reconnected_cb": reconnected,
    }
    await nc.connect(**options)
    return nc


async def barrier(nc: Client, timeout: float = 2.0) -> None:
    """Wait until the server has every SUB and PUB sent so far: one flush can overtake them, two can't.

    Raises nats.errors.TimeoutError (FlushTimeoutError) when NATS is away.
    """
    await nc.flush(max(1, round(timeout)))
    await nc.flush(max(1, round(timeout)))
