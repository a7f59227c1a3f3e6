"""Nobody is kept out: eyes, ears, hands and languages."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Browser, Page, expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.alone import alone
from tests.browser.barriers import Barriers
from tests.browser.decks import HEARTS, deck
from tests.browser.finger import Finger
from tests.browser.listener import Listener, choose
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.e2e.party import Party, must, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

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
    rare.deals.give(room, deck(work="As Ac Ad Ks"), deck(snatch=HEARTS), deck())
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
    for card in HEARTS.split():
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
    rare.deals.give(room, deck(), deck(snatch=HEARTS))
    await ann.deal()
    await ann.live()
    await people.live()
    for card in HEARTS.split():
        await must(bo, ToMiddle(card, "snatch"))
    await ann.press("final-standings")
    await ann.at("standings")
    await barriers.look(ann.page, "standings")
    await tv.phase("standings")
    await barriers.look(tv.page, "TV, standings")
    assert barriers.found == []


async def test_nor_have_settings_a_practice_deal_and_a_game_that_was_opened_elsewhere(rare: Rare, pages: Pages) -> None:
    barriers = Barriers()
    ann = await pages.phone(rare)
    await ann.page.goto(ann.url)
    await opened(ann, "settings", lambda: barriers.look(ann.page, "settings"))
    await ann("practise").tap()
    await ann.at("practice-deal")
    await barriers.look(ann.page, "practice, welcome")
    await expect(ann.page).to_have_url(re.compile("/r/"), timeout=PATIENCE)
    rare.deals.give(ann.page.url.rsplit("/", 1)[1], deck(snatch="Ah Qs"), deck())
    await ann("practice-deal").tap()
    await ann.live()
    await ann.at("hint")
    await ann.at("hint-from")
    await barriers.look(ann.page, "practice, hint")
    await opened(ann, "settings", lambda: barriers.look(ann.page, "settings at the table"))
    elsewhere = await pages.tab(ann.page.context, rare)
    await elsewhere.page.goto(ann.page.url)
    await elsewhere.live()
    await ann.at("taken-over")
    await barriers.look(ann.page, "taken over")
    assert barriers.found == []


async def test_nor_has_the_page_without_a_connection(rare: Rare, pages: Pages) -> None:
    barriers = Barriers()
    ann = await pages.phone(rare)
    # It asks until it may load the real one.
    await ann.page.route("**/config.json", lambda route: route.abort())
    await ann.page.goto(f"{ann.url}/offline.html")
    await ann.at("offline")
    await barriers.look(ann.page, "offline")
    assert barriers.found == []


async def opened(phone: PhonePage, testid: str, look: Callable[[], Awaitable[None]]) -> None:
    await phone(testid).first.tap()
    await phone.at("close")
    await look()
    await phone("close").tap()
    await phone.gone("close")


async def test_by_ear_alone_a_hand_is_won_against_an_easy_bot(rare: Rare, pages: Pages) -> None:
    ann = await pages.phone(rare)
    room = await ann.host("Ann")
    await ann.add_bots(1, "easy")
    await ann.start("one")
    # Hers needs the middle, the work piles and the stock; the bot has aces for it, and then the wrong cards.
    anns = deck(snatch="Qs 2h 5d 3h 8c 4h 5h 6h 7h 8h 9h Th Jh", work="Kd 6c Js 9d", stock="4c 3s Ac 2c Ah")
    bots = deck(snatch="2s 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Ah", work="Ks Kc Kd Kh", stock="Ad Ac")
    rare.deals.give(room, anns, bots)
    await ann.deal()
    ear = await Listener.on(ann.page)
    await ann.live()
    await ear.heard("Snatch!")
    await ear.heard("Ada: ace of")
    played = turns = 0
    while (hand := await ear.hand()) is not None:
        thing = choose(hand)
        if thing is None:
            turns += 1
            assert turns < 60, await ear.all_heard()
        before = len(await ear.all_heard())
        await ear.press(thing or hand.stock)
        played += thing is not None
        assert played < 80, await ear.all_heard()
        # What came of it is heard before the next move is thought of.
        await ann.page.wait_for_function(
            "n => window.heard.length > n || !document.querySelector('[data-testid=\"table\"]')",
            arg=before,
            timeout=PATIENCE,
        )
    assert played >= 13
    heard = await ear.all_heard()
    told = "queen of spades onto king of diamonds. Snatch pile: 2 of hearts, 12 left"
    assert any(told in text for text in heard)
    assert any("Middle: ace of hearts" in text for text in heard)
    await ann.at("scores")
    assert await ear.find("heading", "Snatch!")
    await expect(ann("emptied")).to_have_text("You emptied your pile")


async def test_a_german_browser_gets_german_and_a_chosen_language_stays(chromium: Browser, rare: Rare) -> None:
    context = await chromium.new_context(locale="de-AT", viewport={"width": 320, "height": 568}, has_touch=True)
    page = await context.new_page()
    phone = PhonePage(page, await Finger.on(page), rare.url)
    await page.goto(phone.url)
    await expect(phone("host")).to_have_text("Raum eröffnen")
    await narrow(page, "de")
    await phone.host("Jo")
    await phone.add_bots(1, "easy")
    await expect(phone("start")).to_have_text("Start")
    await narrow(page, "de")
    await phone.start()
    await expect(phone("deal")).to_have_text("Austeilen")
    await narrow(page, "de")
    await phone("settings").tap()
    await page.locator('label:has([data-testid="language-en"])').tap()
    await phone("close").tap()
    await expect(phone("deal")).to_have_text("Deal")
    await page.reload()
    await expect(phone("deal")).to_have_text("Deal", timeout=PATIENCE)
    await narrow(page, "en")
    await context.close()


async def narrow(page: Page, language: str) -> None:
    """In this language, and at 320 pixels, as on a small phone or large at four times the size, nothing is cut off."""
    # Whatever this room's code is: the widest one.
    await page.evaluate("document.querySelectorAll('[data-testid=lobby-code]').forEach(n => (n.textContent = 'WWWWW'))")
    seen = await page.evaluate("[document.documentElement.lang, document.documentElement.scrollWidth]")
    assert seen == [language, 320]


_FOCUSABLE = """() => {
    const one = 'a[href], button:enabled:not([tabindex="-1"]), select:enabled, input:enabled, [tabindex="0"]'
    const groups = new Set()
    window.stops = [...document.querySelectorAll(one)].filter((node) => {
        if (!node.checkVisibility({ visibilityProperty: true }) || node.closest('[inert]')) return false
        // The Tab key stops at a group of radio buttons once.
        if (node.type !== 'radio') return true
        const group = [...document.getElementsByName(node.name)]
        return node.checked || (!group.some((other) => other.checked) && node === group[0])
    })
    window.stops[0].focus({ focusVisible: true })
    return window.stops.length
}"""
_STOPPED = """() => {
    const node = document.activeElement
    const { left, top, width, height } = node.getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    const seen = node.contains(document.elementFromPoint(x, y)) || node.type === 'radio'
    const ring = getComputedStyle(node).outlineStyle !== 'none' || node.type === 'radio'
    return { at: window.stops.indexOf(node), is: node.outerHTML.slice(0, 120), seen, ring }
}"""


async def test_the_tab_key_stops_at_everything_in_reading_order_and_where_it_is_shows(rare: Rare, pages: Pages) -> None:
    ann = await pages.phone(rare)
    await ann.page.goto(ann.url)
    await ann.at("host-name")
    await tabs_through(ann.page, least=6)
    await ann.host("Ann")
    await ann.add_bots(2, "easy")
    await tabs_through(ann.page, least=12)
    # The button that had the focus goes: then the next place's heading has it.
    await ann("start").press("Enter")
    await ann.at("deal")
    await expect(ann.page.get_by_role("heading", level=1)).to_be_focused()
    await tabs_through(ann.page, least=6)


async def tabs_through(page: Page, least: int) -> None:
    count = await page.evaluate(_FOCUSABLE)
    assert count >= least
    for n in range(1, count):
        await page.keyboard.press("Tab")
        stopped = await page.evaluate(_STOPPED)
        assert stopped["at"] == n, stopped
        assert stopped["seen"], stopped
        assert stopped["ring"], stopped


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
    """By the strokes that they are drawn with, wherever that is and however large."""
    found = await page.locator(selector).evaluate_all("nodes => nodes.map(node => node.getAttribute('d'))")
    return {"".join(filter(str.isalpha, path)) for path in found}


async def test_letters_and_digits_that_somebody_switched_off_do_nothing_and_all_else_still_plays(
    rare: Rare, pages: Pages
) -> None:
    ann = await alone(rare, pages, deck(work="9d 8s 7h 6c", stock="4c 3s"), (1280, 800), touch=False)
    keys = ann.page.keyboard
    await ann("settings").click()
    await ann("setting-keys").click()
    await ann("close").click()
    await expect(ann("settings-sheet")).to_be_hidden(timeout=PATIENCE)
    before = await ann.table()
    # Each would have done something.
    for key in ("2", "7", "Shift+2", "m", "p"):
        await keys.press(key)
    await ann("stock").focus()
    await keys.press("Enter")
    await expect(ann("turned")).to_have_attribute("data-card", "4c", timeout=PATIENCE)
    seen = await ann.table()
    assert (seen.work, seen.in_stock, seen.paused) == (before.work, before.in_stock - 1, False)
    asked = "Aces open the middle"
    assert asked not in await ann("told").inner_text()
    await ann("settings").click()
    await ann("setting-keys").click()
    await ann("close").click()
    await keys.press("m")
    await expect(ann("told")).to_contain_text(asked, timeout=PATIENCE)
    await keys.press("p")
    await ann.at("paused")
