"""The table on every screen: all of it visible, nothing to scroll."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.decks import deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.e2e.party import Party, must, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

SIZES = [(360, 640), (390, 844), (640, 360), (844, 390), (820, 1180), (1180, 820), (1920, 1080), (390, 844)]
"""Phones upright and turned, a tablet both ways, a desk, and the phone as it was."""
OWN = ['[data-spot="snatch"]', '[data-testid="snatch-left"]', '[data-testid="turned"]', '[data-testid="stock"]']
PARTS = [*OWN, '[data-spot^="work-"]', '[data-testid="middle"]', "[data-pile]", '[data-testid^="seat-"]', ".bar button"]
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
