"""The state of a game of Snatch Solitaire: seats with their own cards, the middle, the clocks.

Only `evolve` and `attend` change it.  Cards are ints (`games.cards`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from games.cards import BIT, CODE, decode
from games.snatch_solitaire.messages import HandResult, Mine
from games.tableau import CHILDREN, PARENTS, Middle, Stock

SNATCH_PILE = 13
WORK_PILES = 4
STUCK_MS = 4000
"""How long everyone present is stuck before the snatch piles turn, in play time."""
MAX_TURNS = 13
"""Turns of the snatch piles in one hand."""

TARGETS = {"one": 0, "to25": 25, "to50": 50}
"""The total that ends a game, by its length: any total at all ends one hand."""

FROM_SNATCH = -1
FROM_TURNED = -2
A_TURN = -3
A_TURN_OVER = -4


class Taken(NamedTuple):
    """An own-cards move as undo needs it: `src` a work pile or one of the constants above."""

    src: int
    to: int = 0
    cards: int = 0


class Own:
    """One seat's own cards, and what it can do with them regardless of others.

    `free`: it has a useful move whatever lies in the middle.  `reach`: the cards that
    it could play into the middle, at once or after uncovering one.
    """

    __slots__ = ("free", "reach", "snatch", "stock", "stuck", "undo", "work")

    def __init__(self, snatch: list[int], work: list[list[int]], stock: Stock) -> None:
        self.snatch = snatch
        """From the bottom up: the last one shows."""
        self.work = work
        self.stock = stock
        self.undo: Taken | None = None
        self.stuck = False
        """As it was last told: the latest Stuck event."""
        self.free = False
        self.reach = 0
        self.survey()

    @classmethod
    def dealt(cls, deck: str) -> Own:
        """From a deck as `events.Deck` has it."""
        cards = decode(deck)
        return cls(
            cards[:SNATCH_PILE][::-1],
            [[card] for card in cards[SNATCH_PILE : SNATCH_PILE + WORK_PILES]],
            Stock(cards[SNATCH_PILE + WORK_PILES :]),
        )

    def survey(self) -> None:
        """Find `free` and `reach` again, after the own cards changed (a turn doesn't change them)."""
        loose = self.stock.mask
        if self.snatch:
            loose |= BIT[self.snatch[-1]]
        tops = 0
        children = 0
        empty = False
        for pile in self.work:
            if pile:
                tops |= BIT[pile[-1]]
                children |= CHILDREN[pile[-1]]
            else:
                empty = True
        reach = loose | tops
        free = empty or bool(loose & children)
        if not free:
            for pile in self.work:
                if BIT[pile[0]] & children:
                    free = True
                    break
                for under, card in pairwise(pile):
                    # `under` and other tops of its kind are the parents of `card`; its own is covered.
                    if PARENTS[card] & tops:
                        reach |= BIT[under]
        self.free = free
        self.reach = reach

    def mine(self) -> Mine:
        """What its owner sees of it."""
        stock = self.stock
        return Mine(
            snatch=CODE[self.snatch[-1]] if self.snatch else None,
            work=[[CODE[card] for card in pile] for pile in self.work],
            stock=len(stock.cards) - stock.shown,
            turned=[CODE[card] for card in stock.cards[: stock.shown]],
            undo=self.undo is not None,
            stuck=self.stuck,
        )


class Noted:
    """What is noted beside a state, to save work, and is no part of it.

    `quiet`: `follow` found nothing, and nothing that it looks at has changed since.
    """

    __slots__ = ("quiet",)


class State(Noted):
    """A whole game.  `seq` counts the events taken in since `open`."""

    __slots__ = (
        "all_stuck",
        "end_offered",
        "hand",
        "length",
        "live",
        "middle",
        "own",
        "present",
        "result",
        "seats",
        "seq",
        "stuck_at",
        "stuck_left",
        "totals",
        "turns",
    )

    def __init__(self, seats: Sequence[int], length: str) -> None:
        self.seats = tuple(sorted(seats))
        self.length = length
        self.seq = 0
        self.hand = 0
        self.live = False
        """A hand is dealt and not over."""
        self.totals = dict.fromkeys(self.seats, 0)
        """Points of the hands before this one."""
        self.own: dict[int, Own] = {}
        self.middle = Middle()
        self.turns = 0
        self.present: frozenset[int] = frozenset()
        self.all_stuck = False
        self.stuck_at: int | None = None
        """When the 4 s clock last began to run; None while it stands still."""
        self.stuck_left = STUCK_MS
        """What it had left then."""
        self.end_offered = False
        self.quiet = False
        self.result: HandResult | None = None
        """Of the last hand, until the next deal."""
