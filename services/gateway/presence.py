"""Telling rooms which players' sockets are here: at once, every 30 s, and when they go."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable

import msgspec

from servicekit import logs
from servicekit.rooms_client import LobbyAway, LobbyRefusal, RoomsClient

EVERY = 30.0
AGAIN = 2.0
AT_ONCE = 64
TICK = 1.0
GONE_KEPT = 60.0
"""Seconds that a `gone` is told again: rooms forgets silent sockets by then."""
STAYS = 0.4
"""Seconds until an ending gateway says whose sockets it closed: their pages are on another one by then, so that no
lobby sees them go and come, all at the same time."""
NOT_BEFORE = 1.0
"""Seconds after being told before which a lobby that shows its player away is only late."""


class _Here(msgspec.Struct):
    room: str
    token: str
    refused: Callable[[str], None]
    due: float
    told: float = 0.0


class _Gone(msgspec.Struct):
    socket: str
    token: str
    until: float


class Presence:
    """`here` and `gone` never wait, and are told again while rooms is away."""

    def __init__(self, rooms: RoomsClient) -> None:
        self._rooms = rooms
        self._here: dict[str, _Here] = {}
        self._gone: list[_Gone] = []
        self._kick = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stays_until: float | None = None
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="presence")

    async def stop(self) -> None:
        """What is still to be said is said first, if rooms answers within a second."""
        if self._stays_until is not None and self._gone:
            await asyncio.sleep(self._stays_until - asyncio.get_running_loop().time())
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        try:
            async with asyncio.timeout(1.0):
                await self._tell_gone()
        except TimeoutError:
            self._log.warning("rooms was not told who went", sockets=len(self._gone))

    def hold(self) -> None:
        """All sockets are about to be closed, by us: `stop` tells of them."""
        self._stays_until = asyncio.get_running_loop().time() + STAYS

    def here(self, socket: str, room: str, token: str, refused: Callable[[str], None]) -> None:
        """`refused` is told the code when rooms doesn't know the player any more."""
        self._here[socket] = _Here(room, token, refused, 0.0)
        self._kick.set()

    def missed(self, socket: str) -> None:
        """The lobby shows this socket's player away, as after a Redis that was empty: rooms is told again."""
        known = self._here.get(socket)
        if known is not None and known.told + NOT_BEFORE <= asyncio.get_running_loop().time() < known.due:
            known.due = known.told = 0.0
            self._kick.set()

    def gone(self, socket: str) -> None:
        known = self._here.pop(socket, None)
        if known is not None:
            self._gone.append(_Gone(socket, known.token, asyncio.get_running_loop().time() + GONE_KEPT))
            self._kick.set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            timer = loop.call_later(TICK, self._kick.set)
            await self._kick.wait()
            timer.cancel()
            self._kick.clear()
            try:
                if self._stays_until is None:
                    await self._tell_gone()
                due = {s: here for s, here in self._here.items() if here.due <= loop.time()}
                new = [s for s, here in due.items() if not here.told]
                known = {here.room for here in due.values() if here.told}
                for first in range(0, len(new), AT_ONCE):
                    await asyncio.gather(*map(self._tell_here, new[first : first + AT_ONCE]))
                again = self._roommates(known)
                for first in range(0, len(again), AT_ONCE):
                    await self._tell_still_here(again[first : first + AT_ONCE])
            except Exception:
                self._log.exception("presence")

    def _roommates(self, rooms: set[str]) -> list[str]:
        """Their sockets here that rooms knows, room by room: it reads and writes each room once for all of them."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for socket, here in self._here.items() if rooms else ():
            if here.told and here.room in rooms:
                found[here.room].append(socket)
        return [socket for sockets in found.values() for socket in sockets]

    async def _tell_still_here(self, sockets: list[str]) -> None:
        now = asyncio.get_running_loop().time()
        there = [(socket, self._here[socket]) for socket in sockets if socket in self._here]
        for _, here in there:
            here.told, here.due = now, now + EVERY
        try:
            refusals = await self._rooms.still_here([(here.token, socket) for socket, here in there])
        except (LobbyAway, LobbyRefusal):
            for _, here in there:
                here.due = now + AGAIN
            return
        if refusals is None:
            await asyncio.gather(*map(self._tell_here, sockets))
            return
        for (_, here), code in zip(there, refusals, strict=True):
            if code:
                here.refused(code)

    async def _tell_here(self, socket: str) -> None:
        here = self._here.get(socket)
        if here is None:
            return
        here.told = asyncio.get_running_loop().time()
        here.due = here.told + EVERY
        try:
            await self._rooms.presence(here.token, socket, here=True)
        except LobbyRefusal as refusal:
            here.refused(refusal.code)
        except LobbyAway:
            here.due = asyncio.get_running_loop().time() + AGAIN

    async def _tell_gone(self) -> None:
        """Whoever rooms can't be told of is left for later, until nobody minds any more."""
        now = asyncio.get_running_loop().time()
        self._gone = [gone for gone in self._gone if gone.until > now]
        while self._gone:
            batch = self._gone[:AT_ONCE]
            told = await asyncio.gather(*map(self._tell_one_gone, batch))
            self._gone = [g for g, heard in zip(batch, told, strict=True) if not heard] + self._gone[len(batch) :]
            if not all(told):  # nor will it hear of the others
                return

    async def _tell_one_gone(self, gone: _Gone) -> bool:
        try:
            await self._rooms.presence(gone.token, gone.socket, here=False)
        except LobbyRefusal as error:
            self._log.debug("gone was not taken", why=str(error))
        except LobbyAway:
            return False
        return True
