"""Rooms that come and go: each lives through one story, and another takes its place.

Stories are what people do: play to the standings and go, play on, walk away in mid-hand,
leave bots alone, lose the socket and come back, open a second tab, never start, never come.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from simulate.door import Door, Ticket
from simulate.findings import Findings
from simulate.phone import Phone, Refused
from simulate.player import Player
from simulate.tv import Tv
from wire import client_in

CAME_AND_WENT = "every room came and went"
PATIENCE = 240.0
"""Seconds that a room may take for its story; it takes half a minute, and minutes on a machine that others use."""

FASTEST = 20.0


@dataclass(frozen=True)
class Pace:
    """How many times as fast as people everything goes that people do."""

    faster: float

    @property
    def of_players(self) -> float:
        """A gateway takes 30 moves a second from a socket; nobody plays faster than half of it."""
        return min(self.faster, FASTEST)

    def seconds(self, of_people: float) -> float:
        return of_people / self.faster


@dataclass
class Tally:
    """What the rooms did."""

    rooms: int = 0
    stories: Counter[str] = field(default_factory=Counter)
    drops: int = 0
    takeovers: int = 0
    tvs: int = 0


class Visit:
    """One room, from hosting to when its last person is gone.  `run` may be cancelled: then all are gone at once."""

    def __init__(
        self, number: int, door: Door, tv_url: str | None, pace: Pace, dice: Random, found: Findings, tally: Tally
    ) -> None:
        self._number, self._door, self._tv_url, self._pace = number, door, tv_url, pace
        self._dice, self._found, self._tally = dice, found, tally
        self._phones: list[Phone] = []
        self._room = ""
        self.story = ""

    async def run(self) -> None:
        names = list(STORIES)
        self.story = self._dice.choices(names, [STORIES[name][0] for name in names])[0]
        self._tally.rooms += 1
        self._tally.stories[self.story] += 1
        try:
            async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
                watched = group.create_task(self._watched())
                await STORIES[self.story][1](self)
                watched.cancel()
        except Exception as error:
            if _being_cancelled():
                return
            causes = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
            words = "; ".join(repr(cause) for cause in causes)
            self._found.check(CAME_AND_WENT, False, f"{self._room or self._number}: {self.story}: {words}")
        else:
            self._found.check(CAME_AND_WENT, True, "")
        finally:
            for phone in self._phones:
                phone.stop()

    # ---- people -----------------------------------------------------------------

    def _phone(self, token: str) -> Phone:
        phone = Phone(self._door.url, token, self._dice.randrange(1, 2**32), self._found)
        self._phones.append(phone)
        phone.start()
        return phone

    async def _come(self, people: int) -> list[Phone]:
        """So many in the lobby, all of them seeing each other."""
        tickets: list[Ticket] = [await self._door.host("Host", str(uuid.uuid4()))]
        self._room = tickets[0].room
        for seat in range(1, people):
            tickets.append(await self._door.join(self._room, f"Player {seat}", str(uuid.uuid4())))
        everyone = {t.player for t in tickets}
        phones = [self._phone(t.token) for t in tickets]
        for phone in phones:
            await phone.until(
                lambda p: p.lobby is not None and everyone <= {q.player for q in p.lobby.players if q.present}
            )
        return phones

    async def _bots(self, host: Phone, count: int) -> None:
        for _ in range(count):
            await host.act(client_in.AddBot(self._dice.choice(("easy", "medium", "hard"))))

    async def _start(self, phones: list[Phone]) -> None:
        """From the lobby to the game screen."""
        await phones[0].act(client_in.StartTable())
        for phone in phones:
            await phone.until(
                lambda p: (
                    p.screen.table is not None
                    and p.screen.phase() == "setup"
                    and sum(m.present for m in p.screen.table.members if m.bot is None) >= len(phones)
                )
            )

    async def _deal(self, phones: list[Phone]) -> None:
        await _must(phones[0], client_in.Deal())
        for phone in phones:
            await phone.until(lambda p: p.screen.live)

    async def _play(self, phones: list[Phone]) -> None:
        """To the scores."""
        async with asyncio.TaskGroup() as group:
            for phone in phones:
                group.create_task(self._player(phone).play())
        for phone in phones:
            await phone.until(lambda p: p.screen.phase() in ("scores", "standings"))
        self._found.hands["played"] += 1

    def _player(self, phone: Phone) -> Player:
        level = self._dice.choice(("medium", "hard"))
        return Player(phone, level, self._pace.of_players, Random(self._dice.random()), self._found)

    async def _play_a_while(self, phones: list[Phone]) -> None:
        """Somewhere into the hand, or to its end if that comes first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pace.seconds(self._dice.uniform(5, 90))):
                await self._play(phones)

    async def _go(self, phones: list[Phone]) -> None:
        """The host ends the table, and everybody leaves the lobby; or they just close their pages."""
        if self._dice.random() < 0.5:
            return
        await _must(phones[0], client_in.Leave())
        for phone in phones:
            await phone.until(lambda p: p.lobby is not None and p.lobby.table is None)
        for phone in phones:
            await phone.act(client_in.LeaveRoom())
            phone.stop()

    async def _watched(self) -> None:
        """TVs that are switched on and off, beside some rooms."""
        if self._tv_url is None or self._dice.random() < 0.5:
            return
        while not self._room:  # noqa: ASYNC110 - it is hosted by a call, which nobody tells of
            await asyncio.sleep(0.05)
        while True:
            await asyncio.sleep(self._pace.seconds(self._dice.uniform(5, 60)))
            self._tally.tvs += 1
            tv = Tv(self._tv_url, self._room, self._found)
            tv.start()
            try:
                await asyncio.sleep(self._pace.seconds(self._dice.uniform(10, 120)))
            finally:
                tv.stop()

    # ---- stories ----------------------------------------------------------------

    async def _to_the_standings(self) -> None:
        phones = await self._come(self._dice.randint(2, 4))
        await self._bots(phones[0], self._dice.choice((0, 0, 1, 2)))
        await self._start(phones)
        await self._deal(phones)
        await self._play(phones)
        await self._standings(phones)
        await self._go(phones)

    async def _standings(self, phones: list[Phone]) -> None:
        if phones[0].screen.phase() == "scores" and self._dice.random() < 0.5:
            await phones[0].move(client_in.Standings())  # or they came by themselves just now
        for phone in phones:
            await phone.until(lambda p: p.screen.phase() == "standings")

    async def _again(self) -> None:
        phones = await self._come(2)
        await self._start(phones)
        for game in range(2):
            if game:
                await _must(phones[0], client_in.NewGame())
            await self._deal(phones)
            await self._play(phones)
            await self._standings(phones)
        await self._go(phones)

    async def _abandoned(self) -> None:
        phones = await self._come(self._dice.randint(2, 4))
        await self._start(phones)
        await self._deal(phones)
        await self._play_a_while(phones)

    async def _bots_alone(self) -> None:
        phones = await self._come(1)
        await self._bots(phones[0], self._dice.randint(1, 3))
        await self._start(phones)
        await self._deal(phones)
        await self._play_a_while(phones)

    async def _drops(self) -> None:
        phones = await self._come(self._dice.randint(2, 4))
        await self._start(phones)
        await self._deal(phones)
        async with asyncio.TaskGroup() as group:
            dropping = group.create_task(self._keep_dropping(phones))
            await self._play(phones)
            dropping.cancel()
        await self._standings(phones)

    async def _keep_dropping(self, phones: list[Phone]) -> None:
        while True:
            await asyncio.sleep(self._pace.seconds(self._dice.uniform(2, 20)))
            phone = self._dice.choice(phones)
            self._tally.drops += 1
            phone.stop()
            try:
                await asyncio.sleep(self._pace.seconds(self._dice.uniform(0.5, 10)))
            finally:  # who dropped comes back, also when the hand is over meanwhile
                phone.start()

    async def _taken_over(self) -> None:
        host, guest = phones = await self._come(2)
        await self._start(phones)
        await self._deal(phones)
        first, hosts = (asyncio.create_task(self._player(p).play()) for p in (guest, host))
        try:
            await asyncio.sleep(self._pace.seconds(self._dice.uniform(5, 40)))
            second = self._phone(guest.token)
            self._tally.takeovers += 1
            await second.until(lambda p: p.screen.table is not None)
            await guest.taken_over.wait()
            with contextlib.suppress(Refused):
                await first
            await self._player(second).play()
            await hosts
            await self._standings([host, second])
        finally:
            for task in (first, hosts):
                task.cancel()
            await asyncio.gather(first, hosts, return_exceptions=True)

    async def _back_to_the_room(self) -> None:
        phones = await self._come(2)
        await self._start(phones)
        await self._deal(phones)
        await self._play_a_while(phones)
        await _must(phones[0], client_in.Leave())
        for phone in phones:
            await phone.until(lambda p: p.lobby is not None and p.lobby.table is None)
        await self._start(phones)
        await self._deal(phones)
        await self._play(phones)

    async def _never_started(self) -> None:
        phones = await self._come(self._dice.randint(1, 3))
        await self._bots(phones[0], 1)
        await asyncio.sleep(self._pace.seconds(20))

    async def _nobody_came(self) -> None:
        await self._door.host("Nobody", str(uuid.uuid4()))


