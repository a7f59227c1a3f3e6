"""Real fingers on a page: touches go in through the browser's own input, as from a screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from playwright.async_api import Page


class Point(NamedTuple):
    """CSS pixels of the page."""

    x: float
    y: float


BETWEEN = 0.012
"""Seconds between the touches of a flick, by the times that they bear: a busy machine must not make it a slow one."""
Put = Callable[[str, Point | None, float | None], Awaitable[None]]
"""`touchStart`, `touchMove`, `touchEnd` or `touchCancel`, the first two with their place; when (epoch), None: now."""


class Finger:
    """One finger on one page."""

    def __init__(self, put: Put) -> None:
        self._put = put

    @staticmethod
    async def on(page: Page) -> Finger:
        cdp = await page.context.new_cdp_session(page)

        async def put(kind: str, at: Point | None, when: float | None) -> None:
            points = [] if at is None else [{"x": at.x, "y": at.y, "id": 0}]
            time_of_it = {} if when is None else {"timestamp": when}
            await cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points, **time_of_it})

        return Finger(put)

    async def tap(self, at: Point) -> None:
        await self.down(at)
        await self.up()

    async def taps(self, at: Point, times: int) -> None:
        """As fast as the browser takes them: all are on their way before the first is answered."""
        await asyncio.gather(*(touch for _ in range(times) for touch in (self.down(at), self.up())))

    async def flicks(self, *ways: tuple[Point, Point]) -> None:
        """One right after the other, as fast as the browser takes them."""
        touches: list[tuple[str, Point | None]] = []
        for start, end in ways:
            half = Point((start.x + end.x) / 2, (start.y + end.y) / 2)
            touches += [("touchStart", start), ("touchMove", half), ("touchMove", end), ("touchEnd", None)]
        began = time.time() - BETWEEN * len(touches)
        await asyncio.gather(*(self._put(kind, at, began + BETWEEN * n) for n, (kind, at) in enumerate(touches)))

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

    async def _touch(self, kind: str, at: Point | None) -> None:
        await self._put(kind, at, None)

    async def cancel(self) -> None:
        """A call comes in: the system takes the touch away."""
        await self._touch("touchCancel", None)


class Mouse(Finger):
    """The same with a mouse's left button; nothing cancels it."""

    @staticmethod
    async def on(page: Page) -> Mouse:
        cdp = await page.context.new_cdp_session(page)
        kinds = {"touchStart": "mousePressed", "touchMove": "mouseMoved", "touchEnd": "mouseReleased"}
        here = Point(0, 0)

        async def put(kind: str, at: Point | None, when: float | None) -> None:
            nonlocal here
            here = here if at is None else at
            event = {"type": kinds[kind], "x": here.x, "y": here.y, "button": "left", "buttons": 1, "clickCount": 1}
            await cdp.send("Input.dispatchMouseEvent", event if when is None else {**event, "timestamp": when})

        return Mouse(put)
