"""What a page shows for a moment only: it is noted when it comes, and asked for later."""

from __future__ import annotations

from typing import cast

from playwright.async_api import Page

from tests.browser.phone_page import PATIENCE

_NOTE = """() => {
    window.flashed = []
    window.banners = []
    new MutationObserver((changes) => {
        for (const node of changes.flatMap((change) => [...change.addedNodes])) {
            if (!(node instanceof Element)) continue
            const [flash, banner] = ['.flash', '.banner'].map((s) => (node.matches(s) ? node : node.querySelector(s)))
            if (flash) window.flashed.push(flash.style.getPropertyValue('--p'))
            if (banner) window.banners.push(banner.innerText)
        }
    }).observe(document.body, { subtree: true, childList: true })
}"""


async def note(*pages: Page) -> None:
    """From now on, until the page is loaded anew."""
    for page in pages:
        await page.evaluate(_NOTE)


async def flash(page: Page) -> str:
    """The colour in which a pile lit up, waited for; a custom property, `var(--p0)` to `var(--p7)`."""
    await page.wait_for_function("window.flashed.length > 0", timeout=PATIENCE)
    return cast(str, await page.evaluate("window.flashed.at(-1)"))


async def banners(page: Page) -> list[str]:
    """All that was said large, in order."""
    return cast(list[str], await page.evaluate("window.banners"))
