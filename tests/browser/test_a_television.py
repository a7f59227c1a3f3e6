"""The TV: readable from three metres on every screen, never scrolling; many of one room; awake; back by itself."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.decks import HEARTS, deck
from tests.browser.line import Line
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE
from tests.browser.tv_page import TvPage
from tests.e2e.party import Party, must
from wire import client_in

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(150)]

SCREENS = [(1920, 1080), (1280, 720), (3840, 2160), (1024, 768)]
"""A TV, a small one, a large one, a projector."""
SMALLEST = 0.017
"""Of a 16 : 9 screen's width: on 55 inches some 20 mm of type, ten arc minutes of an x-height at three metres."""
HALF = 0.5
TEXTS = """() => {
    const texts = []
    const walker = document.createTreeWalker(document.querySelector('[data-testid="tv"]'), NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const text = node.textContent.trim()
        const element = node.parentElement
        if (!text || element.closest('.said, .controls')) continue
        const style = getComputedStyle(element)
        if (style.visibility === 'hidden') continue
        const range = document.createRange()
        range.selectNodeContents(node)
        const at = range.getBoundingClientRect()
        texts.push({ text, size: parseFloat(style.fontSize), clips: style.overflow === 'hidden',
            left: at.left, top: at.top, right: at.right, bottom: at.bottom })
    }
    return texts
}"""
AT_REST = """async () => {
    const frame = () => new Promise(requestAnimationFrame)
    const gliding = () => document.getAnimations().filter((animation) =>
        animation.playState === 'running' && animation.effect.getComputedTiming().endTime < Infinity)
    do {
        // A new size is measured in one frame and taken in the next, from which on things glide.
        for (let n = 0; n < 3; n++) await frame()
        await Promise.allSettled(gliding().map((animation) => animation.finished))
    } while (gliding().length > 0)
}"""
WAKE_LOCK = """
    window.asked = []
    navigator.wakeLock.request = (kind) => (asked.push(kind), Promise.resolve(new EventTarget()))
"""
INSECURE = "delete Navigator.prototype.wakeLock"
"""As on a page from the local network."""
RECTS = """(selector) => [...document.querySelectorAll(selector)].map((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    return { left, top, right, bottom }
})"""


async def test_everything_is_large_enough_and_on_the_screen_with_eight_players_and_all_their_aces(
    rare: Rare, pages: Pages, people: Party
) -> None:
    ann = await people.host("Wilhelmina Bergs")
    others = [await people.join(f"Player number {n}") for n in range(2, 9)]
    tv = await pages.tv(rare)
    await tv.watch(people.room)
    await expect(tv("tv-player")).to_have_count(8, timeout=PATIENCE)
    await readable(tv, '[data-testid="tv-player"]')
    await people.start(ann)
    # More than a hand: scores that are no game's last stay until the host goes on.
    await must(ann, client_in.SetOptions({"length": "to25"}))
    rare.deals.give(people.room, deck(snatch=HEARTS, work="As Ac Ad"), *[deck(work="As Ah Ac Ad")] * 7)
    await must(ann, client_in.Deal())
    await people.live()
    for other in others:
        for work, ace in enumerate(("As", "Ah", "Ac", "Ad")):
            await must(other, ToMiddle(ace, "work", work))
    for work, ace in enumerate(("As", "Ac", "Ad")):
        await must(ann, ToMiddle(ace, "work", work))
    await must(ann, ToMiddle("Ah", "snatch"))
    await expect(tv("middle").locator("[data-pile]")).to_have_count(32, timeout=PATIENCE)
    await expect(tv("banner")).to_be_empty(timeout=PATIENCE)
    await readable(tv, '[data-testid="tv-seat"]', "[data-pile]")
    for card in HEARTS.split()[1:]:
        await must(ann, ToMiddle(card, "snatch"))
    await tv.phase("scores")
    await expect(tv("score")).to_have_count(8, timeout=PATIENCE)
    await readable(tv, '[data-testid="score"]')
    rare.deals.give(people.room, deck(snatch=HEARTS), *[deck()] * 7)
    await must(ann, client_in.NextHand())
    await people.live()
    for card in HEARTS.split():
        await must(ann, ToMiddle(card, "snatch"))
    await tv.phase("standings")
    await expect(tv("place")).to_have_count(8, timeout=PATIENCE)
    await readable(tv, '[data-testid="place"]')


