"""A hand of eight on one page: three bots, four simulated players, and a finger that taps, drags and flicks."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.finger import Point
from tests.browser.page_player import choose
from tests.browser.pages import Address, Pages
from tests.browser.phone_page import PhonePage, Seen
from tests.e2e.party import Party

Way = Callable[[Point], Awaitable[None]]

SEATS = 8
BOTS = 3
PACE = 0.45
"""Seconds from one move of the finger's to its next: as fast as people get."""
STEP = 1 / 60
"""Seconds between two of a screen's reports of where a finger is."""
SLOWLY, QUICKLY = 16, 5
"""Such steps in a drag, and in a flick."""


async def at_the_table(pages: Pages, people: Party, address: Address, size: tuple[int, int]) -> PhonePage:
    """The page of one of eight, in a room that is ready to deal."""
    phone = await pages.phone(address, size, moving=True, sharp=2)
    people.room = await phone.host("Wilhelmina")
    for number in range(2, SEATS - BOTS + 1):
        await people.join(f"Player {number}")
    await phone.add_bots(BOTS, "hard")
    await phone.start(length="to50")
    return phone


class Finger:
    """Plays what it sees until another place shows."""

    def __init__(self, phone: PhonePage) -> None:
        self.phone = phone
        self.taps = self.drags = self.flicks = 0

    async def play(self) -> None:
        ways = itertools.cycle((self._drag, self._tap, self._flick, self._tap))
        before: Seen | None = None
        while (seen := await self.phone.now()) is not None:
            began = time.monotonic()
            if seen.phase != "live":
                await asyncio.sleep(PACE)
                continue
            move = choose(seen)
            again = before is not None and before.own == seen.own
            before = seen
            if move is None or again:
                await self._on('[data-testid="stock"]', self._tap)
            elif isinstance(move, ToMiddle):
                await self._on(f'[data-card="{move.card}"][data-spot]', next(ways))
            else:
                await self._on(f'[data-card="{move.card}"][data-spot]', self._tap)
            await asyncio.sleep(max(0.0, began + PACE - time.monotonic()))

    async def _on(self, selector: str, way: Way) -> None:
        at = await self.phone.spot(selector)
        if at is not None:
            await way(at)

    async def _tap(self, at: Point) -> None:
        self.taps += 1
        await self.phone.finger.tap(at)

    async def _drag(self, at: Point) -> None:
        box = await self.phone("middle").bounding_box()
        if box is not None:
            self.drags += 1
            await self._carry(at, Point(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2), SLOWLY)

    async def _flick(self, at: Point) -> None:
        self.flicks += 1
        await self._carry(at, Point(at.x, at.y - 130), QUICKLY)

    async def _carry(self, start: Point, end: Point, steps: int) -> None:
        """As a screen reports it: where the finger is, 60 times a second."""
        finger = self.phone.finger
        await finger.down(start)
        at = start
        for n in range(1, steps + 1):
            due = time.monotonic() + STEP
            to = Point(start.x + (end.x - start.x) * n / steps, start.y + (end.y - start.y) * n / steps)
            await finger.move(at, to, 1)
            at = to
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await finger.up()
