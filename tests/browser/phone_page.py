"""The players' page on a phone, handled as people do: by what it shows and by touch."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any, cast

import msgspec
from playwright.async_api import Error, Locator, Page, expect

from tests.browser.finger import Finger, Point

PATIENCE = 30_000.0
"""Ms that anything awaited may take; on an idle machine it takes a few hundred."""
DOUBLE_TAP = 350.0
"""Ms within which a second tap on the same place belongs to the first."""
_HERE = Path(__file__).parent
READ = (_HERE / "read_table.js").read_text()
"""A function, as an expression, that gives what `Seen` holds."""
_AWAIT = f"args => ({(_HERE / 'await_table.js').read_text()})({READ}, args)"
SPOT = """what => {
    const node = typeof what === 'string' ? document.querySelector(what) : what
    // A card that glides, or is about to, will soon lie where another is touched.
    const gliding = a => a.transitionProperty === 'transform' && a.effect.target?.matches('.own')
    if (!node?.isConnected || document.getAnimations().some(gliding)) return null
    const { left, top, width, height } = node.getBoundingClientRect()
    // Of a fanned run only a card's upper edge is free.
    for (const share of [0.5, 0.2, 0.1, 0.04]) {
        const [x, y] = [left + width / 2, top + height * share]
        if (node.contains(document.elementFromPoint(x, y))) return [x, y]
    }
    return null
}"""


class Pile(msgspec.Struct):
    """One of the middle."""

    id: int
    top: str


class Seen(msgspec.Struct):
    """The table as the page shows it to its player; a card that is still a back is None."""

    phase: str
    seq: int
    work: list[list[str | None]]
    snatch: str | None
    turned: str | None
    left: int
    in_stock: int
    in_turned: int
    flying: list[str | None]
    seats: dict[int, int]
    """Cards left, by seat, as the strip says."""
    middle: list[Pile]
    undo: bool
    stuck: bool
    paused: bool
    settled: bool

    @property
    def own(self) -> tuple[object, ...]:
        """All that is one's own."""
        return self.work, self.snatch, self.turned, self.left, self.in_stock, self.in_turned


