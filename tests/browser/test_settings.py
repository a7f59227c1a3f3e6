"""What a player hears, feels and reads, as the settings sheet has it, now and after the page is loaded anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, expect

from tests.browser.alone import alone
from tests.browser.decks import deck
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

LISTEN = """() => {
    globalThis.heard = 0
    globalThis.felt = 0
    globalThis.AudioContext = class extends AudioContext {
        constructor(...args) { super(...args); globalThis.audio = this }
    }
    const { start } = AudioBufferSourceNode.prototype
    AudioBufferSourceNode.prototype.start = function (...args) {
        // A sound is made where nobody hears it.
        if (!(this.context instanceof OfflineAudioContext)) globalThis.heard++
        return start.apply(this, args)
    }
    Object.defineProperty(navigator, 'vibrate', { value: () => { globalThis.felt++; return true } })
    Object.defineProperty(navigator, 'maxTouchPoints', { value: 5 })
}"""


async def switch(phone: PhonePage, *settings: str) -> None:
    await phone("settings").tap()
    for setting in settings:
        await phone(setting).tap()
    await phone("settings-sheet").get_by_test_id("close").tap()
    await expect(phone("settings-sheet")).to_be_hidden(timeout=PATIENCE)


async def take_back(phone: PhonePage) -> None:
    await phone("undo").tap()
    await phone.gone("undo")
    await phone.rest()


async def new(page: Page) -> Callable[[], Awaitable[tuple[bool, bool]]]:
    """What has been heard and felt since it was asked last."""

    async def since() -> tuple[bool, bool]:
        heard, felt = await page.evaluate("() => { const n = [heard, felt]; heard = felt = 0; return n }")
        return heard > 0, felt > 0

    await since()
    return since


async def test_a_card_is_heard_and_felt_until_each_is_switched_off_and_stays_so(rare: Rare, pages: Pages) -> None:
    phone = await alone(rare, pages, deck(work="9d 8s 7h 6c"))
    await phone.page.add_init_script(f"({LISTEN})()")
    await phone.page.reload()
    await phone.live()
    # A browser gives sound to a page that was touched, and takes a moment for it.
    await phone.turn()
    await phone.page.wait_for_function("() => globalThis.audio?.state === 'running'")
    await phone.turn()
    since = await new(phone.page)

    await phone.tap(phone.card("8s"))
    # A sound is made when it is wanted first, which takes a moment: by then it may be too late for that card.
    for _ in range(20):
        if (await since())[0]:
            break
        await take_back(phone)
        await phone.tap(phone.card("8s"))
    await take_back(phone)
    await since()
    await phone.tap(phone.card("8s"))
    assert await since() == (True, True)

    await switch(phone, "setting-sound")
    await since()
    await take_back(phone)
    await phone.tap(phone.card("8s"))
    assert await since() == (False, True)

    await switch(phone, "setting-vibration")
    await since()
    await phone.page.reload()
    await phone.live()
    await phone.tap(phone.card("7h"))
    assert await since() == (False, False)
    # Where sound is off a page doesn't even ask for it.
    assert await phone.page.evaluate("() => globalThis.audio === undefined")

    await phone("settings").tap()
    for setting in ("setting-sound", "setting-vibration"):
        await expect(phone(setting)).to_have_attribute("aria-checked", "false")


async def test_every_suit_gets_a_colour_and_the_words_another_language(rare: Rare, pages: Pages) -> None:
    phone = await pages.phone(rare)
    await phone.page.goto(phone.url)

    async def inks() -> set[str]:
        """The four suits' colours on the sheet."""
        fills: list[str] = (
            await phone("settings-sheet")
            .locator("svg.suits path")
            .evaluate_all("suits => suits.map(suit => getComputedStyle(suit).fill)")
        )
        return set(fills)

    await phone("settings").tap()
    assert len(await inks()) == 2
    await phone("setting-four-colours").tap()
    assert len(await inks()) == 4
    await phone("language-de").check(force=True)
    await expect(phone("settings-sheet").get_by_role("heading")).to_have_text("Einstellungen")

    await phone.page.reload()
    await expect(phone.page.locator("html")).to_have_attribute("lang", "de", timeout=PATIENCE)
    await phone("settings").tap()
    assert len(await inks()) == 4
