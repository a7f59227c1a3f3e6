"""`fits.json`: which cards fit onto a middle pile, onto a work pile, and which runs may move.

- `middle`: `{"top", "card", "fits"}`; top null is the place of a new pile.  An ace fits
  there and nowhere else (dropped on a pile it opens a new one).
- `work`: `{"top", "card", "fits"}`; top null is an empty work pile.
- `run`: `{"pile", "from", "top", "fits"}`: the cards of `pile` from index `from` on, as one
  run, onto another work pile with this top.
"""

from __future__ import annotations

from random import Random
from typing import Any

from games.cards import ACE, CODE, IN_DECK, IN_SUIT, KING, members, rank, suit
from games.snatch_solitaire.messages import MiddleCard, Pile
from games.snatch_solitaire.view import pile_takes
from games.tableau import CHILDREN, fits_on


def cases() -> dict[str, Any]:
    """All of it."""
    return {"middle": _middle(), "work": _work(), "run": _runs()}


def _near(card: int) -> list[int]:
    """The cards by rank and suit that a wrong rule would take for a neighbour."""
    ranks = [r for r in (rank(card) - 1, rank(card), rank(card) + 1) if ACE <= r <= KING]
    return [s * IN_SUIT + r for s in range(4) for r in ranks]


def _middle() -> list[dict[str, Any]]:
    found = []
    for card in range(IN_DECK):
        found.append({"top": None, "card": CODE[card], "fits": rank(card) == ACE})
        for top in _near(card):
            if rank(top) == KING or (suit(top) != suit(card) and rank(top) != rank(card) - 1):
                continue
            fits = pile_takes(Pile(1, [MiddleCard(CODE[top], 0)]), CODE[card])
            found.append({"top": CODE[top], "card": CODE[card], "fits": fits})
    return found


def _work() -> list[dict[str, Any]]:
    found = []
    for top in range(IN_DECK):
        found += [{"top": CODE[top], "card": CODE[c], "fits": fits_on(c, top)} for c in _near(top) if c != top]
    found += [{"top": None, "card": CODE[card], "fits": fits_on(card, None)} for card in range(IN_DECK)]
    return found


def _runs() -> list[dict[str, Any]]:
    dice = Random(11)
    found = []
    for _ in range(120):
        pile = [dice.randrange(IN_DECK)]
        while len(pile) < dice.randint(1, 7) and CHILDREN[pile[-1]]:
            pile.append(dice.choice(list(members(CHILDREN[pile[-1]]))))
        start = dice.randrange(len(pile))
        top = dice.choice([None, *(card for card in _near(pile[start]) if card not in pile)])
        found.append(
            {
                "pile": [CODE[card] for card in pile],
                "from": start,
                "top": None if top is None else CODE[top],
                "fits": fits_on(pile[start], top),
            }
        )
    return found
