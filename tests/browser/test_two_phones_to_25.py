"""Two people and two bots play a whole game, by taps alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.page_player import PagePlayer
from tests.browser.pages import Address, Pages
from tests.browser.phone_page import PATIENCE, PhonePage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(500)]

MOST_HANDS = 12


async def test_two_phones_and_two_bots_play_to_25_and_to_the_standings(
    played: Address, pages: Pages, album: Path
) -> None:
    ann, bo = await pages.phone(played), await pages.phone(played, size=(360, 640))
    room = await ann.host("Ann")
    await bo.join(room, "Bo")
    await ann.add_bots(2, "hard")
    await ann.start(length="to25")
    await ann.deal()
    before: dict[str, int] = {}
    for _ in range(MOST_HANDS):
        async with asyncio.TaskGroup() as both:
            for phone in (ann, bo):
                both.create_task(hand(phone))
        now = await totals(ann)
        assert await totals(bo) == now
        assert sorted(now) == ["Ada", "Ann", "Bix", "Bo"]
        assert all(total >= before.get(name, 0) for name, total in now.items())
        before = now
        if max(now.values()) >= 25:
            break
        await ann.press("next-hand")
    await bo.shot(album / "scores.png")
    await ann.press("final-standings")
    for phone in (ann, bo):
        await phone.at("standings")
        await expect(phone("place")).to_have_count(4, timeout=PATIENCE)
        await phone.at("winner")
    assert await ann.page.locator(".banner").count() == 0
    await ann.shot(album / "standings.png")
    winner = min(before, key=lambda name: before[name])
    assert winner in (await ann("place").first.inner_text())
    assert await bo("new-game").count() == 0
    await ann.press("new-game")
    for phone in (ann, bo):
        await phone.gone("standings")


async def hand(phone: PhonePage) -> None:
    """From its countdown to its scores."""
    await phone.live()
    await PagePlayer(phone).play()
    await phone.at("scores")


async def totals(phone: PhonePage) -> dict[str, int]:
    """By name, as the scores list them."""
    found: dict[str, int] = {}
    for row in await phone("score").all():
        name = await row.get_attribute("data-name")
        assert name is not None
        found[name] = int((await row.locator(".total").inner_text()).strip())
    return found
