"""Leavers, late joiners, hosts who go: what every screen says, on phones and on the TV."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.pages import Address, Pages
from tests.browser.phone_page import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(150)]


async def test_the_hosts_x_takes_everyone_back_to_the_room_and_the_next_game_begins_there(
    played: Address, pages: Pages, album: Path
) -> None:
    ann, bo = await pages.phone(played), await pages.phone(played)
    room = await ann.host("Ann")
    await bo.join(room, "Bo")
    await expect(ann("player")).to_have_count(2, timeout=PATIENCE)
    tv = await pages.tv(played)
    await tv.watch(room)
    await ann.start()
    await ann.deal()
    for phone in (ann, bo):
        await phone.live()
    await ann("leave").tap()
    await expect(ann("leave-dialog")).to_contain_text("everyone goes back to the room, without standings")
    await ann("leave-yes").tap()
    for phone in (ann, bo):
        await phone.at("lobby-code")
        await expect(phone("player")).to_have_count(2)
    await expect(ann("host-left")).to_have_text("You left the game, so it ended for everyone.", timeout=PATIENCE)
    await expect(bo("host-left")).to_have_text("The host left, so the game ended.", timeout=PATIENCE)
    await tv.phase("lobby")
    await expect(tv("host-left")).to_have_text("The host left, so the game ended.", timeout=PATIENCE)
    await bo.shot(album / "room.png")
    await tv.shot(album / "tv.png")
    await ann.start()
    await bo.at("waiting-host")
    await ann.deal()
    await bo.at("countdown")


async def test_a_late_joiner_watches_a_leaver_is_said_to_have_left_and_a_host_whose_phone_is_gone_is_followed(
    played: Address, pages: Pages, album: Path
) -> None:
    ann, bo, cy, dee = [await pages.phone(played) for _ in range(4)]
    room = await ann.host("Ann")
    await bo.join(room, "Bo")
    await cy.join(room, "Cy")
    tv = await pages.tv(played)
    await tv.watch(room)
    await expect(ann("player")).to_have_count(3, timeout=PATIENCE)
    # Case 7: her page is open before the deal, and joins after it.
    await dee.page.goto(f"{played.url}/r/{room}")
    await ann.start()
    await ann.deal()
    for phone in (ann, bo, cy):
        await phone.live()
    await dee("join-name").fill("Dee")
    await dee("join").tap()
    await expect(dee("watching")).to_have_text("You play in the next game", timeout=PATIENCE)
    assert await dee.page.locator("[data-spot]").count() == 0
    await expect(dee("strip").get_by_role("listitem")).to_have_count(3)
    await dee.shot(album / "watcher.png")

    await cy.leave()
    await cy.at("host-name")
    for screen in (ann, bo, dee, tv):
        await screen.says("Cy left")
    await expect(bo("seat-2")).to_contain_text("left: Cy")
    await expect(tv("tv-seat").filter(has_text="Cy")).to_contain_text("left")
    # Cards and count stay, and the same player gets them back.
    await cy("rejoin").tap()
    await cy.live()
    await expect(bo("seat-2")).not_to_contain_text("left", timeout=PATIENCE)
    assert (await cy.table()).left == 13

    await ann.page.context.close()
    await bo.says("The host left")
    await bo.at("deal")
    await expect(bo("host-left")).to_have_text(
        "The host left, so that game is over. You are the host now: deal when you like."
    )
    await expect(dee("host-left")).to_have_text("The host left, so that game is over.", timeout=PATIENCE)
    await tv.phase("lobby")
    await expect(tv("host-left")).to_have_text("The host left, so that game is over.", timeout=PATIENCE)
    await bo.shot(album / "new-host.png")
    await tv.shot(album / "tv.png")
    await bo.press("deal")
    # Who watched plays now.
    await dee.at("countdown")
    await expect(dee("snatch-left")).to_have_text("13", timeout=PATIENCE)
