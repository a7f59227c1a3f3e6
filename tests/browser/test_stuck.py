"""Nobody can move: the snatch piles turn, thirteen times, and then the host may end the hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle, Turn
from tests.browser.decks import deck
from tests.browser.moments import banners, note
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE
from tests.e2e.party import Party, must, until
from wire import client_in

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

ANNS = deck(work="3h 3d 3s 3c", stock="As Ah Ad Ac 2s 2c 2h 2d")
BOS = deck(stock="2s 2h 2d 2c")
"""Bo's twos go onto Ann's aces; hers bury her threes, and nothing of hers can ever move again."""


async def test_all_stuck_turns_the_snatch_piles_thirteen_times_and_then_the_host_ends_the_hand(
    rare: Rare, pages: Pages, people: Party, album: Path
) -> None:
    ann = await pages.phone(rare)
    room = people.room = await ann.host("Ann")
    bo = await people.join("Bo")
    tv = await pages.tv(rare)
    await tv.watch(room)
    counting = await people.tv()
    await ann.start(length="to25")
    await until(bo, lambda p: p.screen.table is not None)
    rare.deals.give(room, ANNS, BOS)
    await ann.deal()
    await ann.live()
    for piles in (1, 2, 3, 4):
        await ann.turn()
        await ann.tap(ann("turned"))
        await expect(ann("middle")).to_have_attribute("data-piles", str(piles), timeout=PATIENCE)
    for card in ("2s", "2h", "2d", "2c"):
        await must(bo, Turn())
        await must(bo, ToMiddle(card, "turned"))
    top = (await ann.table()).snatch
    await note(ann.page, tv.page)
    for card, under in (("2s", "3h"), ("2c", "3d"), ("2h", "3s"), ("2d", "3c")):
        await ann.turn()
        await ann.tap(ann.card(card))
        seen = await ann.table()
        assert [under, card] in seen.work
    await ann.at("stuck")
    assert await ann("stuck").inner_text() == "No moves for now: watch the middle"
    await ann.shot(album / "stuck.png")

    # A leaver is said to have left, at once and everywhere, and holds nobody up.
    await must(bo, client_in.Leave())
    await expect(ann("seat-1")).to_contain_text("left: Bo", timeout=PATIENCE)
    await ann.says("Bo left")
    await tv.says("Bo left")
    await expect(tv("tv-seat").filter(has_text="Bo")).to_contain_text("left", timeout=PATIENCE)

    await ann.at("end-hand")
    for screen in (ann, tv):
        said = await banners(screen.page)
        assert said.index("Everyone’s stuck") < said.index("Snatch piles turn")
    # Thirteen turns brought thirteen cards round.
    await until(counting, lambda t: t.screen.view is not None and t.screen.view.turns == 13)
    seen = await ann.table()
    assert (seen.snatch, seen.left) == (top, 13)
    await ann.shot(album / "end-hand.png")
    await ann.press("end-hand")
    await ann.at("scores")
    await expect(ann("emptied")).to_have_text("The host ended the hand")
    await tv.phase("scores")
    await expect(tv("emptied")).to_have_text("The host ended the hand")
    rows = [" ".join(text.split()) for text in await ann("score").all_inner_texts()]
    assert rows == ["Ann 13 13", "Bo left 13 13"]
