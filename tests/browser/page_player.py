"""Plays a hand through the page: reads what it shows, and taps.  It never asks a server."""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import Error

from games.snatch_solitaire.bot import useful
from games.snatch_solitaire.messages import MiddleCard, Mine, Move, Pile, ToMiddle, ToWork, View
from tests.browser.phone_page import PhonePage, Seen

AGAIN = 0.32
"""Seconds until a second tap on the same place is a move of its own."""


class PagePlayer:
    """`drags`: of the cards for the middle every so many-th is dragged there; 0: none."""

    def __init__(self, phone: PhonePage, drags: int = 0) -> None:
        self.phone = phone
        self.taps = self.drags = 0
        self._every = drags
        self._last: tuple[str, float] = ("", 0.0)
        self._before: tuple[object, ...] = ()
        self._turns = 0

    async def play(self) -> None:
        """From “Snatch!” until another place than the live table shows."""
        seen = await self.phone.see()
        while seen is not None and seen.phase == "live":
            acted = not seen.paused and await self._act(seen)
            seen = await self.phone.see() if acted else await self.phone.see(after=seen.seq, patience=1000)

    async def _act(self, seen: Seen) -> bool:
        """One tap, or drag, if there is anything to do."""
        if await self.phone("end-hand").count() > 0:
            return await self._button("end-hand")
        move = choose(seen)
        state = (*seen.own, [(p.id, p.top) for p in seen.middle])
        if move is not None:
            again, self._before = state == self._before, state
            if again:
                # It changed nothing: somebody was there first, or the screen is behind.
                return False
            self._turns = 0
            return await self._play(move, seen)
        if self._turns > seen.in_stock + seen.in_turned + 1 or seen.stuck or seen.in_stock + seen.in_turned == 0:
            # All of the stock was seen: only others can change anything now.
            self._turns = 0
            return False
        self._turns += 1
        self.taps += 1
        return await self._touch("stock", '[data-testid="stock"]')

    async def _play(self, move: ToMiddle | ToWork, seen: Seen) -> bool:
        place = move.src if move.work is None else f"work-{move.work}"
        what = f'[data-card="{move.card}"][data-spot]'
        if isinstance(move, ToMiddle) and self._every and (self.taps + self.drags) % self._every == 0:
            self.drags += 1
            try:
                await self.phone.drag(self.phone.page.locator(what), self.phone("middle"))
            except Error:
                return False
            return True
        self.taps += 1
        return await self._touch(place, what)

    async def _touch(self, place: str, selector: str) -> bool:
        last, at = self._last
        if place == last and place != "stock":
            await asyncio.sleep(max(0.0, at + AGAIN - time.monotonic()))
        where = await self.phone.spot(selector)
        if where is None:
            return False
        await self.phone.finger.tap(where)
        self._last = (place, time.monotonic())
        return True

    async def _button(self, testid: str) -> bool:
        try:
            await self.phone(testid).tap(timeout=1000)
        except Error:
            return False
        return True


def choose(seen: Seen) -> ToMiddle | ToWork | None:
    """The best useful move that is seen, as the rules' own bots see it."""
    work = [[card for card in pile if card is not None] for pile in seen.work]
    turned = [] if seen.turned is None else [seen.turned]
    mine = Mine(snatch=seen.snatch, work=work, stock=seen.in_stock, turned=turned)
    middle = [Pile(id=p.id, top=[MiddleCard(p.top, 0)]) for p in seen.middle]
    move: Move | None = next((m for m, _ in useful(View(hand=1, seats=[], middle=middle), mine)), None)
    return move if isinstance(move, ToMiddle | ToWork) else None
