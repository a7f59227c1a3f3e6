"""Rooms as pages open, double-tap and reload them."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.decks import HEARTS, deck
from tests.browser.finger import Point
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.e2e.party import Party, must, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]


async def middle_of(phone: PhonePage, testid: str) -> Point:
    box = await phone(testid).bounding_box(timeout=PATIENCE)
    assert box is not None
    return Point(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


async def test_a_code_typed_anyhow_joins_and_double_taps_on_join_and_deal_count_once(
    rare: Rare, pages: Pages, people: Party
) -> None:
    ann = await people.host("Ann")
    # Case 8.
    bo = await pages.phone(rare)
    await bo.page.goto(rare.url)
    await bo("join-code").fill(f" {people.room[:2].lower()} {people.room[2:].lower()} ")
    await bo("join-name").fill("Bo")
    # Case 5.
    await bo("join").scroll_into_view_if_needed()
    await bo.finger.taps(await middle_of(bo, "join"), 2)
    await bo.at("lobby-code")
    await until(ann, lambda p: len(p.lobby.players) >= 2 and p.lobby.players[-1].present)
    assert ann.lobby is not None
    assert [p.name for p in ann.lobby.players] == ["Ann", "Bo"]

    cy = await pages.phone(rare)
    room = await cy.host("Cy")
    watching = await people.join("Dee", room)
    await cy.start()
    await until(watching, lambda p: p.screen.table is not None)
    rare.deals.give(room, deck(), deck())
    await cy.finger.taps(await middle_of(cy, "deal"), 2)
    await cy.live()
    assert watching.screen.view.hand == 1
    assert (await cy.table()).seq == 1


async def test_a_second_tab_takes_the_seat_over_and_the_older_one_says_so_and_stays_quiet(
    rare: Rare, pages: Pages
) -> None:
    first = await pages.phone(rare)
    rare.deals.give(await first.host("Ann"), deck(stock="2c 9h"))
    await first.start()
    await first.deal()
    await first.live()
    second = await pages.tab(first.page.context, rare)
    await second.page.goto(first.page.url)
    await second.live()
    await expect(first("taken-over")).to_contain_text("This game was opened elsewhere.", timeout=PATIENCE)
    await second.turn()
    assert (await second.table()).turned == "2c"
    await first.at("taken-over")
    # Until its player wants to go on there.
    await first("play-here").tap()
    await first.live()
    await second.at("taken-over")
    await first.turn()
    assert (await first.table()).turned == "9h"


async def test_a_refresh_in_countdown_pause_and_scores_shows_the_same_again(
    rare: Rare, pages: Pages, people: Party
) -> None:
    ann = await pages.phone(rare)
    room = people.room = await ann.host("Ann")
    bo = await people.join("Bo")
    tv = await pages.tv(rare)
    await tv.watch(room)
    await ann.start(length="to50")
    await until(bo, lambda p: p.screen.table is not None)
    rare.deals.give(room, deck(snatch=HEARTS), deck(work="As 2s 3s 9d"))
    await ann.deal()
    await until(bo, lambda p: p.screen.phase() == "countdown")
    await ann.page.reload()
    await ann.at("countdown")
    assert bo.screen.phase() == "countdown"
    await ann.live()
    assert (await ann.table()).left == 13

    await must(bo, ToMiddle("As", "work", 0))
    await must(bo, {"t": "pause"})
    await expect(ann("paused")).to_contain_text("Paused by Bo", timeout=PATIENCE)
    await expect(tv("tv-paused")).to_contain_text("Paused by Bo", timeout=PATIENCE)
    paused = await ann.table()
    # Nothing moves, and nobody is told that a card was refused.
    told = await bo.move(ToMiddle("2s", "work", 1))
    assert told.no is not None
    await ann.page.reload()
    await expect(ann("paused")).to_contain_text("Paused by Bo", timeout=PATIENCE)
    assert (await ann.table()).own == paused.own
    # Any player resumes.
    await ann("resume").tap()
    await ann.gone("paused")
    await expect(tv("tv-paused")).to_have_count(0, timeout=PATIENCE)
    await must(bo, ToMiddle("2s", "work", 1))
    await expect(ann.page.locator('[data-pile][data-top="2s"]')).to_have_count(1, timeout=PATIENCE)
    await ann("pause").tap()
    await expect(ann("paused")).to_contain_text("You paused the game", timeout=PATIENCE)
    await must(bo, {"t": "resume"})
    await ann.gone("paused")

    middle = await ann.free(ann("middle"))
    for card in HEARTS.split()[:-1]:
        await ann.finger.drag(await ann.free(ann.card(card)), middle, steps=1)
    await ann.table()
    # The last one, and a finger that does not stop at once: the next hand is dealt by no accident.
    below = await middle_of(ann, "stock")
    await ann.finger.flicks((await ann.free(ann.card("Kh")), middle))
    while not await ann("scores").count():
        await ann.finger.tap(below)
    await expect(ann("emptied")).to_have_text("You emptied your pile")
    shown = await ann("score").all_inner_texts()
    await ann.page.reload()
    await ann.at("scores")
    assert await ann("score").all_inner_texts() == shown
    assert bo.screen.phase() == "scores"
    await ann.press("next-hand")
    await ann.live()
