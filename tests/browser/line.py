"""A phone's line to the servers, in a test's hand: slow, silent for a while, or down."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random

from playwright.async_api import Page, WebSocketRoute

GOING_AWAY = 1001

Delay = Callable[[], float]
"""Seconds that the next message takes."""


def bad_line(seed: int, each: float = 0.15, share: float = 0.02, late: float = 1.0) -> Delay:
    """Every message takes `each` seconds longer, and of a hundred some by `late` seconds more."""
    dice = Random(seed)
    return lambda: each + (late if dice.random() < share else 0.0)


class Line:
    """Between a page and the gateway's WebSocket.  Made before the page opens it."""

    def __init__(self, delay: Delay = lambda: 0.0) -> None:
        self.delay = delay
        self._held: list[Callable[[], None]] | None = None
        self._down = False
        self._open: list[tuple[WebSocketRoute, WebSocketRoute]] = []
        self._ways: list[_Way] = []
        self.sent: list[str | bytes] = []
        """What the page said, in order."""
        self.heard: list[str | bytes] = []
        """What came to it, in order."""

    @staticmethod
    async def of(page: Page, delay: Delay = lambda: 0.0, socket: str = "**/ws") -> Line:
        line = Line(delay)
        await page.route_web_socket(socket, line._opened)
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
        for way in self._ways:
            way.end()
        ends, self._open = self._open, []
        await asyncio.gather(*(end.close(code=GOING_AWAY) for pair in ends for end in pair))

    def mend(self) -> None:
        self._down = False

    def end(self) -> None:
        """What is still on its way is lost."""
        for way in self._ways:
            way.end()

    async def _opened(self, page_end: WebSocketRoute) -> None:
        if self._down:
            await page_end.close(code=GOING_AWAY)
            return
        far_end = page_end.connect_to_server()
        self._open.append((page_end, far_end))
        there, back = _Way(self), _Way(self)
        self._ways += [there, back]

        def from_page(message: str | bytes) -> None:
            self.sent.append(message)
            there.take(lambda: self._pass(lambda: far_end.send(message)))

        def arrived(message: str | bytes) -> None:
            self.heard.append(message)
            page_end.send(message)

        page_end.on_message(from_page)
        far_end.on_message(lambda message: back.take(lambda: self._pass(lambda: arrived(message))))

    def _pass(self, on: Callable[[], None]) -> None:
        if self._held is None:
            on()
        else:
            self._held.append(on)


class _Way:
    """One direction of one socket: each message takes its time, and none overtakes another."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._waiting: deque[tuple[float, Callable[[], None]]] = deque()
        self._last = 0.0
        self._bell: asyncio.TimerHandle | None = None

    def take(self, on: Callable[[], None]) -> None:
        now = asyncio.get_running_loop().time()
        self._last = max(self._last, now + self._line.delay())
        if self._last <= now and not self._waiting:
            on()
            return
        self._waiting.append((self._last, on))
        if self._bell is None:
            self._wait()

    def end(self) -> None:
        self._waiting.clear()
        if self._bell is not None:
            self._bell.cancel()

    def _wait(self) -> None:
        self._bell = asyncio.get_running_loop().call_at(self._waiting[0][0], self._arrive)

    def _arrive(self) -> None:
        self._bell = None
        now = asyncio.get_running_loop().time()
        while self._waiting and self._waiting[0][0] <= now:
            self._waiting.popleft()[1]()
        if self._waiting:
            self._wait()
