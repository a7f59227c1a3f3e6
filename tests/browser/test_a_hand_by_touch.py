"""One phone, three bots and a TV on a stack that was started as anybody starts it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.page_player import PagePlayer
from tests.browser.pages import Address, Pages
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.browser.tv_page import TvPage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(400)]


async def test_a_host_and_three_bots_play_a_hand_by_touch_and_the_next_one_is_dealt_while_a_tv_watches(
    played: Address, pages: Pages, album: Path
) -> None:
    phone = await pages.phone(played, moving=True, sharp=2)
    room = await phone.host("Ann")
    await phone.add_bots(3)
    await phone.shot(album / "1-lobby.png")
    tv = await pages.tv(played, moving=True)
    await tv.watch(room)
    await expect(tv("tv-code")).to_have_text(room, timeout=PATIENCE)
    await expect(tv("tv-player")).to_have_count(4, timeout=PATIENCE)
    await tv.shot(album / "1-tv-lobby.png")

    await phone.start(length="to50")
    await phone("bots-hard").tap()
    await phone.shot(album / "2-setup.png")
    await phone.deal()
    await phone.at("countdown")
    await tv.phase("countdown")
    await phone.shot(album / "3-countdown.png")
    await tv.shot(album / "3-tv-countdown.png")
    await phone.live()
    await tv.phase("live")
    await phone.shot(album / "4-snatch.png")

    player = PagePlayer(phone, drags=3)
    async with asyncio.TaskGroup() as meanwhile:
        meanwhile.create_task(player.play())
        await expect(tv("middle").locator("[data-pile]").nth(3)).to_be_visible(timeout=PATIENCE)
        await phone.shot(album / "5-table.png")
        await tv.shot(album / "5-tv-table.png")
        await expect(tv("tv-seat")).to_have_count(4)
        await shows_rings(tv)
    assert player.drags > 0
    assert player.taps > player.drags

    await phone.at("scores")
    await tv.phase("scores")
    await expect(tv("score")).to_have_count(4, timeout=PATIENCE)  # it sees the hand end first
    await phone.shot(album / "6-scores.png")
    await tv.shot(album / "6-tv-scores.png")
    assert await rows(phone) == await rows(tv)
    assert len(await rows(phone)) == 4
    assert await phone("emptied").inner_text() != ""

    await phone.press("next-hand")
    # In the countdown; bots don't wait for a slow TV to be looked at.
    await expect(tv("tv-left")).to_have_text(["13"] * 4, timeout=PATIENCE)
    await phone.live()
    await tv.phase("live")
    table = await phone.table()
    assert (table.left, table.in_stock, table.in_turned) == (13, 35, 0)
    await phone.shot(album / "7-next-hand.png")
    await tv.shot(album / "7-tv-next-hand.png")


async def shows_rings(tv: TvPage) -> None:
    """Each card of the middle has its owner's."""
    bare = tv("middle").locator("[data-pile] .card:not(:has(.ring))")
    assert await bare.count() == 0
    assert await tv("middle").locator("[data-pile] .card:has(.ring)").count() >= 4


async def rows(screen: PhonePage | TvPage) -> list[str]:
    """The scores as it lists them: name, cards left, total."""
    return [" ".join(text.split()) for text in await screen("score").all_inner_texts()]
