"""Randomised greedy play-outs: the search for one line that empties every snatch pile.

All seats together, stock and turned pile as one set (each of its cards can be turned to),
no snatch turn.  Sets of cards are ints of 52 bits; nothing here is the rules' word: what
a play-out finds is replayed through `decide` before a deal goes out.

What a seat can do by itself is found once after each of its own moves, not at each look:
a look at a seat costs a comparison or two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import TypeAlias

from games.cards import ACES, BIT, IN_DECK, KING, rank
from games.snatch_solitaire.state import SNATCH_PILE, WORK_PILES
from games.tableau import CHILDREN, PARENTS

SNATCH = "s"
TURNED = "t"
MIDDLE = "m"
WORK = ("0", "1", "2", "3")

_SNATCH_TO_RUN = 0
_FREE_PILE = 1
"""A whole pile onto another."""
_BRIDGE = 2
"""A loose card onto a run, or into an empty pile, so that the snatch top fits onto it."""
_UNCOVER = 3
"""A part of a run away from a card that fits the middle."""
_FILL_EMPTY = 4
_LOOSE_TO_RUN = 5
"""Any loose card onto a run: it may be what another needs later."""
_NOTHING = 6

_KINGS = sum(BIT[card] for card in range(IN_DECK) if rank(card) == KING)


def _orders(count: int) -> tuple[tuple[int, ...], ...]:
    dice = Random(count)
    return tuple(tuple(dice.sample(range(count), count)) for _ in range(min(240, 2 * math.factorial(count))))


_ORDERS = tuple(_orders(count) for count in range(9))
"""By the number of seats: orders to look at them in, of which each look takes one."""


Step: TypeAlias = tuple[int, str, int, str]
"""One move of a line: the seat's index, the source, the card, the target.

