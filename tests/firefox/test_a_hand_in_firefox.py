"""Another engine than the one that all other tests drive: a whole hand by touch."""

from __future__ import annotations

import itertools

import pytest

from games.snatch_solitaire.messages import ToMiddle
from stack.steps import ROOT
from tests.browser.finger import Point
from tests.browser.page_player import choose
from tests.browser.pages import Address
from tests.browser.phone_page import Seen
from tests.firefox.bidi import Bidi, Tab
from tests.firefox.fox_phone import FoxPhone

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

PHONE = (390, 844)
ALBUM = ROOT / "test-results" / "firefox"


async def test_a_phone_with_firefox_plays_a_hand_against_bots_by_taps_drags_and_flicks(
    firefox: Bidi, played: Address
) -> None:
    tab = await Tab.open(firefox, PHONE)
    phone = FoxPhone(tab, played.url)
    await phone.host("Ann")
    await phone.add_bots(3)
    await phone.shot(ALBUM / "1-lobby.png")
    await phone.deal()
    await phone.shot(ALBUM / "2-table.png")
    done = await play(phone)
    await phone.at("scores")
    await phone.shot(ALBUM / "3-scores.png")
    assert done["tap"] > 0
    assert done["drag"] + done["flick"] > 0
    assert len(await phone.text("score")) == 4
    assert tab.faults == []


async def play(phone: FoxPhone) -> dict[str, int]:
    """Until the hand is over; how often in which way a card was moved."""
    ways = itertools.cycle(("tap", "drag", "flick"))
    done = {"tap": 0, "drag": 0, "flick": 0}
    before: Seen | None = None
    while (seen := await phone.now()) is not None and seen.phase == "live":
        move = None if before is not None and before.own == seen.own else choose(seen)
        before = seen
        selector = '[data-testid="stock"]' if move is None else f'[data-card="{move.card}"][data-spot]'
        at = await phone.spot(selector)
        if at is None:
            await phone.frame()
            continue
        way = next(ways) if isinstance(move, ToMiddle) else "tap"
        if way == "tap":
            await phone.finger.tap(at)
        else:
            end = await phone.centre("middle") if way == "drag" else Point(at.x, at.y - 140)
            await phone.finger.drag(at, end or at, 8 if way == "drag" else 3)
        done[way] += 1
        await phone.frame()
    return done
