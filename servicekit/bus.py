"""NATS, as every service connects to it."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import nats.errors
from nats.aio.client import Client, Srv
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import SlowConsumerError

from servicekit import logs
from servicekit.listening import Hear, Listeners, ListeningTransport
from servicekit.settings import Credentials

MAX_UNTAKEN = 1024 * 1024
"""Bytes written that NATS hasn't taken, beyond which who publishes waits."""
_NOT_IN_A_LINE = re.compile(r"[\s]")

OnError = Callable[[Exception], Awaitable[None]]
OnChange = Callable[[], Awaitable[None]]


class BusCounts(msgspec.Struct):
    """For metrics."""

    disconnects: int = 0
    reconnects: int = 0
    slow_consumers: int = 0
    errors: int = 0
    """All others."""


class Bus(Client):
    """A connection that several parts of a service may listen to."""

    def __init__(self) -> None:
        super().__init__()
        self.reconnect_listeners: list[Callable[[], None]] = []
        self.slow_listeners: list[Callable[[Subscription], None]] = []
        """Told which subscription dropped messages."""
        self.listeners = Listeners()
        self.counts = BusCounts()
        self.waits = 0
        """Times that a publish waited because NATS took nothing."""
        self._writing = False
        self._call_soon: Callable[[Callable[[], None]], object]
        """The loop's, from the first connection on: to ask for the running loop is a system call."""

    async def listen(self, subject: str, hear: Hear) -> Subscription:
        """Call `hear` with each message's subject and payload, as soon as it is read and in order.

        It must not wait.  End it by `unlisten`.
        """

        async def hear_late(message: Msg) -> None:
            hear(message.subject, message.data)  # a status, or who comes by nats-py's own way

        subscription = await self.subscribe(subject, cb=hear_late)
        # Nothing has come yet: the server hears of it when this task next waits.
        self.listeners.add(subscription._id, hear)
        return subscription

    async def unlisten(self, subscription: Subscription) -> None:
        """What is still on its way is nobody's.  No error if the connection is closed."""
        self.listeners.remove(subscription._id)
        if not self.is_closed:
            await subscription.unsubscribe()

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        """As nats-py's, without a future and a task's turn each: all of one turn of the loop is one write.

        Raises nats.errors.Error: the connection is closed, or away for so long that no more is kept.
        """
        if not self.is_connected or self.is_draining_pubs:
            await super().publish(subject, payload, reply, headers)
            return
        head = f"{subject} {reply}" if reply else subject
        if not subject or _NOT_IN_A_LINE.search(subject) or (reply and _NOT_IN_A_LINE.search(reply)):
            raise nats.errors.BadSubjectError
        if headers:
            lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
            if lines.count("\n") != len(headers):
                raise nats.errors.BadHeaderError(lines)
            block = f"NATS/1.0\r\n{lines}\r\n".encode()
            size = len(block) + len(payload)
            command = b"HPUB %b %d %d\r\n%b%b\r\n" % (head.encode(), len(block), size, block, payload)
        else:
            size = len(payload)
            command = b"PUB %b %d\r\n%b\r\n" % (head.encode(), size, payload)
        if size > self._max_payload:
            raise nats.errors.MaxPayloadError
        self._pending.append(command)
        self._pending_data_size += len(command)
        if not self._writing:
            self._writing = True
            self._call_soon(self._write_out)
        if self._pending_data_size > MAX_UNTAKEN or self._untaken() > MAX_UNTAKEN:
            self.waits += 1
            await self._flush_pending(force_flush=True)

    def unsent(self) -> int:
        """Bytes that were published and that NATS hasn't taken."""
        return self._pending_data_size + self._untaken()

    def _untaken(self) -> int:
        transport = self._transport
        return transport.waiting() if isinstance(transport, ListeningTransport) else 0

    def _write_out(self) -> None:
        """What one turn of the loop has published, at once; nats-py's flusher has it if NATS is slow or away."""
        self._writing = False
        if not self._pending or not self.is_connected or self._transport is None or self._untaken() > MAX_UNTAKEN:
            return
        pending, self._pending, self._pending_data_size = self._pending, [], 0
        try:
            self._transport.writelines(pending)
        except (OSError, RuntimeError):  # the connection broke just now; it goes out on the next one
            self._pending = pending + self._pending
            self._pending_data_size += sum(map(len, pending))

    async def _connect_to_server(self, s: Srv) -> None:
        self._call_soon = asyncio.get_running_loop().call_soon
        if self._transport is None and s.uri.scheme not in ("ws", "wss"):
            self._transport = ListeningTransport(self.listeners)
        await super()._connect_to_server(s)

    async def _process_pong(self) -> None:
        """The answer to whoever gave up on it is nobody's."""
        # nats-py's own gives it all the same, fails, and reads nothing more: for 3 s this process would be deaf.
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()

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
    credentials: Credentials | None = None,
) -> Bus:
    """Connect, and keep on trying for as long as the process lives.

    `credentials`: what servers that know their clients ask for.  Answers then come to inboxes of that user alone,
    so that a server can let each user hear its own.

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
            nc.counts.slow_consumers += 1
            for slow in list(nc.slow_listeners):
                slow(e.sub)
        else:
            nc.counts.errors += 1
        if on_error is not None:
            await on_error(e)

    async def disconnected() -> None:
        if not nc.is_closed:  # closing is no news
            nc.counts.disconnects += 1
            log.warning("nats is away")
        if on_disconnect is not None:
            await on_disconnect()

    async def reconnected() -> None:
        said.clear()
        nc.counts.reconnects += 1
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
    if credentials is not None:
        options |= credentials._asdict()
        options["inbox_prefix"] = f"_INBOX.{credentials.user}"
    await nc.connect(**options)
    return nc


async def barrier(nc: Client, timeout: float = 2.0) -> None:
    """Wait until the server has every SUB and PUB sent so far: one flush can overtake them, two can't.

    Raises nats.errors.TimeoutError (FlushTimeoutError) when NATS is away.
    """
    await nc.flush(max(1, round(timeout)))
    await nc.flush(max(1, round(timeout)))
