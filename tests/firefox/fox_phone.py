"""The players' page in Firefox, handled by touch."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import msgspec

from tests.browser.finger import Finger, Point
from tests.browser.phone_page import READ, SPOT, Seen
from tests.firefox.bidi import Tab

PATIENCE = 60.0
"""Seconds that anything awaited may take; on an idle machine it takes a few."""
_CENTRE = """selector => {
    const node = document.querySelector(selector)
    if (!node || node.disabled) return null
    node.scrollIntoView({ block: 'nearest' })
    const { left, top, width, height } = node.getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    return node.contains(document.elementFromPoint(x, y)) ? [x, y] : null
}"""
_SOON = """(selector, count, patience) => new Promise((resolve) => {
    const there = () => document.querySelectorAll(selector).length >= count
    if (there()) return resolve(true)
    const observer = new MutationObserver(() => { if (there()) done(true) })
    const timer = setTimeout(() => done(there()), patience)
    const done = (found) => { observer.disconnect(); clearTimeout(timer); resolve(found) }
    observer.observe(document, { subtree: true, childList: true, attributes: true })
})"""
_FRAME = "() => new Promise((resolve) => requestAnimationFrame(resolve))"


class FoxPhone:
    """`url` is the players' address."""

    def __init__(self, tab: Tab, url: str) -> None:
        self.tab, self.url = tab, url
        self.finger = Finger(self._put)

    async def _put(self, kind: str, at: Point | None, when: float | None) -> None:
        """`when` is the browser's: it takes no other time than now."""
        match kind, at:
            case "touchStart", Point(x, y):
                move = {"type": "pointerMove", "x": round(x), "y": round(y)}
                await self.tab.act("finger", move, {"type": "pointerDown", "button": 0})
            case "touchMove", Point(x, y):
                await self.tab.act("finger", {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 16})
            case _:
                await self.tab.act("finger", {"type": "pointerUp", "button": 0})

    # ---- what it shows ----

    async def at(self, testid: str, count: int = 1, also: str = "") -> None:
        """So many of them show, now or soon; `also`: more of a CSS selector."""
        selector = f'[data-testid="{testid}"]{also}'
        assert await self.tab.call(_SOON, selector, count, PATIENCE * 1000), f"{selector} never showed"

    async def text(self, testid: str) -> list[str]:
        told = await self.tab.call(
            'testid => [...document.querySelectorAll(`[data-testid="${testid}"]`)].map(n => n.innerText)', testid
        )
        return [" ".join(text.split()) for text in told]

    async def now(self) -> Seen | None:
        """The table as it shows at this moment."""
        told = await self.tab.call(READ)
        return None if told is None else msgspec.convert(told, Seen, strict=False)

    async def spot(self, selector: str) -> Point | None:
        """A point where a finger gets this card and not what lies on it; None when there is none now."""
        found = await self.tab.call(SPOT, selector)
        return None if found is None else Point(*found)

    async def centre(self, testid: str) -> Point | None:
        """Where a finger gets it; None when it can't now."""
        found = await self.tab.call(_CENTRE, f'[data-testid="{testid}"]')
        return None if found is None else Point(*found)

    async def frame(self) -> None:
        """The page drew once more."""
        await self.tab.call(_FRAME)

    async def shot(self, path: Path) -> None:
        picture = base64.b64decode(await self.tab.shot())
        await asyncio.to_thread(_keep, path, picture)

    # ---- what is done ----

    async def tap(self, testid: str) -> None:
        """A button, once it can be tapped."""
        async with asyncio.timeout(PATIENCE):
            await self.at(testid)
            while (at := await self.centre(testid)) is None:
                await self.frame()
        await self.finger.tap(at)

    async def host(self, name: str) -> None:
        await self.tab.goto(self.url)
        await self.tap("host-name")
        await self.tab.type(name)
        await self.tap("host")
        await self.at("lobby-code")

    async def add_bots(self, count: int) -> None:
        for n in range(1, count + 1):
            await self.tap("add-bot")
            await self.at("bot-level", count=n)

    async def deal(self) -> None:
        """From the lobby to “Snatch!”."""
        await self.tap("start")
        await self.tap("deal")
        await self.at("table", also='[data-phase="live"]:not(:has([data-testid="countdown"]))')


def _keep(path: Path, picture: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture)
