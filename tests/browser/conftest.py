"""A Chromium, and stacks for it to play on: started once, for all tests of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from services.engine.app import Engine
from stack import lent, setup_browser
from stack.steps import ROOT
from tests.browser.decks import ChosenDeals, hurried_games
from tests.browser.finger import Finger
from tests.browser.line import Line
from tests.browser.phone_page import PhonePage
from tests.browser.tv_page import TvPage
from tests.e2e.inprocess import stack_in_process
from tests.e2e.party import Party, party

RESULTS = ROOT / "test-results"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HURRY = 8
"""The 4 s until snatch piles turn are so many times shorter on the rare stack."""
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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    path = setup_browser.find()
    assert path is not None, setup_browser.CURE
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """`snatch play`, as anybody starts it: every service a process of its own."""
    with lent.started(folder=tmp_path_factory.mktemp("played"), say=False) as state:
        yield Address(state["url"], state["watch_url"])


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def rare(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rare]:
    """The real services on a real log, in this process so that their engine can be given its decks."""
    deals = ChosenDeals()
    games = hurried_games(HURRY)
    folder = tmp_path_factory.mktemp("rare")
    async with stack_in_process(folder, engine=lambda settings: Engine(settings, games, deals)) as stack:
        yield Rare(stack.url, stack.watch_url, deals)


@pytest_asyncio.fixture(loop_scope="session")
async def people(rare: Rare) -> AsyncIterator[Party]:
    """Players without a page, on the rare stack: they do what the one under test must bear."""
    async with party(rare) as everyone:
        yield everyone


class Pages:
    """Phones and TVs of one test, each a browser of its own.  No script on them may fail."""

    def __init__(self, chromium: Browser) -> None:
        self._chromium = chromium
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []

    async def phone(
        self, stack: Address, size: tuple[int, int] = PHONE, *, moving: bool = False, sharp: float = 1
    ) -> PhonePage:
        """`moving`: with the animations that its player could have switched off."""
        context = await self._context(size, moving, sharp, touch=True)
        return await self.tab(context, stack)

    async def tab(self, context: BrowserContext, stack: Address) -> PhonePage:
        """One more tab of the same player's browser."""
        page = await self._page(context)
        return PhonePage(page, await Finger.on(page), stack.url)

    async def phone_with_line(self, stack: Address, size: tuple[int, int] = PHONE) -> tuple[PhonePage, Line]:
        context = await self._context(size, moving=False, sharp=1, touch=True)
        page = await self._page(context)
        line = await Line.of(page)
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
        for context in self._contexts:
            await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def pages(chromium: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Pages]:
    made = Pages(chromium)
    yield made
    if request.node.stash.get(_FAILED, False):
        await made.keep(request.node.name)
    await made.close()
    assert made.faults == []


@pytest.fixture
def album(request: pytest.FixtureRequest) -> Path:
    """Where this test's pictures go, to be looked at."""
    return RESULTS / str(request.node.name).removeprefix("test_")


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report
