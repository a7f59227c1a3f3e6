"""What a page shows for a moment only: it is noted when it comes, and asked for later."""

from __future__ import annotations

from typing import cast

from playwright.async_api import Page

from tests.browser.phone_page import PATIENCE

_NOTE = """() => {
    window.flashed = []
    window.banners = []
    window.toasts = []
    window.counted = []
    new MutationObserver((changes) => {
        for (const node of changes.flatMap((change) => [...change.addedNodes])) {
            if (!(node instanceof Element)) continue
            const find = (s) => (node.matches(s) ? node : node.querySelector(s))
            const [flash, banner] = ['.flash', '.banner'].map(find)
            const counting = node.closest('[data-testid="countdown"]') ?? find('[data-testid="countdown"]')
            if (flash) window.flashed.push(flash.style.getPropertyValue('--p'))
            if (banner) window.banners.push(banner.innerText)
            if (counting) window.counted.push(counting.innerText)
            if (node.parentElement?.closest('[data-testid="toasts"]')) window.toasts.push(node.innerText)
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


async def toasts(page: Page) -> list[str]:
    """All that was said small, in order."""
    return cast(list[str], await page.evaluate("window.toasts"))


async def counted(page: Page) -> list[str]:
    """All that a countdown said, in order."""
    return cast(list[str], await page.evaluate("window.counted"))
