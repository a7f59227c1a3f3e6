"""A phone's line to the servers, in a test's hand: it can be slow for a while, or down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from playwright.async_api import Page, WebSocketRoute

GOING_AWAY = 1001


class Line:
    """Between a page and the gateway's WebSocket.  Made before the page opens it."""

    def __init__(self) -> None:
        self._held: list[Callable[[], None]] | None = None
        self._down = False
        self._open: list[tuple[WebSocketRoute, WebSocketRoute]] = []
        self.sent: list[str | bytes] = []
        """What the page said, in order."""

    @staticmethod
    async def of(page: Page) -> Line:
        line = Line()
        await page.route_web_socket("**/ws", line._opened)
        return line

    def hold(self) -> None:
        """Nothing comes through, either way, until `let_go`."""
        self._held = []

    def let_go(self) -> None:
        held, self._held = self._held or [], None
        for pass_on in held:
            pass_on()

    async def cut(self) -> None:
        """Down, and every try to come back fails, until `mend`."""
        self._down = True
        ends, self._open = self._open, []
        await asyncio.gather(*(end.close(code=GOING_AWAY) for pair in ends for end in pair))

    def mend(self) -> None:
        self._down = False

    async def _opened(self, page_end: WebSocketRoute) -> None:
        if self._down:
            await page_end.close(code=GOING_AWAY)
            return
        far_end = page_end.connect_to_server()
        self._open.append((page_end, far_end))

        def from_page(message: str | bytes) -> None:
            self.sent.append(message)
            self._pass(lambda: far_end.send(message))

        page_end.on_message(from_page)
        far_end.on_message(lambda message: self._pass(lambda: page_end.send(message)))

    def _pass(self, on: Callable[[], None]) -> None:
        if self._held is None:
            on()
        else:
            self._held.append(on)