Story = Callable[[Visit], Awaitable[None]]

STORIES: dict[str, tuple[float, Story]] = {
    "played to the standings": (30, Visit._to_the_standings),
    "played again": (6, Visit._again),
    "abandoned in mid-hand": (14, Visit._abandoned),
    "left to the bots": (10, Visit._bots_alone),
    "sockets dropped": (14, Visit._drops),
    "taken over by another tab": (8, Visit._taken_over),
    "sent back by the host's ×": (6, Visit._back_to_the_room),
    "never started": (6, Visit._never_started),
    "nobody came": (6, Visit._nobody_came),
}
"""By name: of a hundred rooms how many, and what happens."""


class Crowd:
    """Keeps `at_once` rooms busy, each followed by another."""

    def __init__(self, at_once: int, door: Door, tv_url: str | None, pace: Pace, dice: Random, found: Findings) -> None:
        self._at_once, self._door, self._tv_url, self._pace = at_once, door, tv_url, pace
        self._dice, self._found = dice, found
        self.tally = Tally()

    async def run(self) -> None:
        """Until it is cancelled; then whoever still plays is gone at once, in mid-hand."""
        async with asyncio.TaskGroup() as group:
            for place in range(self._at_once):
                group.create_task(self._keep_busy(place))

    async def _keep_busy(self, place: int) -> None:
        await asyncio.sleep(self._pace.seconds(self._dice.uniform(0, 120)))
        while not _being_cancelled():
            dice = Random(self._dice.random())
            number = self.tally.rooms + 1
            await Visit(number, self._door, self._tv_url, self._pace, dice, self._found, self.tally).run()
            await asyncio.sleep(self._pace.seconds(self._dice.uniform(0, 4)))


def _being_cancelled() -> bool:
    """Also where the cancellation didn't come through: a group whose tasks fail meanwhile raises their failure."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _must(phone: Phone, move: Any) -> None:
    told = await phone.move(move)
    if told.no is not None:
        raise RuntimeError(f"{type(move).__name__} came back as {told.no.code}")
