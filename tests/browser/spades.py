"""A hand in which one seat has spades from the ace up to play, and a page looks on."""

from __future__ import annotations

from simulate.phone import Phone
from tests.browser.decks import deck
from tests.browser.pages import Rare
from tests.browser.phone_page import PhonePage
from tests.e2e.party import Party, must, until
from wire import client_in


async def dealt(at: Rare, people: Party, bo: PhonePage) -> Phone:
    """A hand of Ann, who hosts and has four spades to play, and Bo, on this page."""
    ann = await people.host("Ann")
    await bo.join(people.room, "Bo")
    await until(ann, lambda p: len(p.lobby.players) == 2 and p.lobby.players[-1].present)
    await people.start(ann)
    await bo.at("waiting-host")
    at.deals.give(people.room, deck(work="As 2s 3s 4s"), deck(stock="2c"))
    await must(ann, client_in.Deal())
    await people.live()
    await bo.live()
    return ann
