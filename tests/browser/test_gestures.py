"""Each gesture of the game, on every kind of screen: by finger, and by mouse on the largest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import FloatRect, Locator, expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.alone import alone, beside
from tests.browser.decks import deck
from tests.browser.finger import Point
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.e2e.party import Party, must

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

SIZES = [(360, 640), (390, 844), (844, 390), (820, 1180), (1920, 1080)]
SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
DESK = SIZES[-1]
ANNS = deck(snatch="Ah 2h 3h 4h 8h Kc 7c", work="9s 9c 8d Th", stock="2d 3d")


@SIZE
async def test_cards_go_to_the_middle_by_tap_drag_and_flick_and_onto_the_pile_that_they_are_dropped_on(
    size: tuple[int, int], rare: Rare, pages: Pages, people: Party, album: Path
) -> None:
    phone = await pages.phone(rare, size, touch=size != DESK)
    bo = await beside(rare, phone, people, ANNS, deck(work="Ah Kd Ks Kh"))
    middle = await rect(phone("middle"))
    await phone.tap(phone.card("Ah"))
    await tops(phone, "Ah")
    await must(bo, ToMiddle("Ah", "work", 0))
    await tops(phone, "Ah", "Ah")

    # Dropped on one pile, it goes there and nowhere else.
    await phone.drag(phone.card("2h"), phone("pile-2"))
    await expect(phone("pile-2")).to_have_attribute("data-top", "2h", timeout=PATIENCE)
    await expect(phone("pile-1")).to_have_attribute("data-top", "Ah")

    # The middle lights up while it is carried; let go anywhere in it, it finds its pile.
    dark = await picture(phone, inner_edge(middle))
    start, corner = await phone.free(phone.card("3h")), await far_corner(phone, middle)
    await phone.finger.down(start)
    await phone.finger.move(start, corner)
    await differs(phone, inner_edge(middle), dark)
    lit = await picture(phone, inner_edge(middle))
    await phone.shot(album / "over-the-middle.png")
    await phone.finger.up()
    await tops(phone, "Ah", "3h")
    await differs(phone, inner_edge(middle), lit)

    # A quick flick up, that ends long before the middle.
    start = await phone.free(phone.card("4h"))
    await phone.finger.flicks((start, Point(start.x, start.y - 70)))
    await tops(phone, "Ah", "4h")
    seen = await phone.table()
    assert (seen.left, seen.snatch) == (9, "8h")


@SIZE
async def test_a_tap_sends_a_card_where_the_rules_say(size: tuple[int, int], rare: Rare, pages: Pages) -> None:
    phone = await alone(rare, pages, ANNS, size, touch=size != DESK)
    await phone.tap(phone.card("8d"))  # the leftmost pile with cards that it fits
    await works(phone, ["9s", "8d"], ["9c"], [], ["Th"])
    for card in ("Ah", "2h", "3h", "4h"):
        await phone.tap(phone.card(card))  # the middle before all
        await tops(phone, card)
        await phone.rest()
    await phone.tap(phone.card("8h"))
    await works(phone, ["9s", "8d"], ["9c", "8h"], [], ["Th"])
    await phone.rest()
    await phone.tap(phone.card("Kc"))  # an empty pile where nothing else is
    await works(phone, ["9s", "8d"], ["9c", "8h"], ["Kc"], ["Th"])
    await phone.rest()
    await phone.tap(phone.card("7c"))
    await works(phone, ["9s", "8d", "7c"], ["9c", "8h"], ["Kc"], ["Th"])
    await phone.rest()
    await phone.tap(phone.card("9s"))  # a run, from its head
    await works(phone, [], ["9c", "8h"], ["Kc"], ["Th", "9s", "8d", "7c"])
    await phone.rest()
    before = await phone.table()
    await phone.tap(phone.card("Kc"))  # an empty pile for an empty pile: nothing
    await phone.tap(phone.card("8d"))  # a run, from its middle
    await works(phone, ["8d", "7c"], ["9c", "8h"], ["Kc"], ["Th", "9s"])
    assert (await phone.table()).left == before.left == 6
    await phone.turn()
    assert (await phone.table()).turned == "2d"
    # Undo shows while there is one.
    await phone("undo").click()
    await phone.gone("undo")
    assert (await phone.table()).in_stock == 35


@SIZE
async def test_what_is_carried_shows_where_it_may_go_and_a_run_goes_where_it_overlaps(
    size: tuple[int, int], rare: Rare, pages: Pages, album: Path
) -> None:
    # Case 30.
    run = ["8d", "7c", "6d", "5c", "4d", "3c", "2d"]
    cards = deck(snatch="7c 6d 5c 4d 3c 2d", work="8d 9c 9s Th")
    phone = await alone(rare, pages, cards, size, touch=size != DESK)
    for card in run[1:]:
        await phone.drag(phone.card(card), phone("work-0"))
    await works(phone, run, ["9c"], ["9s"], ["Th"])
    head, target, other = [await rect(phone.card(card)) for card in ("8d", "9c", "Th")]
    may, may_not = await picture(phone, around(target)), await picture(phone, around(other))
    # Held by its left edge it reaches over the next pile while the finger is still beside that.
    grip = Point(head["x"] + 4, head["y"] + min(6, head["height"] / 12))
    way = Point(grip.x + 0.7 * (target["x"] - head["x"]), grip.y)
    assert way.x < target["x"] - 4
    await phone.finger.down(grip)
    await phone.finger.move(grip, way)
    await differs(phone, around(target), may)
    assert await picture(phone, around(other)) == may_not
    await phone.shot(album / "over-a-pile.png")
    await phone.finger.up()
    await works(phone, [], ["9c", *run], ["9s"], ["Th"])


async def test_the_bar_pauses_for_everyone_explains_and_leaves_only_after_asking(
    rare: Rare, pages: Pages, people: Party
) -> None:
    phone = await pages.phone(rare)
    bo = await beside(rare, phone, people, ANNS, deck())
    await phone.gone("undo")
    await phone("pause").tap()
    await expect(phone("paused")).to_contain_text("You paused the game", timeout=PATIENCE)
    await bo.until(lambda p: p.screen.table is not None and p.screen.table.paused_by == 0)
    await phone("resume").tap()
    await phone.gone("paused")
    await phone.page.keyboard.press("p")
    await phone.at("paused")
    await phone.page.keyboard.press("p")
    await phone.gone("paused")
    await phone("help").tap()
    # Its pictures are tables too, with parts of the same names.
    sheet = phone("instructions").first
    await expect(sheet).to_be_visible(timeout=PATIENCE)
    # It is one's own: nobody waits for who reads.
    assert bo.screen.live
    await sheet.get_by_test_id("close").first.tap()
    await expect(sheet).to_be_hidden(timeout=PATIENCE)
    await phone("leave").tap()
    await phone.at("leave-dialog")
    await phone("leave-no").tap()
    await expect(phone("leave-dialog")).to_be_hidden(timeout=PATIENCE)
    assert (await phone.table()).left == 13


# ---- what shows ----


async def tops(phone: PhonePage, *expected: str) -> None:
    """The middle has these, in the order of its piles."""
    for number, top in enumerate(expected, 1):
        await expect(phone(f"pile-{number}")).to_have_attribute("data-top", top, timeout=PATIENCE)
    await expect(phone("middle")).to_have_attribute("data-piles", str(len(expected)), timeout=PATIENCE)


async def works(phone: PhonePage, *piles: list[str]) -> None:
    for number, pile in enumerate(piles):
        place = phone(f"work-{number}")
        if pile:
            await expect(place).to_have_attribute("data-card", pile[-1], timeout=PATIENCE)
    assert (await phone.table()).work == list(piles)


# ---- where, and how it looks there ----

Box = FloatRect


async def rect(what: Locator) -> Box:
    box = await what.bounding_box()
    assert box is not None
    return box


async def far_corner(phone: PhonePage, middle: Box) -> Point:
    """A place in the middle that is on none of its piles, and far from all of them."""
    piles = [await rect(pile) for pile in await phone.page.locator("[data-pile]").all()]
    corners = [
        Point(middle["x"] + x * middle["width"], middle["y"] + y * middle["height"])
        for x in (0.2, 0.8)
        for y in (0.25, 0.75)
    ]
    return max(corners, key=lambda at: min(abs(at.x - p["x"]) + abs(at.y - p["y"]) for p in piles))


def inner_edge(middle: Box) -> Box:
    """A strip of it along its lower edge, where no card lies."""
    return {"x": middle["x"], "y": middle["y"] + middle["height"] - 6, "width": middle["width"] * 0.15, "height": 6}


def around(pile: Box) -> Box:
    return {"x": pile["x"] - 3, "y": pile["y"] + pile["height"] - 12, "width": pile["width"] + 6, "height": 15}


async def picture(phone: PhonePage, clip: Box) -> bytes:
    return await phone.page.screenshot(clip=clip)


async def looks(phone: PhonePage, clip: Box) -> AsyncIterator[bytes]:
    """One picture after the other, for as long as patience lasts."""
    async with asyncio.timeout(PATIENCE / 1000):
        while True:
            yield await picture(phone, clip)


async def differs(phone: PhonePage, clip: Box, before: bytes) -> None:
    """It looks otherwise than before, now or soon."""
    async for now in looks(phone, clip):
        if now != before:
            return
