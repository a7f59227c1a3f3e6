"""The minds of bot seats, in three levels.

A mind knows its seat's View and nothing else.  It acts after each pause of its level, on
the first move of `useful` that it notices; it leaves a middle pile alone for a while after
it changed, as a person's eye would.  Between two actions it glances once at the middle, a
pile's wait before it acts next, so that it knows which piles have lain still for long enough.

Every useful move is noticed sooner or later, and every one of them brings cards out of
the snatch pile, out of the stock or into the middle, so that no mind goes in circles: a run
moves only to free a pile or a card that the middle takes now.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import NamedTuple

from games.cards import ACE, CARD, CODE, rank
from games.contract import Mind
from games.snatch_solitaire.messages import Mine, Move, Source, ToMiddle, ToWork, Turn, View
from games.snatch_solitaire.view import pile_takes
from games.tableau import fits_on

IDLE_MS = 500
"""Until the next look when there is nothing to play."""


class Level(NamedTuple):
    """A level's figures, in ms, from the rules."""

    shortest_pause: int
    longest_pause: int
    notice: float
    """The chance to notice a move at a look."""
    wait: int
    """How long a middle pile is left alone after it changed."""


LEVELS: dict[str, Level] = {
    "easy": Level(2200, 3400, 0.55, 1800),
    "medium": Level(1300, 2000, 0.80, 1100),
    "hard": Level(700, 1100, 0.96, 600),
}


def mind(level: str) -> Mind[View, Move]:
    """A new mind of this level, one for each seat; KeyError for no level."""
    return BotMind(LEVELS[level])


class BotMind:
    """What one bot remembers: when each middle pile changed, and when it acts next."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._hand = 0
        self._last = 0
        self._act_at = 0
        self._changed: dict[int, tuple[str, int]] = {}

    def look(self, view: View, now: int, dice: Random) -> tuple[Move | None, int]:
        """A move or None, and the ms until the next look."""
        mine = view.mine
        if mine is None or view.result is not None:
            self._hand = 0
            return None, IDLE_MS
        if view.hand != self._hand or now < self._last:
            self._hand = view.hand
            self._changed = {}
            self._act_at = now + self._pause(dice)
        self._last = now
        self._watch(view, now)
        if now < self._act_at:
            return None, self._until_glance(now)
        move, ready = self._choose(view, mine, now, dice)
        if move is None and ready is not None:
            return None, max(1, ready - now)
        self._act_at = now + self._pause(dice)
        return move, self._until_glance(now)

    def _pause(self, dice: Random) -> int:
        return dice.randint(self._level.shortest_pause, self._level.longest_pause)

    def _until_glance(self, now: int) -> int:
        """Ms until the next look: the glance at the middle while it is ahead, else the action."""
        glance = self._act_at - self._level.wait
        return max(1, (glance if now < glance else self._act_at) - now)

    def _watch(self, view: View, now: int) -> None:
        """Note which piles changed since the last look."""
        seen = self._changed
        self._changed = {}
        for pile in view.middle:
            top = pile.top[-1].card
            known = seen.get(pile.id)
            self._changed[pile.id] = known if known is not None and known[0] == top else (top, now)

    def _choose(self, view: View, mine: Mine, now: int, dice: Random) -> tuple[Move | None, int | None]:
        """The move to make; or None, and when a pile that a noticed card waits for may be touched."""
        ready: int | None = None
        for move, into in useful(view, mine):
            if dice.random() >= self._level.notice:
                continue
            at, pile = self._still(view, into, now)
            if at > now:
                ready = at if ready is None else min(ready, at)
                continue
            if type(move) is ToMiddle and pile is not None:
                move.pile = pile
            return move, None
        if ready is None and not mine.stuck and (mine.stock or mine.turned):
            return Turn(), None
        return None, ready

    def _still(self, view: View, card: str | None, now: int) -> tuple[int, int | None]:
        """When this card may go to the middle, and onto which pile; at once for None and for an ace."""
        if card is None or rank(CARD[card]) == ACE:
            return now, None
        piles = [pile.id for pile in view.middle if pile_takes(pile, card)]
        at, pile = min((self._changed[pile][1] + self._level.wait, pile) for pile in piles)
        return max(at, now), pile


def useful(view: View, mine: Mine) -> Iterator[tuple[Move, str | None]]:
    """The useful moves that this seat sees, best first, each with the card it means for the middle."""
    fits = {CODE[CARD[p.top[-1].card] + 1] for p in view.middle}
    turned = mine.turned[-1] if mine.turned else None
    tops = [pile[-1] if pile else None for pile in mine.work]

    def goes(card: str | None) -> bool:
        return card is not None and (card in fits or card[0] == "A")

    if mine.snatch is not None and goes(mine.snatch):
        yield ToMiddle(mine.snatch, "snatch"), mine.snatch
    if turned is not None and goes(turned):
        yield ToMiddle(turned, "turned"), turned
    for work, top in enumerate(tops):
        if top is not None and goes(top):
            yield ToMiddle(top, "work", work), top
    if mine.snatch is not None:
        yield from _onto_runs(mine.snatch, "snatch", tops)
    for work, pile in enumerate(mine.work):
        if pile:
            yield from _onto_runs(pile[0], "work", tops, work)
    for work, pile in enumerate(mine.work):
        for under, head in pairwise(pile):
            if goes(under):
                for move, _ in _onto_runs(head, "work", tops, work):
                    yield move, under
    if mine.snatch is not None and None in tops:
        yield ToWork(mine.snatch, "snatch", tops.index(None)), None
    if turned is not None:
        yield from _onto_runs(turned, "turned", tops)


def _onto_runs(
    card: str, src: Source, tops: list[str | None], work: int | None = None
) -> Iterator[tuple[Move, str | None]]:
    """The moves of a card, or the run that it heads, onto a non-empty work pile."""
    for to, top in enumerate(tops):
        if to != work and top is not None and fits_on(CARD[card], CARD[top]):
            yield ToWork(card, src, to, work), None
