"""A simulated player: a bot's mind behind a phone."""

from __future__ import annotations

import asyncio
import contextlib
import time
from random import Random
from typing import Any

from games.contract import Mind
from games.registry import MINDS
from games.snatch_solitaire.messages import EndHand, Turn
from simulate.findings import Findings
from simulate.phone import Phone, Stale

PATIENCE = 0.5
"""Seconds without an answer after which an impatient one taps the stock."""
TAPS = 3

SAID_TWICE = 0.02
"""The share of moves that a player sends a second time."""


class Player:
    """`play` until the hand is over.  `speed` scales the mind's pauses."""

    def __init__(
        self, phone: Phone, level: str, speed: float, dice: Random, found: Findings, impatient: bool = False
    ) -> None:
        """`impatient`: taps the stock while a move gets no answer."""
        self.phone = phone
        self._impatient = impatient
        self._level, self._speed, self._dice, self._found = level, speed, dice, found
        self._mind: Mind[Any, Any] | None = None
        self._play_time = 0.0

    async def play(self) -> None:
        """One hand, from “Snatch!” to its scores."""
        screen = self.phone.screen
        await self.phone.until(lambda p: p.screen.live)
        assert screen.game is not None
        mind = self._mind = self._mind or MINDS[screen.game.spec.id](self._level)
        began = time.monotonic()
        due = began + self._dice.uniform(0, 1) / self._speed
        while screen.phase() == "live":
            await self._rest_until(due)
            if screen.phase() != "live":
                return
            if not screen.live:
                await self.phone.until(lambda p: p.screen.live or p.screen.phase() != "live")
                due = time.monotonic()
                continue
            now = time.monotonic()
            self._found.late(now - due)
            move, pause = mind.look(
                screen.view, round(self._play_time + (now - began) * 1000 * self._speed), self._dice
            )
            if move is None and screen.view.end_offered and screen.table is not None:
                move = EndHand() if screen.table.host == screen.seat else None
            if move is not None:
                with contextlib.suppress(Stale):
                    await self._move(move, due)
                if self._dice.random() < SAID_TWICE:
                    await self.phone.say_again()
            due = max(due, time.monotonic() - 0.5) + pause / 1000 / self._speed
        self._play_time += (time.monotonic() - began) * 1000 * self._speed

    async def _move(self, move: Any, due: float) -> None:
        if not self._impatient:
            await self.phone.move(move, due)
            return
        answer = asyncio.ensure_future(self.phone.move(move, due))
        try:
            for _ in range(TAPS):
                done, _pending = await asyncio.wait({answer}, timeout=PATIENCE)
                if done or self.phone.screen.phase() != "live":
                    break
                self.phone.begin(Turn())
            await answer
        finally:
            answer.cancel()

    async def _rest_until(self, due: float) -> None:
        """Sleep, or wake as soon as the hand is over."""
        left = due - time.monotonic()
        if left <= 0:
            return
        try:
            async with asyncio.timeout(left):
                await self.phone.until(lambda p: p.screen.phase() != "live")
        except TimeoutError:
            pass
