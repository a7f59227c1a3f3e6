"""Everyone's name, cards left and points in one strip: eight of them too, on a small phone and a large screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.decks import HEARTS, deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.e2e.party import Party, must, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

NAMES = ("Bo", "Maximilian Weber", "Chidi", "Dörte", "Eve", "Farid", "Grandma Jo")
_SEATS = """() => [...document.querySelectorAll('[data-testid^="seat-"]')].map((seat) => {
    const box = seat.getBoundingClientRect()
    const parts = ['.count', '.name', '.total'].map((part) => seat.querySelector(part).getBoundingClientRect())
    const name = seat.querySelector('.name')
    return {
        inside: parts.every((part) => part.top >= box.top - 0.5 && part.bottom <= box.bottom + 0.5),
        name: name.clientWidth,
        whole: name.scrollWidth <= name.clientWidth && name.scrollHeight <= name.clientHeight + 1,
        width: box.width,
        count: parseFloat(getComputedStyle(seat.querySelector('.count')).fontSize),
    }
})"""


async def seats(phone: PhonePage, size: tuple[int, int], album: Path) -> list[dict[str, Any]]:
    """On a screen of this size; whatever is in a seat must lie in it."""
    await phone.page.set_viewport_size({"width": size[0], "height": size[1]})
    await phone.free(phone("stock"))
    await phone.shot(album / f"{size[0]}x{size[1]}.png")
    found = cast(list[dict[str, Any]], await phone.page.evaluate(_SEATS))
    assert [seat for seat in found if not seat["inside"]] == []
    return found


async def test_eight_names_with_their_points_are_told_apart_on_any_screen(
    rare: Rare, pages: Pages, people: Party, album: Path
) -> None:
    ann = await pages.phone(rare, (360, 640))
    people.room = await ann.host("Ann")
    others = [await people.join(name) for name in NAMES]
    await ann.start("to25")
    for other in others:
        await until(other, lambda p: p.screen.table is not None)
    rare.deals.give(people.room, deck(), deck(snatch=HEARTS), *[deck()] * 6)
    await ann.deal()
    await ann.live()
    await people.live()
    for card in HEARTS.split():
        await must(others[0], ToMiddle(card, "snatch"))
    await ann.press("next-hand")
    await ann.live()
    await expect(ann("total")).to_have_count(8, timeout=PATIENCE)

    names = ("Ann", *NAMES)
    small = await seats(ann, (360, 640), album)
    assert [name for seat, name in zip(small, names, strict=True) if not seat["whole"]] == ["Maximilian Weber"]
    side = await seats(ann, (844, 390), album)
    # Nothing beside it takes room from a name.
    assert all(seat["whole"] or seat["name"] > seat["width"] - 4 for seat in (*small, *side))
    large = await seats(ann, (1920, 1080), album)
    assert [name for seat, name in zip(large, names, strict=True) if not seat["whole"]] == []
    assert large[0]["count"] > 1.3 * small[0]["count"]
