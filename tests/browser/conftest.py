"""A Chromium, and stacks for it to play on: started once, for all tests of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from services.engine.app import Engine
from stack import lent, setup_browser
from tests.browser.decks import ChosenDeals, Hurried, with_game
from tests.browser.pages import RESULTS, Address, Pages, Rare
from tests.e2e.inprocess import stack_in_process
from tests.e2e.party import Party, party

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
    game = Hurried(HURRY)
    games = with_game(game)
    folder = tmp_path_factory.mktemp("rare")
    async with stack_in_process(folder, engine=lambda settings: Engine(settings, games, deals)) as stack:
        yield Rare(stack.url, stack.watch_url, deals)
    assert game.wrong == []


@pytest_asyncio.fixture(loop_scope="session")
async def people(rare: Rare) -> AsyncIterator[Party]:
    """Players without a page, on the rare stack: they do what the one under test must bear."""
    async with party(rare) as everyone:
        yield everyone


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
