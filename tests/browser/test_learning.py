"""The first minute: a practice deal with its hints, and how to play."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.browser.decks import deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]


async def practising(rare: Rare, pages: Pages, mine: str, bots: str = "") -> PhonePage:
    """In a live practice deal."""
    ann = await pages.phone(rare, (360, 640))
    await ann.page.goto(rare.url)
    await ann.hit(ann("practise"))
    await ann.at("practice-deal")
    await expect(ann.page).to_have_url(re.compile("/r/"), timeout=PATIENCE)
    rare.deals.give(ann.page.url.rsplit("/", 1)[1], mine, bots or deck())
    await ann.hit(ann("practice-deal"))
    await ann.live()
    return ann


async def hinted(ann: PhonePage, kind: str) -> None:
    await expect(ann("hint")).to_have_attribute("data-kind", kind, timeout=PATIENCE)


async def ringed(ann: PhonePage, inside: str) -> bool:
    """The ring round what is to be tapped is round this."""
    ring, box = await ann("hint-from").bounding_box(), await ann(inside).bounding_box()
    assert ring is not None
    assert box is not None
    return abs(ring["x"] + ring["width"] / 2 - box["x"] - box["width"] / 2) < 3 and ring["y"] < box["y"]


async def test_a_player_alone_is_led_by_hints_through_a_real_deal_and_home_again(rare: Rare, pages: Pages) -> None:
    ann = await practising(rare, pages, deck(snatch="Ah Qs", work="Kh 9c 6s 3s"))
    await hinted(ann, "ace")
    await expect(ann("hint")).to_contain_text("Ace of hearts")
    assert await ringed(ann, "snatch")
    await ann.tap(ann("snatch"))

    await hinted(ann, "snatch")
    assert await ringed(ann, "snatch")
    await expect(ann("hint")).to_contain_text("king of hearts")
    # A hint is only one: the player may do as they like, and switch them off.
    await ann.hit(ann("hints"))
    await ann.gone("hint")
    await ann.hit(ann("hints"))
    await hinted(ann, "snatch")

    await ann.page.reload()
    await ann.live()
    await hinted(ann, "snatch")
    await ann.tap(ann("snatch"))
    await expect(ann("work-0")).to_have_attribute("data-card", "Qs", timeout=PATIENCE)

    await ann.leave()
    await ann.at("practise")
    assert ann.page.url.rstrip("/") == rare.url.rstrip("/")


async def test_a_hint_never_takes_a_tap_from_the_card_below_it(rare: Rare, pages: Pages) -> None:
    ann = await practising(rare, pages, deck(snatch="Ah Qs", work="Kh 9c 6s 3s"))
    await hinted(ann, "ace")
    for part in ("hint", "hint-from", "hint-to"):
        assert await ann(part).evaluate("node => getComputedStyle(node).pointerEvents") == "none"


async def test_a_hint_hides_nothing_of_the_pile_that_it_speaks_of(rare: Rare, pages: Pages) -> None:
    ann = await practising(rare, pages, deck(snatch="Ah Ac As 2s", work="Kh Kc Qh Qc"), deck(work="Ah Ad Kh Kc"))

    async def piles(count: int) -> None:
        await expect(ann("middle")).to_have_attribute("data-piles", str(count), timeout=PATIENCE)

    await ann.tap(ann("snatch"))
    await ann.rest()
    await ann.tap(ann("snatch"))
    # The bot has two, so that the last ace is the first of a second row, where hints stand.
    await piles(4)
    await ann.rest()
    await ann.tap(ann("snatch"))
    await piles(5)
    await hinted(ann, "middle")
    said, pile = await ann("hint").bounding_box(), await ann("hint-to").bounding_box()
    assert said is not None
    assert pile is not None
    assert said["y"] + said["height"] <= pile["y"] or said["y"] >= pile["y"] + pile["height"]


async def test_how_to_play_shows_the_table_that_one_plays_at(rare: Rare, pages: Pages) -> None:
    ann = await pages.phone(rare)
    await ann.page.goto(rare.url)
    await ann.hit(ann("help"))
    whole = ann("instructions").get_by_role("img", name="A table with numbers")
    await expect(whole).to_be_visible(timeout=PATIENCE)
    await expect(whole.locator("[data-card]")).not_to_have_count(0)
    # One number for each place that the list below explains.
    await expect(whole.locator(":scope > b")).to_have_text(["1", "2", "3", "4", "5", "6"])
    await expect(ann("instructions").locator("ol > li")).to_have_count(6)
    # It can't be played at: nothing in it takes a tap or the focus.
    assert await whole.locator("[inert]").count() == 1
    await ann.hit(ann("tab-controls"))
    await expect(ann("instructions")).to_contain_text("Let go anywhere in the middle")
    await ann("tab-controls").press("ArrowRight")
    await expect(ann("tab-questions")).to_be_focused()
    await expect(ann("instructions")).to_contain_text("Can an ace be snatched?")
    await ann.hit(ann("close"))
    await expect(ann("instructions")).to_be_hidden(timeout=PATIENCE)
