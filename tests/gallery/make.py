"""Takes a picture of every place of the client, on every screen, light and dark: `make gallery`.

    python -m tests.gallery.make [--places table,scores] [--sizes 360x640] [--language de]

into test-results/gallery, with all of them on the sheet index.html there.  They are made to be
looked at; a machine sees but two faults, and exits non-zero for them: a script that fails, and
a page that scrolls where it must not.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page, Route, async_playwright

from servicekit import qr
from stack import setup_browser
from stack.steps import ROOT, Failed, say
from tests.browser.conftest import FLAGS
from tests.gallery.dev_server import dev_server
from tests.gallery.sheet import sheet

OUT = ROOT / "test-results" / "gallery"
SIZES = ("360x640", "390x844", "844x390", "820x1180", "1920x1080")
SCHEMES = ("light", "dark")
AT_ONCE = 2
STILL = re.compile(r"table|practice|watching|countdown|dealing|leave|tv-")
"""Places that never scroll; others may, downwards."""
LATE = {"practice": "hint", "leave": "leave-yes", "table-away": "connection"}
"""What of a place shows only after a moment."""
PATIENCE = 120_000.0
"""Ms; Vite's first page of all takes long on a busy machine, and may load itself anew."""
SHOWS = "() => document.querySelector('#app').childElementCount > 0"
SETTLED = """async () => {
  await document.fonts.ready
  await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)))
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  const ends = (animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime)
  await Promise.all(document.getAnimations().filter(ends).map((one) => one.finished.catch(() => undefined)))
  const { scrollWidth, scrollHeight } = document.documentElement
  return [scrollWidth - innerWidth, scrollHeight - innerHeight]
}"""


@dataclass(frozen=True)
class Shot:
    """One place on one screen."""

    place: str
    size: str
    language: str

    def file(self, scheme: str) -> str:
        return f"{self.place}-{self.size}-{scheme}-{self.language}.png"


class Photographer:
    """Takes them on pages of a browser, and keeps what was amiss."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser = browser
        self._url = url
        self.amiss: list[str] = []

    async def places(self) -> list[str]:
        """As the gallery names them itself."""
        page = await self._browser.new_page()
        await page.goto(self._url)
        links = page.locator("a")
        await links.first.wait_for(timeout=PATIENCE)
        names = await links.all_inner_texts()
        await page.close()
        return names

    async def take(self, shots: Sequence[Shot]) -> None:
        """One after another, on a page of its own for each."""
        for shot in shots:
            width, height = (int(n) for n in shot.size.split("x"))
            context = await self._browser.new_context(
                viewport={"width": width, "height": height},
                device_scale_factor=2 if width < 600 else 1,
                has_touch=width < 1000,
                reduced_motion="reduce",
                locale="en",
            )
            page = await context.new_page()
            await self._take(page, shot)
            await context.close()

    async def _take(self, page: Page, shot: Shot) -> None:
        page.on("pageerror", lambda error: self.amiss.append(f"{shot.place} {shot.size}: {error}"))
        # What a gateway would answer.
        await page.route("**/qr/*", _qr)
        await page.route("**/config.json", lambda route: route.fulfill(json={}))
        await page.goto(f"{self._url}?place={shot.place}&language={shot.language}")
        await page.wait_for_function(SHOWS, timeout=PATIENCE, polling=50)
        if shot.place in LATE:
            await page.get_by_test_id(LATE[shot.place]).wait_for(timeout=PATIENCE)
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
            wide, tall = await page.evaluate(SETTLED)
            await page.screenshot(path=OUT / shot.file(scheme))
            if wide > 0:
                self.amiss.append(f"{shot.place} {shot.size}: {wide} px too wide")
            if tall > 0 and STILL.match(shot.place):
                self.amiss.append(f"{shot.place} {shot.size}: {tall} px too tall")


async def _qr(route: Route) -> None:
    await route.fulfill(body=qr.svg("http://127.0.0.1:8080/r/BCDFG"), content_type="image/svg+xml")


async def gallery(url: str, only: list[str], sizes: list[str], language: str) -> list[str]:
    """Takes the pictures; says what was amiss."""
    program = setup_browser.find()
    if program is None:
        raise Failed("there is no Chromium", setup_browser.CURE)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        photographer = Photographer(browser, url)
        places = [place for place in await photographer.places() if not only or place in only]
        shots = [Shot(place, size, language) for place in places for size in sizes]
        await asyncio.gather(*(photographer.take(shots[n::AT_ONCE]) for n in range(AT_ONCE)))
        await browser.close()
    every = [(shot.place, shot.file(scheme)) for shot in shots for scheme in SCHEMES]
    (OUT / "index.html").write_text(sheet(every))
    say(f"{len(every)} pictures of {len(places)} places: {_shown(OUT / 'index.html')}")
    return sorted(set(photographer.amiss))


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def main() -> int:
    parser = argparse.ArgumentParser("make gallery", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--places", default="", help="only these, by commas")
    parser.add_argument("--sizes", default=",".join(SIZES), help="only these, by commas")
    parser.add_argument("--language", default="en", choices=("en", "de"))
    asked = parser.parse_args()
    only, sizes = [place for place in asked.places.split(",") if place], asked.sizes.split(",")
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        with dev_server(OUT) as url:
            amiss = asyncio.run(gallery(url, only, sizes, asked.language))
    except Failed as failed:
        say(f"✗ {failed.what}\n→ {failed.cure}")
        return 1
    for fault in amiss:
        say(f"✗ {fault}")
    return 1 if amiss else 0


if __name__ == "__main__":
    sys.exit(main())