class PhonePage:
    """`url` is the players' address."""

    def __init__(self, page: Page, finger: Finger, url: str, *, touch: bool = True) -> None:
        """Without `touch` it has a mouse."""
        self.page, self.finger, self.url, self.touch = page, finger, url, touch

    # ---- rooms ----

    async def host(self, name: str) -> str:
        """A new room, and its lobby on the page; its code."""
        await self.page.goto(self.url)
        await self("host-name").fill(name)
        await self.hit(self("host"))
        await expect(self("lobby-code")).to_be_visible(timeout=PATIENCE)
        return (await self("lobby-code").inner_text()).strip()

    async def join(self, room: str, name: str) -> None:
        """By its invite link."""
        await self.page.goto(f"{self.url}/r/{room}")
        await self("join-name").fill(name)
        await self.hit(self("join"))

    async def add_bots(self, count: int, level: str | None = None) -> None:
        for n in range(1, count + 1):
            await self.hit(self("add-bot"))
            await expect(self("bot-level")).to_have_count(n, timeout=PATIENCE)
            if level is not None:
                chosen = self("bot-level").nth(n - 1)
                await chosen.select_option(level)

    async def start(self, length: str | None = None) -> None:
        """From the lobby to setup."""
        await self.hit(self("start"))
        await self.at("deal")
        if length is not None:
            choice = self.page.locator(f'label:has([data-testid="length-{length}"])').or_(self(f"length-{length}"))
            await self.hit(choice.first)

    async def deal(self) -> None:
        """Tapped; see `live`."""
        await self.hit(self("deal"))

    async def live(self) -> None:
        """“Snatch!” was said: cards may move."""
        await self.page.wait_for_selector(
            '[data-testid="table"][data-phase="live"]:not(:has([data-testid="countdown"]))', timeout=PATIENCE
        )

    async def press(self, testid: str) -> None:
        """A button of a place that comes up, until it takes it: in its first moment it takes nothing."""
        await self(testid).wait_for(timeout=PATIENCE)
        async with asyncio.timeout(PATIENCE / 1000):
            while await self(testid).count():
                with contextlib.suppress(Error):
                    await self.hit(self(testid), timeout=1000)
                    await self(testid).wait_for(state="detached", timeout=700)

    async def hit(self, what: Locator, timeout: float | None = None) -> None:
        """A button, with whatever there is."""
        await (what.tap(timeout=timeout) if self.touch else what.click(timeout=timeout))

    async def leave(self) -> None:
        await self.hit(self("leave"))
        await self.hit(self("leave-yes"))

    # ---- what it shows ----

    def __call__(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid)

    async def at(self, testid: str) -> None:
        """This part shows."""
        await expect(self(testid)).to_be_visible(timeout=PATIENCE)

    async def gone(self, testid: str) -> None:
        await expect(self(testid)).to_have_count(0, timeout=PATIENCE)

    async def says(self, text: str) -> None:
        """Somewhere on the page, now or soon, if only for a moment."""
        await self.page.get_by_text(text).first.wait_for(state="attached", timeout=PATIENCE)

    async def see(self, after: int = -1, patience: int = 5000) -> Seen | None:
        """The table once it is at rest, and further than `after`; None when another place shows."""
        seen = await self.page.evaluate(_AWAIT, {"after": after, "patience": patience})
        return None if seen is None else msgspec.convert(seen, Seen, strict=False)

    async def now(self) -> Seen | None:
        """The table as it shows at this moment, at rest or not."""
        seen = await self.page.evaluate(f"({READ})()")
        return None if seen is None else msgspec.convert(seen, Seen, strict=False)

    async def table(self, after: int = -1) -> Seen:
        """The same where a table must be."""
        seen = await self.see(after)
        assert seen is not None, "no table shows"
        return seen

    async def shot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        await self.page.screenshot(path=path)

    # ---- cards ----

    def card(self, code: str) -> Locator:
        """An own card, wherever it lies."""
        return self.page.locator(f'[data-card="{code}"][data-spot]')

    async def spot(self, selector: str) -> Point | None:
        """A point where a finger gets this one and not what lies on it; None when there is none now."""
        found = await self.page.evaluate(SPOT, selector)
        return None if found is None else Point(*found)

    async def free(self, what: Locator) -> Point:
        """The same, waited for."""
        handle = await what.element_handle(timeout=PATIENCE)
        found = await self.page.wait_for_function(SPOT, arg=handle, timeout=PATIENCE)
        return Point(*await found.json_value())

    async def tap(self, what: Locator) -> None:
        """With a finger, where it is free."""
        await self.finger.tap(await self.free(what))

    async def rest(self) -> None:
        """So long that the next tap is none of a double tap."""
        await self.page.wait_for_timeout(DOUBLE_TAP)

    async def turn(self, times: int = 1) -> None:
        """One card of the stock after the other, each seen before the next."""
        for _ in range(times):
            seq = (await self.table()).seq
            await self.tap(self("stock"))
            await self.table(after=seq)

    async def drag(self, what: Locator, to: Locator) -> None:
        """Carried so that its middle comes to lie over the middle of `to`."""
        start = await self.free(what)
        box, aim = await what.bounding_box(), await to.bounding_box()
        assert box is not None
        assert aim is not None
        dx = aim["x"] + aim["width"] / 2 - (box["x"] + box["width"] / 2)
        dy = aim["y"] + aim["height"] / 2 - (box["y"] + box["height"] / 2)
        await self.finger.drag(start, Point(start.x + dx, start.y + dy))

    async def rects(self, *selectors: str) -> list[dict[str, Any]]:
        """Where all that these select lies, with its test id, in CSS pixels."""
        found = await self.page.evaluate(
            """selectors => selectors.flatMap(s => [...document.querySelectorAll(s)]).map(node => {
                const { left, top, right, bottom } = node.getBoundingClientRect()
                return { is: node.dataset.testid ?? node.dataset.card ?? node.className, left, top, right, bottom }
            })""",
            list(selectors),
        )
        return cast(list[dict[str, Any]], found)
