"""A page and a TV in Chromium, through the one published port."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import async_playwright, expect

from stack import setup_browser
from tests.browser.conftest import FLAGS
from tests.browser.page_player import PagePlayer
from tests.browser.pages import RESULTS, Address, Pages
from tests.browser.phone_page import PATIENCE
from tests.compose.deployment import Deployment

pytestmark = [pytest.mark.compose, pytest.mark.asyncio(loop_scope="session")]

ALBUM = RESULTS / "compose"


async def test_a_hand_is_played_on_a_page_and_seen_on_a_tv_through_the_published_port(deployment: Deployment) -> None:
    path = setup_browser.find()
    assert path is not None, setup_browser.CURE
    address = Address(deployment.url, deployment.url)
    async with async_playwright() as playwright, asyncio.timeout(400):
        chromium = await playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        pages = Pages(chromium)
        try:
            phone, tv = await pages.phone(address), await pages.tv(address)
            room = await phone.host("Ann")
            await phone.add_bots(2, "hard")
            await tv.watch(room)
            await phone.start()
            await phone.deal()
            await phone.live()
            await tv.phase("live")
            player = PagePlayer(phone)
            async with asyncio.TaskGroup() as meanwhile:
                meanwhile.create_task(player.play())
                await expect(tv("middle").locator("[data-pile]").nth(3)).to_be_visible(timeout=PATIENCE)
                await phone.shot(ALBUM / "table.png")
                await tv.shot(ALBUM / "tv-table.png")
            assert player.taps > 0
            await phone.at("standings")
            await tv.phase("standings")
            await tv.shot(ALBUM / "tv-standings.png")
        finally:
            await pages.close()
            await chromium.close()
    assert pages.faults == []
