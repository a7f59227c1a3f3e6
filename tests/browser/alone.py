"""One phone in a live hand, with decks that were chosen."""

from __future__ import annotations

from games.cards import CARD, rank
from simulate.phone import Phone
from tests.browser.pages import PHONE, Pages, Rare
from tests.browser.phone_page import PhonePage, Seen
from tests.e2e.party import Party, until


async def alone(
    rare: Rare, pages: Pages, cards: str, size: tuple[int, int] = PHONE, *, moving: bool = False, touch: bool = True
) -> PhonePage:
    """A phone in a live hand of its own with this deck; without `touch` a mouse and a keyboard."""
    phone = await pages.phone(rare, size, moving=moving, touch=touch)
    rare.deals.give(await phone.host("Ann"), cards)
    await phone.start()
    await phone.deal()
    await phone.live()
    return phone


async def beside(rare: Rare, phone: PhonePage, people: Party, anns: str, bos: str) -> Phone:
    """Ann's phone in a live hand with Bo, who has no page and does what is asked of him."""
    room = people.room = await phone.host("Ann")
    bo = await people.join("Bo")
    await phone.start()
    await until(bo, lambda p: p.screen.table is not None)
    rare.deals.give(room, anns, bos)
    await phone.deal()
    await people.live()
    await phone.live()
    return bo


def cards_of(seen: Seen) -> int:
    """All that a lone player has, those in the middle too."""
    middle = sum(rank(CARD[pile.top]) + 1 for pile in seen.middle)
    return seen.left + seen.in_stock + seen.in_turned + sum(len(pile) for pile in seen.work) + middle
