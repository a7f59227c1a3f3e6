"""One spot and two who want it, with a line that is slow or down in between."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from simulate.phone import Phone
from tests.browser.decks import deck
from tests.browser.line import Line
from tests.browser.moments import flash, note
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.browser.tv_page import TvPage
from tests.e2e.party import Party, must, until
from wire import client_in

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

ANNS = deck(work="Ah 2h 9s 9c")
BOS = deck(work="2h 9d Ad 9h", snatch="Kd 9c")


async def race(rare: Rare, pages: Pages, people: Party) -> tuple[Phone, PhonePage, Line, TvPage]:
    """Ann has played A♥; Bo, with a page, sees it, and both have a 2♥ for it.  A TV watches."""
    ann = await people.host("Ann")
    bo, line = await pages.phone_with_line(rare)
    await bo.join(people.room, "Bo")
    await until(ann, lambda p: [q.present for q in p.lobby.players] == [True, True])
    tv = await pages.tv(rare)
    await tv.watch(people.room)
    await people.start(ann)
    await bo.at("waiting-host")
    rare.deals.give(people.room, ANNS, BOS)
    await must(ann, client_in.Deal())
    await people.live()
    await bo.live()
    await must(ann, ToMiddle("Ah", "work", 0))
    await expect(bo("pile-1")).to_have_attribute("data-top", "Ah", timeout=PATIENCE)
    return ann, bo, line, tv


async def test_the_second_card_to_a_spot_comes_home_as_snatched_and_never_leaves_again_by_itself(
    rare: Rare, pages: Pages, people: Party
) -> None:
    ann, bo, line, tv = await race(rare, pages, people)
    before = await bo.table()
    line.hold()
    await bo.tap(bo.card("2h"))
    await expect(bo.page.locator('[data-card="2h"][data-flying]')).to_have_count(1, timeout=PATIENCE)
    await must(ann, ToMiddle("2h", "work", 1))
    await note(bo.page, tv.page)
    line.let_go()
    await bo.says("Snatched! by Ann")
    home = await bo.table()
    assert home.own == before.own
    assert [(pile.id, pile.top) for pile in home.middle] == [(1, "2h")]
    # The pile lights up in Ann's colour on the screen of Bo and on the TV.
    assert await flash(bo.page) == await flash(tv.page) == "var(--p0)"

    # Case 17: now it would fit, on Bo's own ace; it stays where it is.
    await bo.tap(bo.card("Ad"))
    await expect(bo("pile-2")).to_have_attribute("data-top", "Ad", timeout=PATIENCE)
    told = await ann.move(ToMiddle("9s", "work", 2))
    assert told.no is not None
    assert (await bo.table()).work[0] == ["2h"]
    assert sum('"card":"2h"' in str(message) for message in line.sent) == 1


async def test_a_move_made_with_the_line_down_shows_the_engines_state_after_the_reconnect(
    rare: Rare, pages: Pages, people: Party
) -> None:
    ann, bo, line, _ = await race(rare, pages, people)
    await line.cut()
    await bo.says("Connection lost. Trying again…")
    await bo.tap(bo.card("2h"))
    await expect(bo.page.locator('[data-card="2h"][data-flying]')).to_have_count(1, timeout=PATIENCE)
    await bo.tap(bo("stock"))
    await must(ann, ToMiddle("2h", "work", 1))
    line.mend()
    await bo.gone("connection")
    await expect(bo("pile-1")).to_have_attribute("data-top", "2h", timeout=PATIENCE)
    seen = await bo.table()
    assert seen.work[0] == ["2h"]
    assert (seen.in_stock, seen.in_turned) == (34, 1)
    await bo.page.reload()
    await bo.live()
    assert (await bo.table()).own == seen.own
