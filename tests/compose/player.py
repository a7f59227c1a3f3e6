"""A player and a TV as strangers would write them: HTTP, a WebSocket, and docs/protocol.md.

Only the game's own view and mind are borrowed from this side, to play a hand by its rules.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from types import TracebackType
from typing import Any, Self

import httpx
import msgspec
from websockets.asyncio.client import ClientConnection, connect

from games.snatch_solitaire.bot import mind
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.messages import PublicEvent, View

_event = msgspec.json.Decoder(PublicEvent)


def socket_url(url: str, path: str) -> str:
    return url.replace("http", "ws", 1) + path


@dataclass
class Shown:
    """What a screen holds: the last lobby, the table, the game's view, and all that came, in order."""

    seat: int | None = None
    lobby: dict[str, Any] = field(default_factory=dict)
    phase: str = ""
    seq: int = 0
    view: View = field(default_factory=lambda: View(0, [], []))
    answered: int = 0
    refused: list[str] = field(default_factory=list)
    got: list[str] = field(default_factory=list)
    """Every message, as it came."""
    outcome: dict[str, Any] | None = None

    def take(self, text: str) -> None:
        self.got.append(text)
        message = json.loads(text)
        kind = message["t"]
        if kind == "lobby":
            self.lobby = message
        elif kind == "snapshot":
            self._start(message)
        elif kind in ("table", "seat"):
            for step in message["steps"]:
                self._step(kind, step)
            self.seq = message["seq"]

    def _start(self, message: dict[str, Any]) -> None:
        self.seat = message["you"]["seat"] if message.get("you") else None
        self.phase = message["table"]["phase"]
        self.seq = message["seq"]
        self.answered = message.get("answered", 0)
        view = message["view"]
        self.view = View(0, [], []) if view is None else msgspec.convert(view, View)

    def _step(self, kind: str, step: dict[str, Any]) -> None:
        for event in step.get("ev", ()):
            self._event(event)
        mine = step.get("by", self.seat if kind == "seat" else None) == self.seat
        if mine and "id" in step:
            self.answered = max(self.answered, step["id"])
            if "no" in step:
                self.refused.append(step["no"]["code"])

    def _event(self, event: dict[str, Any]) -> None:
        tag = event["t"]
        if tag in ("dealing", "countdown", "live", "scores", "standings", "setup", "closed"):
            self.phase = tag
            self.outcome = event.get("outcome", self.outcome)
        elif tag not in _TABLE_EVENTS:
            GAME.apply(self.view, _event.decode(json.dumps(event)))


_TABLE_EVENTS = {"joined", "member", "presence", "gone", "host", "options", "seated", "paused", "resumed"}


class Screen:
    """A socket that is read as long as it is open."""

    def __init__(self, url: str, hello: dict[str, Any]) -> None:
        self.shown = Shown()
        self._url, self._hello = url, hello
        self._changed = asyncio.Condition()
        self._reader: asyncio.Task[None] | None = None
        self._socket: ClientConnection

    async def __aenter__(self) -> Self:
        self._socket = await connect(self._url)
        await self.send(self._hello)
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()
        if self._reader is not None:
            await self._reader

    async def send(self, message: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(message))

    async def until(self, so: Callable[[Shown], bool], what: str, seconds: float = 30.0) -> None:
        """Wait until the screen shows it; AssertionError, with the last messages, when it never does."""
        try:
            async with self._changed:
                await asyncio.wait_for(self._changed.wait_for(lambda: so(self.shown)), seconds)
        except TimeoutError:
            last = "\n".join(self.shown.got[-5:])
            raise AssertionError(
                f"never came: {what}; phase {self.shown.phase!r}, the last messages:\n{last}"
            ) from None

    async def _read(self) -> None:
        async for text in self._socket:
            async with self._changed:
                self.shown.take(str(text))
                self._changed.notify_all()


class Player(Screen):
    """The host of a room of its own."""

    def __init__(self, url: str, place: dict[str, str]) -> None:
        self.room, self.id = place["room"], place["player"]
        tab = secrets.randbits(31) + 1
        super().__init__(socket_url(url, "/ws"), {"t": "hello", "v": 1, "token": place["token"], "tab": tab})
        self._requests = 0
        self._moves = 0

    @classmethod
    async def host(cls, url: str, name: str) -> Player:
        async with httpx.AsyncClient(timeout=20) as http:
            answer = await http.post(f"{url}/api/rooms", json={"name": name, "request_id": secrets.token_hex(8)})
        assert answer.status_code == 200, answer.text
        return cls(url, answer.json())

    async def ask_lobby(self, **do: Any) -> None:
        self._requests += 1
        done = f'"req":{self._requests}'
        await self.send({"t": "lobby", "req": self._requests, "do": do})
        await self.until(lambda s: any(done in text.replace(" ", "") for text in s.got), f"an answer to {do}")

    async def move(self, **m: Any) -> int:
        self._moves += 1
        await self.send({"t": "move", "id": self._moves, "basis": self.shown.seq, "m": m})
        return self._moves

    async def moved(self, **m: Any) -> None:
        """A move, and its answer."""
        id = await self.move(**m)
        await self.until(lambda s: s.answered >= id, f"the answer to move {id}, {m}")

    async def play_hand(self, dice: Random, seconds: float) -> None:
        """Play as a quick bot would, until the scores show."""
        thinking = mind("hard")
        began = time.monotonic()
        await self.until(lambda s: s.phase == "live", "Snatch!", 30)
        while self.shown.phase == "live":
            assert time.monotonic() - began < seconds, f"the hand still goes on after {seconds} s"
            if self.shown.view.end_offered:
                await self.moved(t="end_hand")
                continue
            wish, pause = thinking.look(self.shown.view, int((time.monotonic() - began) * 1000), dice)
            if wish is not None:
                await self.moved(**msgspec.to_builtins(wish))
            async with self._changed:
                try:
                    over = self._changed.wait_for(lambda: self.shown.phase != "live")
                    await asyncio.wait_for(over, pause / 1000)
                except TimeoutError:
                    continue


class Tv(Screen):
    def __init__(self, url: str, room: str) -> None:
        super().__init__(socket_url(url, "/tv"), {"t": "watch", "v": 1, "room": room.lower()})