async def readable(tv: TvPage, *parts: str) -> None:
    """On every screen: no text too small or cut off by the edge, nothing scrolls, and `parts` don't overlap."""
    for width, height in SCREENS:
        await tv.page.set_viewport_size({"width": width, "height": height})
        await tv.page.evaluate(AT_REST)
        least = min(width, height * 16 / 9) * SMALLEST
        texts: list[dict[str, Any]] = await tv.page.evaluate(TEXTS)
        assert len(texts) > 8
        for text in texts:
            assert text["size"] >= least - HALF, (width, height, text)
            assert text["top"] >= -HALF, (width, height, text)
            assert text["left"] >= -HALF, (width, height, text)
            assert text["bottom"] <= height + HALF, (width, height, text)
            # A long name ends in dots.
            assert text["right"] <= width + HALF or text["clips"], (width, height, text)
        scrolls = await tv.page.evaluate(
            "[document.documentElement, document.body].map((e) => [e.scrollWidth, e.scrollHeight])"
        )
        assert all(w <= width and h <= height for w, h in scrolls), scrolls
        for part in parts:
            rects: list[dict[str, float]] = await tv.page.evaluate(RECTS, part)
            assert len(rects) >= 8
            for rect in rects:
                within = -HALF <= rect["left"] <= rect["right"] <= width + HALF
                assert within, (width, height, part, rect)
                within = -HALF <= rect["top"] <= rect["bottom"] <= height + HALF
                assert within, (width, height, part, rect)
            for one, other in itertools.combinations(rects, 2):
                beside = one["right"] <= other["left"] + HALF or other["right"] <= one["left"] + HALF
                assert beside or one["bottom"] <= other["top"] + HALF or other["bottom"] <= one["top"] + HALF


async def test_of_two_tvs_the_one_that_loses_its_line_says_so_and_comes_back_to_the_table_as_it_is(
    rare: Rare, pages: Pages, people: Party
) -> None:
    ann = await people.host("Ann")
    steady, shaky = await pages.tv(rare), await pages.tv(rare)
    line = await Line.of(shaky.page, socket="**/tv")
    for tv in (steady, shaky):
        await tv.watch(people.room)
    await people.start(ann)
    rare.deals.give(people.room, deck(work="As 2s 3s 4s"))
    await must(ann, client_in.Deal())
    await people.live()
    await must(ann, ToMiddle("As", "work", 0))
    for tv in (steady, shaky):
        await expect(tv("pile-1")).to_have_attribute("data-top", "As", timeout=PATIENCE)
    await line.cut()
    await expect(shaky("trouble")).to_have_text("Connection lost. Trying again…", timeout=PATIENCE)
    await must(ann, ToMiddle("2s", "work", 1))
    await expect(steady("pile-1")).to_have_attribute("data-top", "2s", timeout=PATIENCE)
    await expect(shaky("pile-1")).to_have_attribute("data-top", "As")
    await expect(steady("trouble")).to_have_count(0)
    line.mend()
    await expect(shaky("pile-1")).to_have_attribute("data-top", "2s", timeout=PATIENCE)
    await expect(shaky("trouble")).to_have_count(0, timeout=PATIENCE)
    line.end()


async def test_a_tv_asks_to_stay_awake_fills_the_screen_at_f_and_can_be_shown_another_room(
    rare: Rare, pages: Pages, people: Party
) -> None:
    await people.host("Ann")
    tv = await pages.tv(rare)
    await tv.page.add_init_script(WAKE_LOCK)
    await tv.watch(people.room)
    await expect(tv("tv-code")).to_have_text(people.room, timeout=PATIENCE)
    assert await tv.page.evaluate("asked") == ["screen"]
    await tv.page.keyboard.press("f")
    await expect(tv("tv-fullscreen")).to_have_attribute("aria-pressed", "true", timeout=PATIENCE)
    await tv.page.keyboard.press("f")
    await expect(tv("tv-fullscreen")).to_have_attribute("aria-pressed", "false", timeout=PATIENCE)
    await tv("tv-leave").focus()
    await tv.page.keyboard.press("Enter")
    await expect(tv("tv-join-code")).to_be_focused(timeout=PATIENCE)
    assert tv.page.url == f"{tv.url}/watch"


async def test_a_tv_without_a_wake_lock_plays_a_film_as_large_as_the_screen_that_nobody_sees(
    rare: Rare, pages: Pages, people: Party
) -> None:
    await people.host("Ann")
    tv = await pages.tv(rare)
    await tv.page.add_init_script(INSECURE)
    await tv.watch(people.room)
    film = tv("tv-film")
    await expect(film).to_have_js_property("paused", False, timeout=PATIENCE)
    await expect(film).to_have_js_property("muted", True)
    await expect(film).to_have_css("opacity", "0")
    before = await film.evaluate("(film) => film.currentTime")
    await film.evaluate("(film) => new Promise((done) => film.addEventListener('timeupdate', done, { once: true }))")
    assert await film.evaluate("(film) => film.currentTime") > before
    assert await film.bounding_box() == {"x": 0, "y": 0, "width": 1920, "height": 1080}
