"""A browser's end of a WebSocket, for tests: what it was sent, in order, and a wait for what is to come."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

WITHIN = 20.0


class Phone:
    """Connect, say hello, wait for messages by their tag; `seen` keeps all of them."""

    def __init__(self, url: str, **options: Any) -> None:
        self._url = url
        self._options = options
        self._ws: ClientConnection | None = None
        self.seen: list[dict[str, Any]] = []

    async def __aenter__(self) -> Phone:
        self._ws = await connect(self._url, **self._options)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ws is not None:
            await self._ws.close()

    @property
    def ws(self) -> ClientConnection:
        assert self._ws is not None
        return self._ws

    async def send(self, message: Any) -> None:
        """A dict as JSON, str and bytes as they are."""
        await self.ws.send(message if isinstance(message, str | bytes) else json.dumps(message))

    async def hello(self, token: str, tab: int = 1, v: int = 1) -> None:
        await self.send({"t": "hello", "v": v, "token": token, "tab": tab})

    async def move(self, id: int, m: dict[str, Any] | None = None, basis: int = 0) -> None:
        await self.send({"t": "move", "id": id, "basis": basis, "m": m or {"t": "turn"}})

    async def next(self) -> dict[str, Any]:
        """The next message.  Raises websockets' ConnectionClosed at the end."""
        async with asyncio.timeout(WITHIN):
            message: dict[str, Any] = json.loads(await self.ws.recv())
        self.seen.append(message)
        return message

    async def until(self, tag: str, **fields: Any) -> dict[str, Any]:
        """Read on to the first message with this tag and these fields."""
        while True:
            message = await self.next()
            if message["t"] == tag and all(message.get(k) == v for k, v in fields.items()):
                return message

    async def closed(self) -> int:
        """Read to the end; the close code."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self.next()
        assert self.ws.close_code is not None
        return self.ws.close_code

    async def answered(self, id: int) -> dict[str, Any]:
        """Read on to the table frame with a step that shows this move."""
        while True:
            message = await self.next()
            if message["t"] == "table" and any(s.get("id") == id for s in message["steps"]):
                return message

    def tags(self) -> list[str]:
        return [m["t"] for m in self.seen]
