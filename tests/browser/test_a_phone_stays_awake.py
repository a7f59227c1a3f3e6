"""A phone's screen stays on while its player is in a hand, and is let go whenever they are not.

A page is given a twin of the browser's wake lock, which counts what is held of it. As the browser's, it is
given to a page that shows alone, and taken away from one that doesn't.
"""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from games.snatch_solitaire.messages import ToMiddle
from tests.browser.decks import HEARTS, deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.e2e.party import Party, must, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

TWIN = """(() => {
    const held = new Set()
    globalThis.locks = () => held.size
    globalThis.show = (shown) => {
        const state = shown ? 'visible' : 'hidden'
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state })
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => !shown })
        if (!shown) for (const lock of [...held]) lock.release()
        document.dispatchEvent(new Event('visibilitychange'))
    }
    class Lock extends EventTarget {
        released = false
        async release() { this.released = true; held.delete(this) }
    }
    const request = async () => {
        await new Promise((done) => setTimeout(done))
        if (document.hidden) throw new DOMException('hidden', 'NotAllowedError')
        const lock = new Lock()
        held.add(lock)
        return lock
    }
    Object.defineProperty(navigator, 'wakeLock', { value: { request } })
})()"""


async def holds(phone: PhonePage, count: int) -> None:
    await phone.page.wait_for_function("(count) => locks() === count", arg=count, timeout=PATIENCE)


async def test_the_screen_stays_on_in_a_hand_and_sleeps_in_a_pause_in_the_background_and_after_it(
    rare: Rare, pages: Pages, people: Party
) -> None:
    ann = await pages.phone(rare)
    await ann.page.add_init_script(TWIN)
    room = people.room = await ann.host("Ann")
    bo = await people.join("Bo")
    await ann.start()
    await until(bo, lambda p: p.screen.table is not None)
    await holds(ann, 0)
    rare.deals.give(room, deck(), deck(snatch=HEARTS))
    await ann.deal()
    await ann.at("countdown")
    await holds(ann, 1)
    await ann.live()
    await people.live()
    await holds(ann, 1)

    await ann("pause").tap()
    await ann.at("paused")
    await holds(ann, 0)
    await ann("resume").tap()
    await ann.gone("paused")
    await holds(ann, 1)

    await ann.page.evaluate("show(false)")
    await holds(ann, 0)
    await ann.page.evaluate("show(true)")
    await holds(ann, 1)
    # Shown twice is held once, or it would be held for ever.
    await ann.page.evaluate("show(true)")

    await until(bo, lambda p: p.screen.table is not None and p.screen.table.paused_by is None)
    for card in HEARTS.split():
        await must(bo, ToMiddle(card, "snatch"))
    await ann.at("scores")
    await holds(ann, 0)


async def test_a_browser_that_gives_no_lock_plays_as_any_other(rare: Rare, pages: Pages) -> None:
    ann = await pages.phone(rare)
    # As in a phone that saves power; a page by plain HTTP has no `navigator.wakeLock` at all.
    refused = "{ request: () => Promise.reject(new DOMException('battery', 'NotAllowedError')) }"
    await ann.page.add_init_script(f"Object.defineProperty(navigator, 'wakeLock', {{ value: {refused} }})")
    rare.deals.give(await ann.host("Ann"), deck(stock="2c"))
    await ann.start()
    await ann.deal()
    await ann.live()
    await ann.turn()
    await expect(ann("turned")).to_have_attribute("data-card", "2c")
