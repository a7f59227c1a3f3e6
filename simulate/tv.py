"""A TV: watches a room by its code and keeps the table's picture."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from random import Random

import msgspec

from simulate.findings import Findings
from simulate.link import Link
from simulate.phone import SCHEMA
from simulate.screen import Screen
from simulate.watchers import Unwatched, Watcher
from wire import client_in
from wire import client_out as out

_decode = msgspec.json.Decoder(out.ServerMessage).decode


class Tv:
    """`start` connects, and again when the socket is lost; `screen` follows."""

    def __init__(self, url: str, room: str, found: Findings, watcher: Watcher | None = None) -> None:
        self._room, self._found = room, found
        self.screen = Screen()
        self.watcher: Watcher = watcher or Unwatched()
        self._link = Link(url.rstrip("/").replace("http", "ws", 1) + "/tv", self, Random(room))
        self._until: list[tuple[Callable[[Tv], bool], asyncio.Future[None]]] = []

    def start(self) -> None:
        self._link.start()

    def stop(self) -> None:
        self._link.stop()

    async def until(self, holds: Callable[[Tv], bool]) -> None:
        """Wait until what it was told makes this true."""
        if holds(self):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (holds, future)
        self._until.append(entry)
        try:
            await future
        finally:
            self._until.remove(entry)

    # ---- the socket: LinkListener ----

    def hello(self) -> bytes:
        return msgspec.json.encode(client_in.Watch(out.VERSION, self._room))

    def owed(self) -> bool:
        return self.screen.table is not None and self.screen.table.phase == "live"

    def down(self) -> None:
        self._found.reconnects += 1
        self.watcher.down(time.monotonic())

    def ended(self, code: int, reason: str) -> None:
        self._found.errors[f"tv closed {code}"] += 1

    def heard(self, data: bytes) -> bool:
        try:
            message = _decode(data)
            if isinstance(message, out.Snapshot):
                self.screen.snapshot(message)
                self.watcher.back(time.monotonic())
            elif isinstance(message, out.TableFrame):
                self.screen.frame(message)
            elif isinstance(message, out.Error):
                self._found.errors[f"tv {message.code}"] += 1
        except msgspec.ValidationError as error:
            self._found.check(SCHEMA, False, f"TV: {error}: {data[:300]!r}")
            return True
        self._found.check(SCHEMA, True, "")
        self._found.check("a TV sees no cards of a seat", getattr(self.screen.view, "mine", None) is None, self._room)
        for holds, future in list(self._until):
            if not future.done() and holds(self):
                future.set_result(None)
        return not isinstance(message, out.Pong | out.Error)
