"""Plays a hand against bots and takes the README's pictures of it: `python -m tests.gallery.film`.

Into docs/pictures: the phone's table in motion, and still ones of phone and TV; and from the gallery
a hand of eight.  A real stack, real bots, real touches.  All of it goes slower than life and is shown
faster again, so that a slow machine films every movement: bots are Easy ones, and the page's
animations run at a fraction.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from stack import lent, setup_browser
from stack.steps import ROOT, Failed, say
from tests.browser.conftest import FLAGS
from tests.browser.page_player import PagePlayer
from tests.browser.pages import PHONE, Address, Pages
from tests.browser.phone_page import PATIENCE, Seen
from tests.gallery.dev_server import dev_server
from tests.gallery.webp import Frame, animated

OUT = ROOT / "docs" / "pictures"
CHANGES = (Path(__file__).parent / "changes.js").read_text()
SLOWER = 3
"""Than what the film shows."""
PAUSE = 2.2
"""Seconds between two of the phone's moves, of the slow ones."""
FIRST_PILES = 7
"""So many piles lie in the middle when the film begins."""
SECONDS = 7.0
"""Of film."""
WIDTH = 300
FPS = 16
QUALITY = 0.74
FINGER = """() => {
    const dot = document.createElement('i')
    dot.style.cssText = 'position:fixed;z-index:9999;width:44px;height:44px;margin:-22px;border-radius:50%;' +
        'background:rgb(255 255 255/.45);box-shadow:0 0 0 2px rgb(255 255 255/.8);pointer-events:none;opacity:0'
    document.body.append(dot)
    addEventListener('pointerdown', ({ clientX, clientY }) => {
        dot.style.left = clientX + 'px'
        dot.style.top = clientY + 'px'
        dot.animate([{ opacity: 1, transform: 'scale(.7)' }, { opacity: 0, transform: 'scale(1.25)' }], 380)
    }, true)
}"""


class Unhurried(PagePlayer):
    """Plays as somebody does who is being watched."""

    async def _act(self, seen: Seen) -> bool:
        began = time.monotonic()
        acted = await super()._act(seen)
        if acted:
            await asyncio.sleep(max(0.0, began + PAUSE - time.monotonic()))
        return acted


@dataclass
class Reel:
    """What a page showed, with the time of each picture."""

    page: Page
    shots: list[tuple[float, str]] = field(default_factory=list)

    async def record(self, seconds: float) -> None:
        cdp = await self.page.context.new_cdp_session(self.page)
        whole = {"x": 0, "y": 0, "width": PHONE[0], "height": PHONE[1], "scale": 0.5}
        asked = {"format": "png", "optimizeForSpeed": True, "clip": whole}
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            began = time.monotonic()
            shot = await cdp.send("Page.captureScreenshot", asked)
            self.shots.append((began, "data:image/png;base64," + shot["data"]))
            await asyncio.sleep(max(0.0, began + SLOWER / FPS - time.monotonic()))

    async def film(self, studio: Page) -> bytes:
        """As an animated WebP, at the speed of life."""
        asked = {"pictures": [url for _, url in self.shots], "width": WIDTH, "quality": QUALITY}
        made: dict[str, Any] = await studio.evaluate(CHANGES, asked)
        times = [at for at, _ in self.shots]
        lasted = [
            round((after - at) * 1000 / SLOWER) for at, after in zip(times, [*times[1:], times[-1] + 1], strict=True)
        ]
        frames: list[Frame] = []
        for change, ms in zip(made["found"], lasted, strict=True):
            if change is None:
                last = frames.pop()
                frames.append(Frame(last.still, last.x, last.y, last.width, last.height, last.ms + ms))
            else:
                still = base64.b64decode(change.pop("still"))
                frames.append(Frame(still, **change, ms=ms))
        return animated(WIDTH, made["height"], frames)


async def still(page: Page, studio: Page, width: int, name: str) -> None:
    """One picture, so wide."""
    url = "data:image/png;base64," + base64.b64encode(await page.screenshot()).decode()
    made = await studio.evaluate(CHANGES, {"pictures": [url], "width": width, "quality": 0.86})
    (OUT / name).write_bytes(base64.b64decode(made["found"][0]["still"]))


async def play(browser: Browser, stack: Address) -> None:
    pages = Pages(browser)
    phone = await pages.phone(stack, PHONE, moving=True, sharp=2)
    room = await phone.host("Ann")
    await phone.add_bots(3, "easy")
    tv = await pages.tv(stack, moving=True)
    await tv.watch(room)
    await phone.start("to25")
    await phone.deal()
    await phone.live()
    await phone.page.evaluate(FINGER)
    cdp = await phone.page.context.new_cdp_session(phone.page)
    await cdp.send("Animation.enable")
    await cdp.send("Animation.setPlaybackRate", {"playbackRate": 1 / SLOWER})
    playing = asyncio.create_task(Unhurried(phone, drags=3).play())
    lively = f"() => Number(document.querySelector('[data-testid=middle]')?.dataset.piles) >= {FIRST_PILES}"
    await phone.page.wait_for_function(lively, timeout=4 * PATIENCE)
    studio = await browser.new_page()
    reel = Reel(phone.page)
    await reel.record(SECONDS * SLOWER)
    await still(phone.page, studio, 640, "phone.webp")
    await still(tv.page, studio, 1280, "tv.webp")
    (OUT / "play.webp").write_bytes(await reel.film(studio))
    playing.cancel()
    await pages.close()


async def eight(browser: Browser, gallery: str) -> None:
    """A full table, on a phone that lies on its side in a dark room."""
    context = await browser.new_context(
        viewport={"width": 844, "height": 390}, device_scale_factor=2, color_scheme="dark", reduced_motion="reduce"
    )
    page = await context.new_page()
    await page.goto(f"{gallery}?place=table-full&long=false&four")
    await page.locator("[data-testid=stock]").wait_for()
    await still(page, page, 1280, "eight.webp")
    await context.close()


async def main() -> None:
    program = setup_browser.find()
    if program is None:
        raise Failed("there is no Chromium", setup_browser.CURE)
    OUT.mkdir(parents=True, exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        with tempfile.TemporaryDirectory() as folder, dev_server(Path(folder)) as gallery:
            await eight(browser, gallery)
        with lent.started() as state:
            await play(browser, Address(state["url"], state["watch_url"]))
        await browser.close()
    for file in sorted(OUT.iterdir()):
        say(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1024} KB")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
