"""Nobody is kept out: eyes, ears, hands and languages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.barriers import Barriers
from tests.browser.decks import deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.e2e.party import Party, must, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

SUIT = "Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh"
"""A snatch pile that goes to the middle as it lies."""


async def test_no_place_has_a_serious_barrier_in_light_or_dark(rare: Rare, pages: Pages, people: Party) -> None:
    barriers = Barriers()
    ann = await pages.phone(rare)
    look = barriers.look
    await ann.page.goto(ann.url)
    await ann.at("host-name")
    await look(ann.page, "home")
    await opened(ann, "help", lambda: look(ann.page, "instructions"))
    tv = await pages.tv(rare)
    await tv.page.goto(f"{tv.url}/watch")
    await expect(tv("tv-join-code")).to_be_visible(timeout=PATIENCE)
    await look(tv.page, "TV, asking")

    room = people.room = await ann.host("Ann")
    bo = await people.join("Bo")
    await tv.watch(room)
    await ann.add_bots(1, "easy")
    await look(ann.page, "lobby")
    await opened(ann, "qr", lambda: look(ann.page, "lobby, QR code"))
    await ann("leave").tap()
    await ann.at("leave-no")
    await look(ann.page, "lobby, leaving")
    await ann("leave-no").tap()
    await look(tv.page, "TV, lobby")

    await ann.start("to25")
    await until(bo, lambda p: p.screen.table is not None)
    await look(ann.page, "setup")
    await look(tv.page, "TV, setup")
    rare.deals.give(room, deck(work="As Ac Ad Ks"), deck(snatch=SUIT), deck())
    await ann.deal()
    await ann.at("countdown")
    await look(ann.page, "countdown")
    await ann.live()
    # Others may have played into it by now: some pile of the middle shows in any case.
    await ann.tap(ann.card("As"))
    await expect(ann("middle").locator("[data-pile]").first).to_be_visible(timeout=PATIENCE)
    await look(ann.page, "table")
    await look(tv.page, "TV, table")
    await ann("pause").tap()
    await ann.at("paused")
    await look(ann.page, "paused")
    await look(tv.page, "TV, paused")
    await ann("resume").tap()
    await until(bo, lambda p: p.screen.table is not None and p.screen.table.paused_by is None)
    for card in SUIT.split():
        await must(bo, ToMiddle(card, "snatch"))
    await ann.at("scores")
    await look(ann.page, "scores")
    await tv.phase("scores")
    await look(tv.page, "TV, scores")
    assert barriers.found == []


async def test_the_standings_and_an_error_have_none_either(rare: Rare, pages: Pages, people: Party) -> None:
    barriers = Barriers()
    ann = await pages.phone(rare)
    await ann.page.goto(f"{ann.url}/r/ZZZZZ")
    await ann("join-name").fill("Ann")
    await ann("join").tap()
    await ann.says("There is no room with this code.")
    await barriers.look(ann.page, "home, refused")
    room = people.room = await ann.host("Ann")
    bo = await people.join("Bo")
    tv = await pages.tv(rare)
    await tv.watch(room)
    await ann.start("one")
    await until(bo, lambda p: p.screen.table is not None)
    rare.deals.give(room, deck(), deck(snatch=SUIT))
    await ann.deal()
    await ann.live()
    await people.live()
    for card in SUIT.split():
        await must(bo, ToMiddle(card, "snatch"))
    await ann.press("final-standings")
    await ann.at("standings")
    await barriers.look(ann.page, "standings")
    await tv.phase("standings")
    await barriers.look(tv.page, "TV, standings")
    assert barriers.found == []


async def opened(phone: PhonePage, testid: str, look: Callable[[], Awaitable[None]]) -> None:
    await phone(testid).first.tap()
    await phone.at("close")
    await look()
    await phone("close").tap()
    await phone.gone("close")


async def test_every_player_is_told_apart_by_shape_as_well_as_by_colour(
    rare: Rare, pages: Pages, people: Party
) -> None:
    ann = await pages.phone(rare)
    people.room = await ann.host("Ann")
    others = [await people.join(f"P{n}") for n in range(2, 9)]
    assert len(await shapes(ann.page, '[data-testid="player"] .mark path')) == 8
    await ann.start("one")
    for other in others:
        await until(other, lambda p: p.screen.table is not None)
    rare.deals.give(people.room, *[deck(work="As Ah Ac Ad")] * 8)
    await ann.deal()
    await ann.live()
    await people.live()
    for other in others:
        await must(other, ToMiddle("As", "work", 0))
    await ann.tap(ann.card("As"))
    await expect(ann("middle")).to_have_attribute("data-piles", "8", timeout=PATIENCE)
    seats = await shapes(ann.page, '[data-testid^="seat-"] .mark path')
    assert len(seats) == 8
    assert await shapes(ann.page, "[data-pile] .owner") == seats


async def shapes(page: Page, selector: str) -> set[str]:
    found = await page.locator(selector).evaluate_all("nodes => nodes.map(node => node.getAttribute('d'))")
    return set(found)
