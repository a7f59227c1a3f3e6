"""Whether lobbies can be changed just now, told to all who are here when that changes."""

from __future__ import annotations

import asyncio
from typing import Protocol

import msgspec

from servicekit import logs
from servicekit.rooms_client import RoomsClient
from wire.client_out import LobbyAway

EVERY = 1.0
TWICE = 2
"""Times in a row that rooms must say no: one lost answer is no news for anybody."""

_AWAY, _BACK = msgspec.json.encode(LobbyAway()), msgspec.json.encode(LobbyAway(away=False))


class Told(Protocol):
    """A socket that is told."""

    def send(self, data: bytes) -> None:
        """Must not wait."""
        ...


class LobbyWatch:
    """Asks rooms once a second, while anybody is here to be told."""

    def __init__(self, rooms: RoomsClient) -> None:
        self._rooms = rooms
        self._here: set[Told] = set()
        self._somebody = asyncio.Event()
        self._away = False
        self._task: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="lobby-watch")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def enter(self, socket: Told) -> None:
        """Told from now on, and at once if lobbies are away."""
        self._here.add(socket)
        self._somebody.set()
        if self._away:
            socket.send(_AWAY)

    def leave(self, socket: Told) -> None:
        self._here.discard(socket)
        if not self._here:
            self._somebody.clear()

    async def _run(self) -> None:
        refused = 0
        while True:
            await self._somebody.wait()
            try:
                why = await self._rooms.ready()
                refused = 0 if why is None else refused + 1
                if (why is None) == self._away and refused in (0, TWICE):
                    self._away = why is not None
                    self._said(why)
                    for socket in tuple(self._here):
                        socket.send(_AWAY if why else _BACK)
            except Exception:
                self._log.exception("lobbies could not be watched")
            await asyncio.sleep(EVERY)

    def _said(self, why: str | None) -> None:
        if why is None:
            self._log.info("lobbies are back")
        else:
            self._log.warning("lobbies are away", why=why)
