"""A drag that something comes in between: the card is home or placed, never in between, and nothing sticks."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.alone import alone, beside
from tests.browser.decks import HEARTS, deck
from tests.browser.engines_table import same
from tests.browser.finger import Point
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.browser.record import record, recorded, whole
from tests.e2e.party import Party, must

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

WORK = "9d 8s 7h 9h"
RUN = [["9d", "8s", "7h"], [], [], ["9h"]]
_CENTRE = """card => {
    const node = document.querySelector(`[data-card="${card}"][data-spot]`)
    const { left, top, width, height } = node.getBoundingClientRect()
    return [left + width / 2, top + height / 2]
}"""
_AT = """([card, x, y, most]) => {
    const node = document.querySelector(`[data-card="${card}"][data-spot]`)
    if (!node) return false
    const { left, top, width, height } = node.getBoundingClientRect()
    return Math.hypot(left + width / 2 - x, top + height / 2 - y) <= most
}"""
_HIDE = """hidden => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => hidden ? 'hidden' : 'visible' })
    document.dispatchEvent(new Event('visibilitychange'))
    if (hidden) dispatchEvent(new Event('blur'))
}"""
NEAR = 14.0
"""CSS pixels: a held card may be drawn a little larger, or lifted above the finger."""


async def centre(phone: PhonePage, card: str) -> Point:
    return Point(*await phone.page.evaluate(_CENTRE, card))


async def is_at(phone: PhonePage, card: str, at: Point, most: float = 1.5) -> None:
    """It comes to lie there."""
    await phone.page.wait_for_function(_AT, arg=[card, at.x, at.y, most], timeout=PATIENCE)


async def carry(phone: PhonePage, card: str, to: Point) -> None:
    """Held over there, the finger still down."""
    start, lay = await phone.free(phone.card(card)), await centre(phone, card)
    await phone.finger.down(start)
    await phone.finger.move(start, to)
    await is_at(phone, card, Point(lay.x + to.x - start.x, lay.y + to.y - start.y), NEAR)


async def test_whatever_takes_a_touch_away_the_run_is_home_and_nothing_sticks_to_the_finger(
    rare: Rare, pages: Pages
) -> None:
    # Case 26.
    phone = await alone(rare, pages, deck(work=WORK))
    await phone.tap(phone.card("8s"))
    await phone.tap(phone.card("7h"))
    assert (await phone.table()).work == RUN
    home, over = await centre(phone, "8s"), await phone.free(phone.card("9h"))

    async def a_call() -> None:
        await phone.finger.cancel()

    async def off_the_screen() -> None:
        await phone.finger.move(over, Point(-30, over.y))
        await phone.finger.up()

    async def another_app() -> None:
        await phone.page.evaluate(_HIDE, True)
        await is_at(phone, "8s", home)
        await phone.finger.cancel()
        await phone.page.evaluate(_HIDE, False)

    async def turned() -> None:
        await phone.page.set_viewport_size({"width": 844, "height": 390})
        await phone.page.wait_for_function("innerWidth === 844")
        await phone.finger.cancel()
        await phone.page.set_viewport_size({"width": 390, "height": 844})
        await phone.page.wait_for_function("innerWidth === 390")

    for comes_in in (a_call, off_the_screen, another_app, turned):
        await carry(phone, "8s", over)
        await comes_in()
        await is_at(phone, "8s", home)
        assert (await phone.table()).work == RUN, comes_in.__name__
        # A finger that goes on is no longer on it.
        await phone.finger.down(Point(5, 5))
        await phone.finger.move(Point(5, 5), over)
        await phone.finger.up()
        await is_at(phone, "8s", home)
        assert (await phone.table()).work == RUN, comes_in.__name__
    # And the next drag is one.
    await phone.drag(phone.card("8s"), phone.card("9h"))
    assert (await phone.table()).work == [["9d"], [], [], ["9h", "8s", "7h"]]


async def test_a_state_that_comes_in_mid_drag_lets_it_go_on_and_a_pause_or_the_hands_end_takes_the_card_home(
    rare: Rare, pages: Pages, people: Party
) -> None:
    # Case 27.
    phone = await pages.phone(rare, moving=True)
    await record(phone.page)
    bo = await beside(
        rare, phone, people, deck(work="9d 8s 7d Ac", snatch="2c"), deck(snatch=HEARTS, work="As Ad 2s 2d")
    )
    over = await phone.free(phone.card("9d"))
    await carry(phone, "8s", over)
    await must(bo, ToMiddle("As", "work", 0))
    await expect(phone("pile-1")).to_have_attribute("data-top", "As", timeout=PATIENCE)
    await phone.finger.up()
    await expect(phone("work-0")).to_have_attribute("data-card", "8s", timeout=PATIENCE)
    await same(phone, rare.deals.tables[people.room])

    # In the middle of a drag an own card's answer comes: this one is still in the hand.
    await phone.tap(phone.card("Ac"))
    await carry(phone, "7d", await phone.free(phone.card("8s")))
    await expect(phone.page.locator('[data-pile][data-top="Ac"]')).to_have_count(1, timeout=PATIENCE)
    await phone.finger.up()
    await expect(phone("work-0")).to_have_attribute("data-card", "7d", timeout=PATIENCE)

    middle = await phone.free(phone("middle"))
    home = await centre(phone, "7d")
    await carry(phone, "7d", middle)
    await must(bo, {"t": "pause"})
    await phone.at("paused")
    await phone.finger.up()
    await is_at(phone, "7d", home)
    await must(bo, {"t": "resume"})
    await phone.gone("paused")
    await same(phone, rare.deals.tables[people.room])

    await carry(phone, "7d", middle)
    for card in HEARTS.split():
        await must(bo, ToMiddle(card, "snatch"))
    await phone.at("scores")
    await phone.finger.up()
    await phone.at("scores")
    found = await recorded(phone.page)
    placed = {"Ac"}
    shown = [step for step in found.steps if step.phase == "live" and any(p.top == "Ac" for p in step.middle)]
    assert [fault for step in shown if (fault := whole(step, placed))] == []


async def test_a_drag_from_the_top_of_the_page_scrolls_nothing_and_one_to_its_edge_lets_the_next_start_at_its_finger(
    rare: Rare, pages: Pages
) -> None:
    # Case 29.
    phone = await alone(rare, pages, deck(work=WORK))
    await phone.page.evaluate("window.still = true")
    for x in (20, 200, 370):
        await phone.finger.drag(Point(x, 2), Point(x, 700), steps=12)
        await phone.finger.drag(Point(x, 300), Point(x, 840), steps=12)
    assert await phone.page.evaluate("[window.still, scrollY, visualViewport.offsetTop, visualViewport.scale]") == [
        True,
        0,
        0,
        1,
    ]
    assert await phone.page.evaluate(_NO_PULL) == []

    home = await centre(phone, "8s")
    for edge in (Point(0, 400), Point(389, 400), Point(200, 0), Point(200, 843)):
        start = await phone.free(phone.card("8s"))
        await phone.finger.down(start)
        await phone.finger.move(start, edge, steps=12)
        await phone.finger.cancel()
        await is_at(phone, "8s", home)
        await carry(phone, "8s", Point(start.x + 40, start.y - 60))
        await phone.finger.cancel()
        await is_at(phone, "8s", home)
    assert (await phone.table()).work == [[card] for card in WORK.split()]


_NO_PULL = """() => {
    // Where a finger could pull the page down to load it anew: nowhere, unless the page itself allows no overscroll.
    if (['none', 'contain'].includes(getComputedStyle(document.documentElement).overscrollBehaviorY)) return []
    const free = []
    for (let y = 1; y < innerHeight; y += 20) {
        for (let x = 1; x < innerWidth; x += 20) {
            let node = document.elementFromPoint(x, y)
            while (node && getComputedStyle(node).touchAction !== 'none') node = node.parentElement
            if (!node) free.push([x, y])
        }
    }
    return free
}"""


@pytest.mark.parametrize("moving", [False, True], ids=["still", "moving"])
async def test_a_phone_that_is_turned_in_mid_hand_shows_the_same_table_and_plays_on(
    moving: bool, rare: Rare, pages: Pages
) -> None:
    # Case 31.
    phone = await alone(rare, pages, deck(work=WORK, snatch="Ah 2h 3h 4h", stock="2c"), moving=moving)
    await phone.turn()
    table = rare.deals.tables[phone.page.url.rsplit("/", 1)[-1]]
    for width, height in ((844, 390), (390, 844), (640, 360), (360, 640)):
        before = await phone.table()
        await phone.page.set_viewport_size({"width": width, "height": height})
        await phone.page.wait_for_function(f"innerWidth === {width}")
        assert (await phone.table()).own == before.own
        for place in [phone("snatch"), phone("turned"), phone("stock"), *(phone(f"work-{n}") for n in range(4))]:
            await phone.free(place)
        top = before.snatch
        assert top is not None
        await phone.drag(phone.card(top), phone("middle"))
        await expect(phone("pile-1")).to_have_attribute("data-top", top, timeout=PATIENCE)
        await same(phone, table)
