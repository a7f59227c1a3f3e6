"""A TV: watches a room by its code and keeps the table's picture."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from simulate.findings import Findings
from simulate.phone import SCHEMA
from simulate.screen import Screen
from wire import client_in
from wire import client_out as out

_decode = msgspec.json.Decoder(out.ServerMessage).decode


class Tv:
    """`start` connects, and again when the socket is lost; `screen` follows."""

    def __init__(self, url: str, room: str, found: Findings) -> None:
        self._url = url.rstrip("/").replace("http", "ws", 1) + "/tv"
        self._room, self._found = room, found
        self.screen = Screen()
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def until(self, holds: Callable[[Tv], bool]) -> None:
        """Wait until what it was told makes this true."""
        async with self._changed:
            await self._changed.wait_for(lambda: holds(self))

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(ConnectionClosed, OSError, InvalidHandshake, TimeoutError):
                async with connect(self._url, compression=None, proxy=None, max_queue=256, open_timeout=20) as socket:
                    await socket.send(msgspec.json.encode(client_in.Watch(out.VERSION, self._room)), text=True)
                    async for data in socket:
                        await self._take(data)
            self._found.reconnects += 1
            await asyncio.sleep(0.5)

    async def _take(self, data: str | bytes) -> None:
        try:
            message = _decode(data)
            if isinstance(message, out.Snapshot):
                self.screen.snapshot(message)
            elif isinstance(message, out.TableFrame):
                self.screen.frame(message)
            elif isinstance(message, out.Error):
                self._found.errors[f"tv {message.code}"] += 1
        except msgspec.ValidationError as error:
            self._found.check(SCHEMA, False, f"TV: {error}: {data[:300]!r}")
            return
        self._found.check(SCHEMA, True, "")
        self._found.check("a TV sees no cards of a seat", getattr(self.screen.view, "mine", None) is None, self._room)
        async with self._changed:
            self._changed.notify_all()
