"""Case 32: a drop on a pile whose top still moves, a grab of a card that does: the engine's state decides.

Motion is slowed down so far that it lasts for as long as the fingers need.
"""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.alone import beside
from tests.browser.decks import deck
from tests.browser.engines_table import same
from tests.browser.finger import Point
from tests.browser.line import Line
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.browser.record import record, recorded, whole
from tests.e2e.party import Party, must

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

SLOWLY = 0.01
"""A fifth of a second lasts twenty."""
_CENTRE = """selector => {
    const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect()
    return [left + width / 2, top + Math.min(height / 2, 10)]
}"""


class Slow:
    """A page whose motion takes its time."""

    def __init__(self, phone: PhonePage, line: Line) -> None:
        self.phone, self.line = phone, line

    async def motion(self, rate: float) -> None:
        cdp = await self.phone.page.context.new_cdp_session(self.phone.page)
        await cdp.send("Animation.enable")
        await cdp.send("Animation.setPlaybackRate", {"playbackRate": rate})

    async def where(self, card: str) -> Point:
        """Where this one is seen now, in motion or not."""
        return Point(*await self.phone.page.evaluate(_CENTRE, f'[data-card="{card}"]'))

    async def moves(self) -> None:
        """Something does."""
        await self.phone.page.wait_for_function("document.getAnimations().length > 0", timeout=PATIENCE)


async def slow(pages: Pages, rare: Rare) -> Slow:
    phone, line = await pages.phone_with_line(rare, moving=True)
    await record(phone.page)
    return Slow(phone, line)


async def each_card_once(phone: PhonePage, *placed: str) -> None:
    """In every state that was shown since the last of these lay in the middle."""
    found = await recorded(phone.page)
    since = [s for s in found.steps if s.phase == "live" and any(p.top == placed[-1] for p in s.middle)]
    assert since
    assert [fault for step in since if (fault := whole(step, placed))] == []


async def test_a_drop_on_a_work_pile_whose_top_still_glides_lands_on_it_once(
    rare: Rare, pages: Pages, people: Party
) -> None:
    page = await slow(pages, rare)
    phone = page.phone
    await beside(rare, phone, people, deck(work="9d 8s 7h Ac"), deck())
    await phone.tap(phone.card("Ac"))
    await expect(phone("pile-1")).to_have_attribute("data-top", "Ac", timeout=PATIENCE)
    seven, nine = await page.where("7h"), await page.where("9d")
    await page.motion(SLOWLY)
    await phone.finger.tap(await page.where("8s"))
    await expect(phone("work-0")).to_have_attribute("data-card", "8s", timeout=PATIENCE)
    await page.moves()
    await phone.finger.drag(seven, nine)
    await expect(phone("work-0")).to_have_attribute("data-card", "7h", timeout=PATIENCE)
    await page.motion(1)
    await same(phone, rare.deals.tables[people.room])
    assert (await phone.table()).work == [["9d", "8s", "7h"], [], [], []]
    await each_card_once(phone, "Ac")


async def test_a_card_that_still_glides_is_grabbed_where_it_is_seen_and_goes_on_from_there_once(
    rare: Rare, pages: Pages, people: Party
) -> None:
    page = await slow(pages, rare)
    phone = page.phone
    await beside(rare, phone, people, deck(work="9d 8s 9h Ac"), deck())
    await phone.tap(phone.card("Ac"))
    await expect(phone("pile-1")).to_have_attribute("data-top", "Ac", timeout=PATIENCE)
    other = await page.where("9h")
    await page.motion(SLOWLY)
    await phone.finger.tap(await page.where("8s"))
    await expect(phone("work-0")).to_have_attribute("data-card", "8s", timeout=PATIENCE)
    await page.moves()
    # Before its answer is here, and before it is where it goes.
    page.line.hold()
    await phone.finger.drag(await page.where("8s"), Point(other.x, other.y + 20))
    await expect(phone("work-2")).to_have_attribute("data-card", "8s", timeout=PATIENCE)
    page.line.let_go()
    await page.motion(1)
    await same(phone, rare.deals.tables[people.room])
    assert (await phone.table()).work == [["9d"], [], ["9h", "8s"], []]
    await each_card_once(phone, "Ac")


async def test_a_drop_on_a_middle_pile_whose_top_still_flies_in_is_the_engines_to_judge(
    rare: Rare, pages: Pages, people: Party
) -> None:
    page = await slow(pages, rare)
    phone = page.phone
    bo = await beside(rare, phone, people, deck(work="3h 3s 9c Ac", snatch="2s"), deck(work="Ah 2h As 2s"))
    await phone.tap(phone.card("Ac"))
    await expect(phone("pile-1")).to_have_attribute("data-top", "Ac", timeout=PATIENCE)
    await must(bo, ToMiddle("Ah", "work", 0))
    await must(bo, ToMiddle("As", "work", 2))
    await expect(phone("pile-3")).to_have_attribute("data-top", "As", timeout=PATIENCE)
    await phone.table()
    three, two = await page.where("3h"), await page.where("2s")
    hearts, spades = await phone.free(phone("pile-2")), await phone.free(phone("pile-3"))
    await page.motion(SLOWLY)
    await must(bo, ToMiddle("2h", "work", 1))
    await expect(phone("pile-2")).to_have_attribute("data-top", "2h", timeout=PATIENCE)
    await page.moves()
    await phone.finger.drag(three, hearts)
    await expect(phone("pile-2")).to_have_attribute("data-top", "3h", timeout=PATIENCE)

    # And one whose spot is taken while it is still seen as free.
    page.line.hold()
    await phone.finger.drag(two, spades)
    await expect(phone.page.locator('[data-card="2s"][data-flying]')).to_have_count(1, timeout=PATIENCE)
    await must(bo, ToMiddle("2s", "work", 3))
    page.line.let_go()
    await phone.says("Snatched! by Bo")
    # It is on its way home: a finger that catches it there moves it no further than the rules do.
    await phone.finger.drag(await page.where("2s"), spades)
    await page.motion(1)
    await same(phone, rare.deals.tables[people.room])
    seen = await phone.table()
    assert [(p.id, p.top) for p in sorted(seen.middle, key=lambda p: p.id)] == [(1, "Ac"), (2, "3h"), (3, "2s")]
    assert (seen.snatch, seen.left) == ("2s", 13)
    await each_card_once(phone, "Ac", "3h")
