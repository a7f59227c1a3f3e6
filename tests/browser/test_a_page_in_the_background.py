"""Case 13: a page that its system freezes, and a tab in the background for two minutes, its timers throttled.

For the second everybody else's clocks run so many times as fast as usual: the server's pings, the grace,
how often presence is told, when a silent socket is forgotten.  So a few seconds hold as
many of their periods as two minutes do; the page's own clock is set two minutes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from games.snatch_solitaire.messages import ToMiddle
from servicekit import pulse
from services.engine import table as engine_table
from services.engine.app import Engine
from services.gateway import presence
from simulate.phone import Phone
from tests.browser.decks import ChosenDeals, hurried_games
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.browser.spades import dealt
from tests.e2e.inprocess import stack_in_process
from tests.e2e.party import Party, must, party, within

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

FASTER = 24
MINUTES = 2

_HIDE = """hidden => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => hidden ? 'hidden' : 'visible' })
    document.dispatchEvent(new Event('visibilitychange'))
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rare]:
    """A stack that deals given decks, with all of its patience divided by FASTER."""

    monkeypatch.setattr(pulse, "EVERY", pulse.EVERY / FASTER)
    monkeypatch.setattr(presence, "EVERY", presence.EVERY / FASTER)
    monkeypatch.setattr(presence, "TICK", presence.TICK / FASTER)
    monkeypatch.setattr(engine_table, "GRACE_MS", engine_table.GRACE_MS // FASTER)
    rooms = {"socket_stale": 50.0 / FASTER, "host_grace": 15.0 / FASTER}
    deals, games = ChosenDeals(), hurried_games(1)
    async with stack_in_process(
        tmp_path, rooms_settings=rooms, engine=lambda settings: Engine(settings, games, deals)
    ) as stack:
        yield Rare(stack.url, stack.watch_url, deals)


async def in_the_background(page: Page) -> None:
    """Two minutes of it: hidden, and its timers rung once a minute, as browsers do at their strictest."""
    await page.evaluate(_HIDE, True)
    await page.clock.pause_at(await page.evaluate("Date.now() + 1000"))
    for _ in range(MINUTES):
        await asyncio.sleep(60 / FASTER)  # the others' minute
        await page.clock.fast_forward(60_000)


async def spades(ann: Phone) -> None:
    for work, card in enumerate(("As", "2s", "3s", "4s")):
        await must(ann, ToMiddle(card, "work", work))


async def up_to_date(bo: PhonePage) -> None:
    """Bo sees the spades, and goes on playing."""
    await expect(bo("pile-1")).to_have_attribute("data-top", "4s", timeout=PATIENCE)
    await bo.turn()
    assert (await bo.table()).turned == "2c"


async def test_a_page_in_the_background_has_the_table_right_at_once_when_it_comes_back(
    rare: Rare, pages: Pages, people: Party
) -> None:
    bo = await pages.phone(rare)
    ann = await dealt(rare, people, bo)
    cdp = await bo.page.context.new_cdp_session(bo.page)
    await cdp.send("Page.setWebLifecycleState", {"state": "frozen"})
    await spades(ann)
    assert ann.screen.table is not None
    assert [m.present for m in ann.screen.table.members] == [True, True]
    await cdp.send("Page.setWebLifecycleState", {"state": "active"})
    await up_to_date(bo)


async def test_a_tab_two_minutes_in_the_background_keeps_its_seat_is_never_said_to_have_left_and_is_right_at_once(
    quick: Rare, pages: Pages
) -> None:
    async with party(quick) as people:
        bo = await pages.phone(quick)
        await bo.page.clock.install()
        ann = await dealt(quick, people, bo)
        given_up = asyncio.create_task(ann.until(seems_away))
        hidden = asyncio.create_task(in_the_background(bo.page))
        await spades(ann)
        await within(hidden)
        assert not given_up.done(), "somebody in the background was said to be away"
        given_up.cancel()
        await bo.page.evaluate(_HIDE, False)
        await bo.page.clock.resume()
        await up_to_date(bo)
        assert not seems_away(ann)


def seems_away(phone: Phone) -> bool:
    """On Ann's screen, or in her lobby: Bo has no device, or has left."""
    table, lobby = phone.screen.table, phone.lobby
    assert table is not None
    assert lobby is not None
    bo = next(m for m in table.members if m.name == "Bo")
    return not bo.present or bo.left or not all(p.present for p in lobby.players if p.name == "Bo")
