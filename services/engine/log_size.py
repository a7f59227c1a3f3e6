"""How large the log is, how large it may become, and how many copies of it are up to date: for operators alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from servicekit import logs
from services.engine.stream import StreamAway

EVERY = 15.0
"""Seconds between two questions."""


class LogSize(NamedTuple):
    """What the stream says of itself."""

    bytes: int = 0
    bytes_most: int = 0
    """Beyond it no record is taken; 0: there is no bound."""
    records: int = 0
    copies: int = 0
    """Up to date, the leader's among them."""
    copies_wanted: int = 0


def size_of(info: dict[str, Any]) -> LogSize:
    """Out of JetStream's answer about a stream.  A single server says nothing of copies: it has the one.

    >>> size_of({"config": {"max_bytes": -1, "num_replicas": 1}, "state": {"bytes": 9, "messages": 2}})
    LogSize(bytes=9, bytes_most=0, records=2, copies=1, copies_wanted=1)
    """
    config, state, cluster = info["config"], info["state"], info.get("cluster") or {}
    copies = 1 if not cluster else bool(cluster.get("leader")) + sum(c["current"] for c in cluster.get("replicas", ()))
    return LogSize(state["bytes"], max(0, config["max_bytes"]), state["messages"], copies, config["num_replicas"])


class LogSizes:
    """Asks now and then, until `stop`; `last` is the last answer, of which no copy is left while there is none."""

    def __init__(self, ask: Callable[[], Awaitable[dict[str, Any]]], every: float = EVERY) -> None:
        """`ask`: as `Stream.info`."""
        self.last = LogSize()
        self._ask, self._every = ask, every
        self._task: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="log-size")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def look(self) -> None:
        try:
            self.last = size_of(await self._ask())
        except StreamAway:
            self.last = self.last._replace(copies=0)

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except (KeyError, TypeError, ValueError) as error:
                self._log.warning("the log's size could not be read", why=repr(error))
            await asyncio.sleep(self._every)
