"""No pointer at all: from the first page through a game and out again by keys."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from playwright.async_api import Error, expect

from tests.browser.alone import alone
from tests.browser.decks import HEARTS, deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

DESK = (1280, 800)
WORK, SNATCH, TURNED, STOCK = ("1", "2", "3", "4"), "5", "6", "7"
"""The places' number keys."""
_FOCUS = "() => { const it = document.activeElement; return [it?.dataset.testid ?? '', it?.dataset.spot ?? ''] }"


async def press(phone: PhonePage, *keys: str) -> None:
    for key in keys:
        await phone.page.keyboard.press(key)


async def tab_to(phone: PhonePage, testid: str, most: int = 60) -> None:
    """By Tab alone, and what has the focus must be seen to have it."""
    for _ in range(most):
        await press(phone, "Tab")
        here = await phone.page.evaluate(_FOCUS)
        if here[0] == testid:
            assert await phone.page.evaluate("document.activeElement.matches(':focus-visible')")
            return
    raise AssertionError(f"Tab doesn't come to {testid}")


async def test_a_whole_game_from_the_first_page_to_the_next_one_by_keys_and_numbers(
    rare: Rare, pages: Pages, album: Path
) -> None:
    phone = await pages.phone(rare, DESK, touch=False)
    await phone.page.goto(rare.url)
    await phone.at("host-name")
    await tab_to(phone, "host-name")
    await phone.page.keyboard.type("Ann")
    await press(phone, "Enter")
    await phone.at("lobby-code")
    room = (await phone("lobby-code").inner_text()).strip()
    await tab_to(phone, "start")
    await press(phone, "Enter")
    await phone.at("deal")
    rare.deals.give(room, deck(snatch=HEARTS, work="9d 8s 7d 2c", stock="Ac 3c"))
    await tab_to(phone, "deal")
    await press(phone, "Enter")
    await phone.live()

    await press(phone, WORK[1])  # 8s onto 9d
    await expect(phone("work-0")).to_have_attribute("data-card", "8s", timeout=PATIENCE)
    await press(phone, "u")
    await expect(phone("work-1")).to_have_attribute("data-card", "8s", timeout=PATIENCE)
    await phone.gone("undo")
    await press(phone, STOCK)
    await expect(phone("turned")).to_have_attribute("data-card", "Ac", timeout=PATIENCE)
    await press(phone, TURNED, WORK[3])
    await expect(phone.page.locator('[data-pile][data-top="2c"]')).to_have_count(1, timeout=PATIENCE)
    # Held down it repeats itself, and is one wish all the same.
    await phone.page.keyboard.down("p")
    await phone.at("paused")
    await phone.page.keyboard.down("p")
    await phone.page.keyboard.up("p")
    await press(phone, SNATCH)
    await press(phone, "p")
    await phone.gone("paused")
    assert (await phone.table()).left == 13
    await phone.shot(album / "table.png")
    for number, card in enumerate(HEARTS.split()[:-1], 1):
        await press(phone, SNATCH)
        await expect(phone("snatch-left")).to_have_text(str(13 - number), timeout=PATIENCE)
        await expect(phone.page.locator(f'[data-pile][data-top="{card}"]')).to_have_count(1, timeout=PATIENCE)
        await phone.table()
    await press(phone, SNATCH)
    await phone.at("scores")
    await expect(phone("emptied")).to_have_text("You emptied your pile")
    # One hand is a game: its standings follow by themselves.
    await phone.at("standings")
    await tab_to(phone, "new-game")
    # In a place's first moment its buttons take nothing.
    while await phone("new-game").count():
        await press(phone, "Enter")
        with contextlib.suppress(Error):
            await phone("new-game").wait_for(state="detached", timeout=700)
    await phone.at("deal")


async def test_arrows_and_enter_play_taps_and_a_lifted_run_goes_where_it_is_told(rare: Rare, pages: Pages) -> None:
    cards = deck(work="9d 8s 7d 9h", snatch="Ah 2h Kd", stock="Ac 2c")
    phone = await alone(rare, pages, cards, DESK, touch=False)
    await enter(phone, "stock")
    await expect(phone("turned")).to_have_attribute("data-card", "Ac", timeout=PATIENCE)
    await enter(phone, "turned")
    await expect(phone("pile-1")).to_have_attribute("data-top", "Ac", timeout=PATIENCE)
    await enter(phone, "snatch")
    await expect(phone("pile-2")).to_have_attribute("data-top", "Ah", timeout=PATIENCE)
    await enter(phone, "work-1-0")
    await expect(phone("work-0")).to_have_attribute("data-card", "8s", timeout=PATIENCE)
    await enter(phone, "work-2-0")
    await expect(phone("work-0")).to_have_attribute("data-card", "7d", timeout=PATIENCE)
    # The run from 8s down, lifted from inside its pile.
    await enter(phone, "work-0-1")
    await expect(phone("work-3")).to_have_attribute("data-card", "7d", timeout=PATIENCE)
    seen = await phone.table()
    assert seen.work == [["9d"], [], [], ["9h", "8s", "7d"]]
    assert seen.middle != []
    assert (seen.snatch, seen.left) == ("2h", 12)


async def enter(phone: PhonePage, spot: str) -> None:
    await go_to(phone, spot)
    await press(phone, "Enter")


async def go_to(phone: PhonePage, spot: str) -> None:
    """By arrows, over the own cards, until the focus is on this one."""
    seen = set[str]()
    for way in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp") * 3:
        for _ in range(9):
            here = (await phone.page.evaluate(_FOCUS))[1]
            if here == spot:
                return
            seen.add(here)
            if spot.rsplit("-", 1)[0] == here.rsplit("-", 1)[0] and here.startswith("work"):
                await press(phone, "ArrowUp")
                if (await phone.page.evaluate(_FOCUS))[1] == spot:
                    return
            await press(phone, way)
    raise AssertionError(f"arrows don't come to {spot}, only to {sorted(seen)}")
