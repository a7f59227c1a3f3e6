"""What the rules have every screen say, where no other test hears it already: counting, pausing, ends of hands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.decks import HEARTS, deck
from tests.browser.moments import banners, counted, note, toasts
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE
from tests.e2e.party import Party, must, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]


async def test_three_two_one_holds_the_cards_until_snatch_is_said_on_phones_and_tv(
    rare: Rare, pages: Pages, people: Party
) -> None:
    phone = await pages.phone(rare)
    room = people.room = await phone.host("Ann")
    tv = await pages.tv(rare)
    await tv.watch(room)
    await phone.start()
    rare.deals.give(room, deck(work="Ah 2h 3h 4h", stock="Ac"))
    await note(phone.page, tv.page)
    await phone.deal()
    await phone.at("countdown")
    box = await phone("stock").bounding_box(timeout=PATIENCE)
    assert box is not None
    await phone.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await phone.page.keyboard.press("7")
    await phone.live()
    await tv.phase("live")
    seen = await phone.table()
    assert (seen.in_stock, seen.in_turned, seen.middle) == (35, 0, [])
    for page in (phone.page, tv.page):
        await page.wait_for_function("window.banners.length > 0", timeout=PATIENCE)
        assert await banners(page) == ["Snatch!"]
        said = " ".join(await counted(page))
        assert said.index("3") < said.index("2") < said.index("1")


async def test_a_card_that_arrives_in_a_pause_comes_home_quietly(rare: Rare, pages: Pages, people: Party) -> None:
    phone, line = await pages.phone_with_line(rare)
    room = people.room = await phone.host("Ann")
    bo = await people.join("Bo")
    await phone.start()
    await until(bo, lambda p: p.screen.table is not None)
    rare.deals.give(room, deck(work="Ah 9d 8s 7h"), deck())
    await phone.deal()
    await phone.live()
    before = await phone.table()
    await note(phone.page)
    line.hold()
    await phone.tap(phone.card("Ah"))
    await expect(phone.page.locator('[data-card="Ah"][data-flying]')).to_have_count(1, timeout=PATIENCE)
    await must(bo, {"t": "pause"})
    line.let_go()
    await expect(phone("paused")).to_contain_text("Paused by Bo", timeout=PATIENCE)
    assert (await phone.table()).own == before.own
    await must(bo, {"t": "resume"})
    await phone.gone("paused")
    assert not [text for text in await toasts(phone.page) if "Snatched" in text or "pile" in text]
    await phone.rest()
    await phone.tap(phone.card("Ah"))
    await expect(phone("pile-1")).to_have_attribute("data-top", "Ah", timeout=PATIENCE)


async def test_hands_end_with_their_scores_fewest_first_and_a_game_with_a_shared_win(
    rare: Rare, pages: Pages, people: Party, album: Path
) -> None:
    phone = await pages.phone(rare)
    room = people.room = await phone.host("Ann")
    tv = await pages.tv(rare)
    await tv.watch(room)
    bo, cy = await people.join("Bo"), await people.join("Cy")
    await phone.start(length="to25")
    for other in (bo, cy):
        await until(other, lambda p: p.screen.table is not None)
    totals = [["Bo 0 0", "Ann 13 13", "Cy 13 13"], ["Cy 0 13", "Ann 13 26", "Bo 13 13"]]
    for hand, (first, rows) in enumerate(zip((bo, cy), totals, strict=True), 1):
        decks = [deck(snatch=HEARTS) if player is first else deck() for player in (None, bo, cy)]
        rare.deals.give(room, *decks)
        await (phone.deal() if hand == 1 else phone.press("next-hand"))
        await phone.live()
        await until(first, lambda p: p.screen.live)
        for card in HEARTS.split():
            await must(first, ToMiddle(card, "snatch"))
        name = "Bo" if first is bo else "Cy"
        for screen in (phone, tv):
            await expect(screen("emptied")).to_have_text(f"{name} emptied their pile", timeout=PATIENCE)
            await expect(screen("scores")).to_contain_text("Snatch!")
        await phone.shot(album / f"scores-{hand}.png")
        shown = [" ".join(text.split()) for text in await phone("score").all_inner_texts()]
        assert shown[0] == rows[0]
        assert sorted(shown) == sorted(rows)
        offered = "next-hand" if hand == 1 else "final-standings"
        await phone.at(offered)
    await phone.press("final-standings")
    for screen in (phone, tv):
        await expect(screen("winner")).to_contain_text("Bo and Cy share the win", timeout=PATIENCE)
        numbers = {}
        for place in await screen("place").all():
            numbers[await place.get_attribute("data-name")] = "".join(re.findall(r"\d", await place.inner_text())[:1])
        assert numbers == {"Bo": "1", "Cy": "1", "Ann": "3"}
    await phone.shot(album / "standings.png")
