"""People at one stack: who hosts, who joins, which TV watches.  All end with the party."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Protocol

from simulate.door import Door, Ticket
from simulate.findings import Findings
from simulate.phone import Phone, Told
from simulate.player import Player
from simulate.tv import Tv
from wire import client_in

PATIENCE = 60.0
"""Seconds that anything awaited may take; on an idle machine it takes a few."""


class Address(Protocol):
    """Where a stack's players and TVs go."""

    @property
    def url(self) -> str: ...

    @property
    def watch_url(self) -> str: ...


class Party:
    """Phones are simulated players' own: they reconnect, and note every broken invariant in `found`."""

    def __init__(self, url: str, watch_url: str, door: Door) -> None:
        self.url, self.watch_url = url, watch_url
        self.found = Findings()
        self.phones: list[Phone] = []
        self.room = ""
        self._door = door
        self._tvs: list[Tv] = []
        self._dice = Random(1)

    async def host(self, name: str = "Ann") -> Phone:
        ticket = await self._door.host(name, str(uuid.uuid4()))
        self.room = ticket.room
        return await self.enter(ticket)

    async def join(self, name: str, room: str | None = None) -> Phone:
        return await self.enter(await self._door.join(room or self.room, name, str(uuid.uuid4())))

    async def enter(self, ticket: Ticket) -> Phone:
        """With the page open, and the lobby on it."""
        phone = self.tab(ticket.token)
        await within(phone.until(lambda p: p.lobby is not None))
        return phone

    def tab(self, token: str) -> Phone:
        """A page of its own for this player, opening."""
        phone = Phone(self.url, token, self._dice.randrange(1, 2**32), self.found)
        self.phones.append(phone)
        phone.start()
        return phone

    async def tv(self) -> Tv:
        tv = Tv(self.watch_url, self.room, self.found)
        self._tvs.append(tv)
        tv.start()
        return tv

    async def start(self, host: Phone) -> None:
        """Everyone is brought to the game screen."""
        await within(host.act(client_in.StartTable()))
        for phone in self.phones:
            await within(phone.until(lambda p: p.screen.table is not None))

    async def live(self) -> None:
        for phone in self.phones:
            await within(phone.until(lambda p: p.screen.live))

    async def play(self, *phones: Phone, speed: float = 20.0, level: str = "hard", patience: float = PATIENCE) -> None:
        """These play until the hand is over, within so many seconds."""
        async with asyncio.TaskGroup() as group:
            for phone in phones:
                player = Player(phone, level, speed, Random(self._dice.random()), self.found)
                group.create_task(within(player.play(), patience))

    async def end(self) -> None:
        for phone in self.phones:
            phone.stop()
        for tv in self._tvs:
            tv.stop()


@asynccontextmanager
async def party(stack: Address) -> AsyncIterator[Party]:
    """At its end no invariant may have been broken on any screen."""
    async with Door(stack.url) as door:
        people = Party(stack.url, stack.watch_url, door)
        try:
            yield people
            assert people.found.told == []
        finally:
            await people.end()


async def within(awaited: Any, seconds: float = PATIENCE) -> Any:
    """Its result; fails the test rather than hang it."""
    async with asyncio.timeout(seconds):
        return await awaited


async def must(phone: Phone, move: Any) -> Told:
    """A move that has to be accepted."""
    told: Told = await within(phone.move(move))
    assert told.no is None, f"{type(move).__name__} came back: {told.no}"
    return told


async def until(who: Phone | Tv, holds: Callable[[Any], bool]) -> None:
    """Wait until what it was told makes this true."""
    await within(who.until(holds))
