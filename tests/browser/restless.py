"""A player who seldom waits for an answer: acts on what shows after a few frames, cards in motion and all."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.browser.finger import Point
from tests.browser.page_player import choose
from tests.browser.phone_page import PhonePage, Seen

_WHERE = """selector => {
    const node = document.querySelector(selector)
    if (!node) return null
    const { left, top, width, height } = node.getBoundingClientRect()
    return [left + width / 2, top + Math.min(height / 2, 9)]
}"""


PATIENT = 0.5
"""So often it looks at the card that it turned."""
_FRAMES = "n => new Promise(done => { const next = () => (n-- > 0 ? requestAnimationFrame(next) : done()); next() })"


class Restless:
    """Most of what it does is useful; some of it is daft, as people are: undone, dragged where it can't go."""

    def __init__(self, phone: PhonePage, dice: Random) -> None:
        self.phone = phone
        self._dice = dice
        self._ways: list[tuple[int, Callable[[Seen], tuple[str, str | None]]]] = [
            (70, self._useful),
            (16, lambda seen: ("stock", None)),
            (6, lambda seen: ("undo" if seen.undo else "stock", None)),
            (4, lambda seen: (self._some_top(seen), "middle")),
            (4, lambda seen: (self._some_top(seen), f"work-{self._dice.randrange(4)}")),
        ]

    async def act(self) -> bool:
        """One tap or drag.  False: no hand is live here."""
        patient = self._dice.random() < PATIENT
        seen = await (self.phone.see(patience=1500) if patient else self.phone.now())
        if seen is None or seen.phase != "live":
            return False
        (way,) = self._dice.choices([way for _, way in self._ways], [weight for weight, _ in self._ways])
        what, to = way(seen)
        start = await self._where(what)
        end = None if to is None else await self._where(to)
        if start is not None and end is not None:
            await self.phone.finger.drag(start, end, steps=4)
        elif start is not None:
            await self.phone.finger.tap(start)
        await self.phone.page.evaluate(_FRAMES, self._dice.randrange(12))
        return True

    def _useful(self, seen: Seen) -> tuple[str, str | None]:
        move = choose(seen)
        if move is None:
            return "stock", None
        what = f'[data-card="{move.card}"][data-spot]'
        dragged = self._dice.random() < 0.3
        return what, ("middle" if dragged and not hasattr(move, "to") else None)

    def _some_top(self, seen: Seen) -> str:
        return self._dice.choice(["snatch", "turned", *(f"work-{n}" for n, pile in enumerate(seen.work) if pile)])

    async def _where(self, what: str) -> Point | None:
        selector = what if what.startswith("[") else f'[data-testid="{what}"]'
        found = await self.phone.page.evaluate(_WHERE, selector)
        return None if found is None else Point(*found)