Sources and targets are `s` snatch, `t` turned, `m` middle, or a work pile's number.
"""


class _Seat:
    """`loose`: stock and turned pile.  `tops`, `kids`: the work tops, and what may lie on one of them.

    `reach`: all that may go to the middle if it fits.  `under`: cards that a part of a run would uncover.
    `best`: the kind of the best own move, `_UNCOVER` aside.
    """

    __slots__ = ("best", "empty", "index", "kids", "loose", "reach", "snatch", "tops", "under", "work")

    def __init__(self, index: int, deck: Sequence[int]) -> None:
        self.index = index
        self.snatch = list(deck[SNATCH_PILE - 1 :: -1])
        self.work = [[card] for card in deck[SNATCH_PILE : SNATCH_PILE + WORK_PILES]]
        self.loose = 0
        for card in deck[SNATCH_PILE + WORK_PILES :]:
            self.loose |= BIT[card]
        self.tops = self.kids = self.reach = self.under = 0
        self.empty = False
        self.best = _NOTHING


class PlayOut:
    """One play-out of decks by seat index.  `line` is the steps it took."""

    def __init__(self, decks: Sequence[Sequence[int]], dice: Random) -> None:
        self._seats = [_Seat(index, deck) for index, deck in enumerate(decks)]
        self._random = dice.random
        self._fits = ACES
        self._needs = [0] * (IN_DECK + 1)
        self._left = len(decks)
        """Snatch piles that are not empty."""
        self.line: list[Step] = []

    def run(self) -> bool:
        """Play until every snatch pile is empty (True) or nothing useful is left (False)."""
        seats, random = self._seats, self._random
        count = len(seats)
        orders = _ORDERS[count]
        many = len(orders)
        for seat in seats:
            self._survey(seat)
        while True:
            order = [seats[index] for index in orders[int(random() * many)]]
            again = True
            while again:
                again = False
                for seat in order:
                    if seat.reach & self._fits:
                        self._to_middle(seat)
                        if not self._left:
                            return True
                        again = True
            best, mover = _NOTHING, None
            fits = self._fits
            for seat in order:
                kind = seat.best
                if kind > _UNCOVER and seat.under & fits:
                    kind = _UNCOVER
                if kind < best:
                    best, mover = kind, seat
            if mover is None:
                return False
            self._move(mover, best)
            if not self._left:
                return True
            self._survey(mover)

    def _survey(self, seat: _Seat) -> None:
        """What the seat can do, after its own cards changed."""
        tops = kids = under = heads = 0
        empty = False
        for pile in seat.work:
            if pile:
                top = pile[-1]
                tops |= BIT[top]
                kids |= CHILDREN[top]
                heads |= BIT[pile[0]]
            else:
                empty = True
        for pile in seat.work:
            if len(pile) > 1:
                above = pile[0]
                for card in pile[1:]:
                    if BIT[card] & kids and PARENTS[card] & tops:
                        under |= BIT[above]
                    above = card
        loose = seat.loose
        seat.tops, seat.kids, seat.under, seat.empty = tops, kids, under, empty
        reach = loose | tops
        if seat.snatch:
            top = seat.snatch[-1]
            reach |= BIT[top]
            if BIT[top] & kids:
                seat.best = _SNATCH_TO_RUN
            elif heads & kids:
                seat.best = _FREE_PILE
            elif (wanted := loose & PARENTS[top]) and (wanted & kids or (empty and self._random() < 0.5)):
                seat.best = _BRIDGE
            elif empty:
                seat.best = _FILL_EMPTY
            else:
                seat.best = _LOOSE_TO_RUN if loose & kids else _NOTHING
        elif heads & kids:
            seat.best = _FREE_PILE
        else:
            seat.best = _LOOSE_TO_RUN if loose & kids else _NOTHING
        seat.reach = reach

    def _to_middle(self, seat: _Seat) -> None:
        """Everything of this seat that fits the middle, the snatch top before all."""
        index, snatch, tops, loose = seat.index, seat.snatch, seat.tops, seat.loose
        needs, fits, line = self._needs, self._fits, self.line
        shown = BIT[snatch[-1]] if snatch else 0
        while playable := (loose | tops | shown) & fits:
            if shown & playable:
                card = snatch.pop()
                src = SNATCH
                if snatch:
                    shown = BIT[snatch[-1]]
                else:
                    shown = 0
                    self._left -= 1
            elif hit := tops & playable:
                hit &= -hit
                card = hit.bit_length() - 1
                for work, pile in enumerate(seat.work):
                    if pile and pile[-1] == card:
                        pile.pop()
                        tops ^= hit
                        if pile:
                            tops |= BIT[pile[-1]]
                        src = WORK[work]
                        break
            else:
                hit = playable & -playable
                loose ^= hit
                card = hit.bit_length() - 1
                src = TURNED
            line.append((index, src, card, MIDDLE))
            if not self._left:
                break
            bit = BIT[card]
            if needs[card]:
                needs[card] -= 1
                if not needs[card]:
                    fits ^= bit
            if not bit & _KINGS:
                needs[card + 1] += 1
                fits |= bit << 1
        self._fits = fits
        seat.loose = loose
        self._survey(seat)

    def _move(self, seat: _Seat, kind: int) -> None:
        """One own move of this kind."""
        work = seat.work
        if kind == _SNATCH_TO_RUN:
            self._put(seat, SNATCH, self._off_snatch(seat))
        elif kind == _FREE_PILE:
            for source, pile in enumerate(work):
                if pile and BIT[pile[0]] & seat.kids:
                    self._shift(seat, source, 0)
                    return
        elif kind == _BRIDGE:
            wanted = seat.loose & PARENTS[seat.snatch[-1]]
            wanted = wanted & seat.kids or wanted
            self._put(seat, TURNED, self._off_stock(seat, wanted))
        elif kind == _UNCOVER:
            fits = seat.under & self._fits
            for source, pile in enumerate(work):
                for start in range(1, len(pile)):
                    if fits & BIT[pile[start - 1]] and PARENTS[pile[start]] & seat.tops:
                        self._shift(seat, source, start)
                        return
        elif kind == _FILL_EMPTY:
            self._put(seat, SNATCH, self._off_snatch(seat))
        else:
            self._put(seat, TURNED, self._off_stock(seat, seat.loose & seat.kids))

    def _off_snatch(self, seat: _Seat) -> int:
        card = seat.snatch.pop()
        if not seat.snatch:
            self._left -= 1
        return card

    def _off_stock(self, seat: _Seat, wanted: int) -> int:
        """One of these loose cards, by chance."""
        skip = int(self._random() * wanted.bit_count())
        for _ in range(skip):
            wanted &= wanted - 1
        low = wanted & -wanted
        seat.loose ^= low
        return low.bit_length() - 1

    def _target(self, seat: _Seat, card: int) -> int:
        """A pile that this card may lie on, a run by chance, else an empty one."""
        parents = PARENTS[card]
        targets = [work for work, pile in enumerate(seat.work) if pile and BIT[pile[-1]] & parents]
        if not targets:
            return seat.work.index([])
        return targets[0] if len(targets) == 1 else targets[int(self._random() * len(targets))]

    def _put(self, seat: _Seat, src: str, card: int) -> None:
        to = self._target(seat, card)
        self.line.append((seat.index, src, card, WORK[to]))
        seat.work[to].append(card)

    def _shift(self, seat: _Seat, source: int, start: int) -> None:
        pile = seat.work[source]
        run = pile[start:]
        to = self._target(seat, run[0])
        self.line.append((seat.index, WORK[source], run[0], WORK[to]))
        del pile[start:]
        seat.work[to] += run
