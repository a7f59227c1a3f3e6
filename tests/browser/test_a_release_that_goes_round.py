"""While a release goes round, gateways of two clients stand behind one address."""

from __future__ import annotations

import pytest
from playwright.async_api import Route, expect

from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

MISSES = 2


@pytest.mark.parametrize("part", ["**/assets/index-*.js", "**/assets/index-*.css", "**/assets/base-*.js"])
async def test_a_page_whose_parts_are_at_another_gateway_is_loaded_again_until_it_has_them(
    rare: Rare, pages: Pages, part: str
) -> None:
    ann = await pages.phone(rare)
    asked = 0

    async def of_the_other_release(route: Route) -> None:
        nonlocal asked
        asked += 1
        if asked > MISSES:
            await route.continue_()
        else:
            await route.fulfill(status=404, body="Not Found")

    await ann.page.route(part, of_the_other_release)
    async with ann.page.expect_event("load", lambda _: asked > MISSES, timeout=PATIENCE):
        await ann.page.goto(ann.url)
    await expect(ann("host")).to_be_visible(timeout=PATIENCE)
    assert asked == MISSES + 1
