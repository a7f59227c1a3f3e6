"""Real fingers on a page: touches go in through the browser's own input, as from a screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from playwright.async_api import Page


class Point(NamedTuple):
    """CSS pixels of the page."""

    x: float
    y: float


class Finger:
    """One finger on one page."""

    def __init__(self, put: Callable[[str, Point | None], Awaitable[None]]) -> None:
        """`put` is told `touchStart`, `touchMove`, `touchEnd` and `touchCancel`, the first two with their place."""
        self._touch = put

    @staticmethod
    async def on(page: Page) -> Finger:
        cdp = await page.context.new_cdp_session(page)

        async def put(kind: str, at: Point | None) -> None:
            points = [] if at is None else [{"x": at.x, "y": at.y, "id": 0}]
            await cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        return Finger(put)

    async def tap(self, at: Point) -> None:
        await self.down(at)
        await self.up()

    async def taps(self, at: Point, times: int) -> None:
        """As fast as the browser takes them: all are on their way before the first is answered."""
        await asyncio.gather(*(touch for _ in range(times) for touch in (self.down(at), self.up())))

    async def flicks(self, *ways: tuple[Point, Point]) -> None:
        """One right after the other, as fast as the browser takes them."""
        await asyncio.gather(
            *(t for start, end in ways for t in (self.down(start), self._touch("touchMove", end), self.up()))
        )

    async def drag(self, start: Point, end: Point, steps: int = 5) -> None:
        await self.down(start)
        await self.move(start, end, steps)
        await self.up()

    async def down(self, at: Point) -> None:
        await self._touch("touchStart", at)

    async def move(self, start: Point, end: Point, steps: int = 5) -> None:
        for n in range(1, steps + 1):
            share = n / steps
            await self._touch(
                "touchMove", Point(start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share)
            )

    async def up(self) -> None:
        await self._touch("touchEnd", None)

    async def cancel(self) -> None:
        """A call comes in: the system takes the touch away."""
        await self._touch("touchCancel", None)


class Mouse(Finger):
    """The same with a mouse's left button; nothing cancels it."""

    def __init__(self, page: Page) -> None:
        async def put(kind: str, at: Point | None) -> None:
            if at is not None:
                await page.mouse.move(at.x, at.y)
            if kind == "touchStart":
                await page.mouse.down()
            elif kind == "touchEnd":
                await page.mouse.up()

        super().__init__(put)
