"""A page of another release than the servers: it comes back to its room as theirs, once."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.decks import deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]


async def test_a_page_that_is_older_than_the_servers_loads_itself_anew_once_and_is_in_its_room_again(
    rare: Rare, pages: Pages
) -> None:
    ann = await pages.phone(rare)
    loads: list[Page] = []
    ann.page.on("load", lambda page: loads.append(page))

    async def older(route: Route) -> None:
        """Whatever the page loads anew: it was still served by the release before."""
        await route.fulfill(json={"public_url": "", "watch_url": "", "build": "older"})

    await ann.page.route("**/config.json", older)
    async with ann.page.expect_event("load", lambda page: len(loads) == 2, timeout=PATIENCE):
        room = await ann.host("Ann")
    await expect(ann("lobby-code")).to_have_text(room, timeout=PATIENCE)
    await ann.start()
    rare.deals.give(room, deck())
    await ann.deal()
    await ann.live()
    assert len(loads) == 2
