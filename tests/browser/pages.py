"""The pages of one test: phones and TVs, each a browser of its own."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.async_api import Browser, BrowserContext, Page

from stack.steps import ROOT
from tests.browser.decks import ChosenDeals
from tests.browser.finger import Finger, Mouse
from tests.browser.line import Delay, Line
from tests.browser.phone_page import PhonePage
from tests.browser.tv_page import TvPage

RESULTS = ROOT / "test-results"
PHONE = (390, 844)
BIG_SCREEN = (1920, 1080)


@dataclass(frozen=True)
class Address:
    """Where a stack's players and TVs go."""

    url: str
    watch_url: str


@dataclass(frozen=True)
class Rare(Address):
    """A stack in this process, which deals the decks that it is given."""

    deals: ChosenDeals


class Pages:
    """Phones and TVs of one test, each a browser of its own.  No script on them may fail."""

    def __init__(self, chromium: Browser) -> None:
        self._chromium = chromium
        self._contexts: list[BrowserContext] = []
        self._lines: list[Line] = []
        self.faults: list[str] = []

    async def phone(
        self,
        stack: Address,
        size: tuple[int, int] = PHONE,
        *,
        moving: bool = False,
        sharp: float = 1,
        touch: bool = True,
    ) -> PhonePage:
        """`moving`: with the animations that its player could have switched off; `touch`: else it has a mouse."""
        context = await self._context(size, moving, sharp, touch)
        if touch:
            return await self.tab(context, stack)
        page = await self._page(context)
        return PhonePage(page, await Mouse.on(page), stack.url, touch=False)

    async def tab(self, context: BrowserContext, stack: Address) -> PhonePage:
        """One more tab of the same player's browser."""
        page = await self._page(context)
        return PhonePage(page, await Finger.on(page), stack.url)

    async def phone_with_line(
        self, stack: Address, size: tuple[int, int] = PHONE, *, moving: bool = False, delay: Delay = lambda: 0.0
    ) -> tuple[PhonePage, Line]:
        """`delay`: what each message takes."""
        context = await self._context(size, moving, sharp=1, touch=True)
        page = await self._page(context)
        line = await Line.of(page, delay)
        self._lines.append(line)
        return PhonePage(page, await Finger.on(page), stack.url), line

    async def tv(self, stack: Address, *, moving: bool = False) -> TvPage:
        context = await self._context(BIG_SCREEN, moving, 1, touch=False)
        return TvPage(await self._page(context), stack.watch_url)

    async def _context(self, size: tuple[int, int], moving: bool, sharp: float, touch: bool) -> BrowserContext:
        context = await self._chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=sharp,
            has_touch=touch,
            is_mobile=touch,
            reduced_motion="no-preference" if moving else "reduce",
        )
        self._contexts.append(context)
        return context

    async def _page(self, context: BrowserContext) -> Page:
        page = await context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        return page

    async def keep(self, name: str) -> None:
        """A picture of every page, for whoever looks into a failure."""
        RESULTS.mkdir(exist_ok=True)
        pages = [page for context in self._contexts for page in context.pages]
        for number, page in enumerate(pages):
            await page.screenshot(path=RESULTS / f"{name}-{number}.png")

    async def close(self) -> None:
        for line in self._lines:
            line.end()
        for context in self._contexts:
            await context.close()
