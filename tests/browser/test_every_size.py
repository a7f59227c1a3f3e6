"""The table on every screen: all of it visible, nothing to scroll."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.decks import HEARTS, deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.e2e.party import Party, must, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

SIZES = [(360, 640), (390, 844), (640, 360), (844, 390), (820, 1180), (1180, 820), (1920, 1080), (390, 844)]
"""Phones upright and turned, a tablet both ways, a desk, and the phone as it was."""
OWN = ['[data-spot="snatch"]', '[data-testid="snatch-left"]', '[data-testid="turned"]', '[data-testid="stock"]']
PARTS = [*OWN, '[data-spot^="work-"]', '[data-testid="middle"]', "[data-pile]", '[data-testid^="seat-"]', ".bar button"]
TOO_WIDE = """() => document.documentElement.scrollWidth <= 360 ? [] : [...document.querySelectorAll('body *')]
    .filter((node) => node.getBoundingClientRect().right > 360).map((node) => node.outerHTML.slice(0, 120))"""
HALF = 0.5
"""A pixel is not always a whole one."""


@pytest.mark.parametrize("seats", [4, 8])
async def test_all_of_the_table_is_on_the_screen_and_nothing_scrolls(
    seats: int, rare: Rare, pages: Pages, people: Party, album: Path
) -> None:
    phone = await pages.phone(rare)
    people.room = await phone.host("Wilhelmina Bergs")
    others = [await people.join(f"Player number {n}") for n in range(2, seats + 1)]
    await phone.start()
    for other in others:
        await until(other, lambda p: p.screen.table is not None)
    # Everybody's four aces, and a run as long as a run gets.
    run = "Kd Qs Jd Ts 9d 8s 7d 6s 5d 4s 3d 2s"
    first = deck(snatch=run.removeprefix("Kd "), work="Kd Kh Kc Ks", stock="Ah Ac Ad As")
    rare.deals.give(people.room, first, *[deck(work="As Ah Ac Ad")] * (seats - 1))
    await phone.deal()
    await phone.live()
    for other in others:
        for work, ace in enumerate(("As", "Ah", "Ac", "Ad")):
            await must(other, ToMiddle(ace, "work", work))
    for card in run.split()[1:]:
        await phone.drag(phone.card(card), phone("work-0"))
    for piles in range(4 * seats - 3, 4 * seats + 1):
        await phone.turn()
        await phone.tap(phone("turned"))
        await expect(phone("middle")).to_have_attribute("data-piles", str(piles), timeout=PATIENCE)
    await phone.turn()
    before = await phone.table()
    assert len(before.work[0]) == 12
    for width, height in SIZES:
        await phone.page.set_viewport_size({"width": width, "height": height})
        await phone.free(phone("stock"))
        await phone.shot(album / f"{width}x{height}.png")
        await fits(phone, width, height)
        rings = phone("middle").locator("[data-pile]")
        assert await rings.count() == 4 * seats
        # Case 31: turned or not, nothing is lost.
        assert (await phone.table()).own == before.own
    await phone("pause").tap()
    await phone.at("paused")
    await fits(phone, *SIZES[-1])


async def test_names_of_sixteen_wide_letters_make_no_place_wider_than_a_small_phone(
    rare: Rare, pages: Pages, people: Party, album: Path
) -> None:
    phone = await pages.phone(rare, (360, 640))
    tv = await pages.tv(rare)
    people.room = await phone.host("W" * 16)
    others = [await people.join(name) for name in (*(letter * 16 for letter in "WMAGQO"), "שלום לכל העולם")]
    await expect(phone("player")).to_have_count(8, timeout=PATIENCE)
    await narrow(phone)
    await phone.start("to25")
    for other in others:
        await until(other, lambda p: p.screen.table is not None)
    await narrow(phone)
    rare.deals.give(people.room, deck(), deck(snatch=HEARTS), *[deck()] * 6)
    await phone.deal()
    await phone.live()
    await narrow(phone)
    # What is cut off of a name is its end.
    assert await phone("seat-7").locator(".name").evaluate("name => getComputedStyle(name).direction") == "rtl"
    await tv.watch(people.room)
    for card in HEARTS.split():
        await must(others[0], ToMiddle(card, "snatch"))
    await phone.at("scores")
    await phone.shot(album / "scores.png")
    await narrow(phone)
    # On a TV eight rows have a line each, and room under the heading.
    await expect(tv("score")).to_have_count(8, timeout=PATIENCE)
    await tv.shot(album / "tv-scores.png")
    emptied, table = tv("emptied"), tv.page.locator("table")
    above, below = await emptied.bounding_box(), await table.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]


async def narrow(phone: PhonePage) -> None:
    """Nothing to be moved sideways: a phone would show all of it smaller."""
    wide = await phone.page.evaluate(TOO_WIDE)
    assert wide == []


async def fits(phone: PhonePage, width: int, height: int) -> None:
    """Neither the page nor anything of the table is larger than the screen, and seats don't overlap."""
    root = await phone.page.evaluate(
        "[document.documentElement, document.body].map(e => [e.scrollWidth, e.scrollHeight])"
    )
    assert all(w <= width and h <= height for w, h in root), root
    parts = await phone.rects(*PARTS)
    assert len(parts) > len(PARTS)
    for part in parts:
        assert part["left"] >= -HALF, part
        assert part["top"] >= -HALF, part
        assert part["right"] <= width + HALF, part
        assert part["bottom"] <= height + HALF, part
    for one, other in itertools.combinations(await phone.rects('[data-testid^="seat-"]'), 2):
        beside = one["right"] <= other["left"] + HALF or other["right"] <= one["left"] + HALF
        assert beside or one["bottom"] <= other["top"] + HALF or other["bottom"] <= one["top"] + HALF
    (middle,) = await phone.rects('[data-testid="middle"]')
    for pile in await phone.rects("[data-pile]"):
        assert middle["top"] - HALF <= pile["top"]
        assert pile["bottom"] <= middle["bottom"] + HALF
    for own in await phone.rects(*OWN, '[data-spot^="work-"]'):
        assert own["top"] >= middle["bottom"] or own["left"] >= middle["right"], (own, middle)
