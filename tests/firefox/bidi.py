"""WebDriver BiDi, as much of it as a hand of cards takes.

The browsers' common way to be driven: Firefox speaks it itself, so that no driver is needed beside it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from websockets.asyncio.client import ClientConnection, connect


class Failed(Exception):
    """The browser's words."""


class Bidi:
    """One session.  Commands may overlap; events go to who asked for them."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._heard: dict[str, Callable[[dict[str, Any]], None]] = {}

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Its result.  Raises Failed."""
        number = next(self._ids)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        result: dict[str, Any] = await answer
        return result

    async def hear(self, event: str, heard: Callable[[dict[str, Any]], None]) -> None:
        """From now on."""
        self._heard[event] = heard
        await self.send("session.subscribe", events=[event])

    async def _read(self) -> None:
        async for text in self._socket:
            told = json.loads(text)
            if told["type"] == "event":
                if (heard := self._heard.get(told["method"])) is not None:
                    heard(told["params"])
                continue
            answer = self._asked.pop(told["id"])
            if answer.cancelled():
                continue
            if told["type"] == "success":
                answer.set_result(told["result"])
            else:
                answer.set_exception(Failed(f"{told['error']}: {told['message']}"))


@asynccontextmanager
async def session(address: str) -> AsyncIterator[Bidi]:
    """`ws://…`, as the browser said it."""
    async with connect(f"{address}/session", max_size=None) as socket:
        bidi = Bidi(socket)
        reading = asyncio.create_task(bidi._read())
        try:
            await bidi.send("session.new", capabilities={})
            yield bidi
            await bidi.send("session.end")
        finally:
            reading.cancel()


class Tab:
    """One page of its own size."""

    def __init__(self, bidi: Bidi, context: str) -> None:
        self._bidi, self._context = bidi, context
        self.faults: list[str] = []
        """Errors of scripts that nobody caught."""

    @staticmethod
    async def open(bidi: Bidi, size: tuple[int, int]) -> Tab:
        made = await bidi.send("browsingContext.create", type="tab")
        tab = Tab(bidi, made["context"])
        width, height = size
        await bidi.send(
            "browsingContext.setViewport",
            context=tab._context,
            viewport={"width": width, "height": height},
            devicePixelRatio=2,
        )
        await bidi.hear("log.entryAdded", tab._logged)
        return tab

    def _logged(self, entry: dict[str, Any]) -> None:
        if entry["level"] == "error" and entry["type"] == "javascript":
            self.faults.append(str(entry["text"]))

    async def goto(self, url: str) -> None:
        await self._bidi.send("browsingContext.navigate", context=self._context, url=url, wait="complete")

    async def call(self, function: str, *arguments: Any) -> Any:
        """What this function of the page's, given as its text, returns or resolves to: anything that JSON holds."""
        told = await self._bidi.send(
            "script.callFunction",
            functionDeclaration=f"async (args) => JSON.stringify(await ({function})(...JSON.parse(args)) ?? null)",
            arguments=[{"type": "string", "value": json.dumps(arguments)}],
            target={"context": self._context},
            awaitPromise=True,
        )
        if told["type"] == "exception":
            raise Failed(told["exceptionDetails"]["text"])
        return json.loads(told["result"]["value"])

    async def act(self, source: str, *actions: dict[str, Any], kind: str = "pointer") -> None:
        """By a finger or a key, as input devices do; what is down stays down until it is let go."""
        device: dict[str, Any] = {"type": kind, "id": source, "actions": list(actions)}
        if kind == "pointer":
            device["parameters"] = {"pointerType": "touch"}
        await self._bidi.send("input.performActions", context=self._context, actions=[device])

    async def type(self, text: str) -> None:
        keys = [{"type": move, "value": key} for key in text for move in ("keyDown", "keyUp")]
        await self.act("keys", *keys, kind="key")

    async def shot(self) -> str:
        """A picture, in base 64."""
        told = await self._bidi.send("browsingContext.captureScreenshot", context=self._context)
        return cast(str, told["data"])
