"""What must hold of Snatch Solitaire on every screen, at every moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from games.snatch_solitaire.messages import Dealt, Placed, SnatchCount, View

DECK = 52
SNATCH_PILE = 13


def faults(view: View, seat: int | None, placed: Counter[int] | None) -> list[str]:
    """What is wrong with a view, in words; `placed` as `Screen` counts it."""
    found = [f"seat {s.seat} has {s.left} cards left" for s in view.seats if not 0 <= s.left <= SNATCH_PILE]
    if view.mine is None or seat is None or not view.hand:
        return found
    mine = view.mine
    left = next((s.left for s in view.seats if s.seat == seat), None)
    if left is None:
        return [*found, f"seat {seat} has cards and no count"]
    if (mine.snatch is None) != (left == 0):
        found.append(f"seat {seat} shows {mine.snatch} on a snatch pile of {left}")
    shown = [*mine.turned, *(card for pile in mine.work for card in pile)]
    if mine.snatch is not None:
        shown.append(mine.snatch)
    twice = [card for card, count in Counter(shown).items() if count > 1]
    if twice:
        found.append(f"seat {seat} holds {', '.join(twice)} twice")
    if placed is not None:
        held = left + sum(map(len, mine.work)) + mine.stock + len(mine.turned) + placed[seat]
        if held != DECK:
            found.append(f"seat {seat} has {held} cards")
    return found


FAULTS: dict[str, Callable[[Any, int | None, Counter[int] | None], list[str]]] = {"snatch_solitaire": faults}
"""By the game's id."""


def owes(event: Any, seat: int) -> bool:
    """Whether the seat's own part of this public event follows in its seat frame."""
    return isinstance(event, Dealt) or (isinstance(event, Placed | SnatchCount) and event.seat == seat)


OWES: dict[str, Callable[[Any, int], bool]] = {"snatch_solitaire": owes}
