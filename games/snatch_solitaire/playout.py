"""Randomised greedy play-outs: the search for one line that empties every snatch pile.

All seats together, stock and turned pile as one set (each of its cards can be turned to),
no snatch turn.  Sets of cards are ints of 52 bits; nothing here is the rules' word: what
a play-out finds is replayed through `decide` before a deal goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from games.cards import ACES, BIT, IN_DECK, KING, members, rank
from games.snatch_solitaire.state import SNATCH_PILE, WORK_PILES
from games.tableau import CHILDREN, PARENTS

SNATCH = "s"
TURNED = "t"
MIDDLE = "m"
WORK = ("0", "1", "2", "3")


class Step(NamedTuple):
    """One move of a line: `src` and `to` are `s` snatch, `t` turned, `m` middle, or a work pile's number."""

    seat: int
    src: str
    card: int
    to: str


class _Seat:
    __slots__ = ("loose", "snatch", "work")

    def __init__(self, deck: Sequence[int]) -> None:
        self.snatch = list(deck[:SNATCH_PILE][::-1])
        self.work = [[card] for card in deck[SNATCH_PILE : SNATCH_PILE + WORK_PILES]]
        self.loose = 0
        for card in deck[SNATCH_PILE + WORK_PILES :]:
            self.loose |= BIT[card]


class PlayOut:
    """One play-out of decks by seat index.  `line` is the steps it took."""

    def __init__(self, decks: Sequence[Sequence[int]], dice: Random) -> None:
        self._seats = [_Seat(deck) for deck in decks]
        self._dice = dice
        self._fits = ACES
        self._needs = [0] * (IN_DECK + 1)
        self.line: list[Step] = []

    def run(self) -> bool:
        """Play until every snatch pile is empty (True) or nothing useful is left (False)."""
        order = list(range(len(self._seats)))
        dice = self._dice
        while any(seat.snatch for seat in self._seats):
            dice.shuffle(order)
            if not (
                self._any(order, self._to_middle)
                or self._any(order, self._snatch_to_run)
                or self._any(order, self._free_pile)
                or self._any(order, self._bridge)
                or self._any(order, self._uncover)
                or self._any(order, self._fill_empty)
                or self._any(order, self._loose_to_run)
            ):
                return False
        while self.line[-1].src != SNATCH:
            self.line.pop()  # played after the last snatch card, in the same go
        return True

    def _any(self, order: list[int], kind: Callable[[int], bool]) -> bool:
        """The first seat that can do this does it."""
        return any(kind(index) for index in order)

    def _place(self, index: int, src: str, card: int) -> None:
        self.line.append(Step(index, src, card, MIDDLE))
        needs = self._needs
        if needs[card]:
            needs[card] -= 1
            if not needs[card]:
                self._fits &= ~BIT[card]
        if rank(card) != KING:
            needs[card + 1] += 1
            self._fits |= BIT[card + 1]

    def _to_middle(self, index: int) -> bool:
        """Everything of this seat that fits the middle, the snatch top before all."""
        seat = self._seats[index]
        snatch = seat.snatch
        moved = False
        while True:
            if snatch and self._fits & BIT[snatch[-1]]:
                self._place(index, SNATCH, snatch.pop())
                moved = True
                continue
            for work, pile in enumerate(seat.work):
                if pile and self._fits & BIT[pile[-1]]:
                    self._place(index, WORK[work], pile.pop())
                    break
            else:
                playable = seat.loose & self._fits
                if not playable:
                    return moved
                low = playable & -playable
                seat.loose ^= low
                self._place(index, TURNED, low.bit_length() - 1)
            moved = True

    def _targets(self, seat: _Seat, card: int) -> list[int]:
        bit = BIT[card]
        return [work for work, pile in enumerate(seat.work) if pile and CHILDREN[pile[-1]] & bit]

    def _work(self, index: int, src: str, card: int, to: int) -> None:
        self.line.append(Step(index, src, card, WORK[to]))
        self._seats[index].work[to].append(card)

    def _snatch_to_run(self, index: int) -> bool:
        seat = self._seats[index]
        if not seat.snatch:
            return False
        targets = self._targets(seat, seat.snatch[-1])
        if not targets:
            return False
        self._work(index, SNATCH, seat.snatch.pop(), self._dice.choice(targets))
        return True

    def _free_pile(self, index: int) -> bool:
        """A whole pile onto another."""
        seat = self._seats[index]
        for work, pile in enumerate(seat.work):
            if pile:
                targets = self._targets(seat, pile[0])
                if targets:
                    self._shift(index, work, 0, self._dice.choice(targets))
                    return True
        return False

    def _shift(self, index: int, work: int, start: int, to: int) -> None:
        piles = self._seats[index].work
        run = piles[work][start:]
        self.line.append(Step(index, WORK[work], run[0], WORK[to]))
        del piles[work][start:]
        piles[to] += run

    def _bridge(self, index: int) -> bool:
        """A loose card onto a run, or into an empty pile, so that the snatch top fits onto it."""
        seat = self._seats[index]
        if not seat.snatch:
            return False
        wanted = seat.loose & PARENTS[seat.snatch[-1]]
        for card in members(wanted):
            targets = self._targets(seat, card)
            if not targets and self._dice.random() < 0.5:
                targets = [work for work, pile in enumerate(seat.work) if not pile]
            if targets:
                seat.loose ^= BIT[card]
                self._work(index, TURNED, card, self._dice.choice(targets))
                return True
        return False

    def _uncover(self, index: int) -> bool:
        """A part of a run away from a card that fits the middle."""
        seat = self._seats[index]
        for work, pile in enumerate(seat.work):
            for start in range(1, len(pile)):
                if self._fits & BIT[pile[start - 1]]:
                    targets = [to for to in self._targets(seat, pile[start]) if to != work]
                    if targets:
                        self._shift(index, work, start, targets[0])
                        return True
        return False

    def _fill_empty(self, index: int) -> bool:
        seat = self._seats[index]
        empty = [work for work, pile in enumerate(seat.work) if not pile]
        if not empty or not seat.snatch:
            return False
        self._work(index, SNATCH, seat.snatch.pop(), empty[0])
        return True

    def _loose_to_run(self, index: int) -> bool:
        """Any loose card onto a run: it may be what another needs later."""
        seat = self._seats[index]
        children = 0
        for pile in seat.work:
            if pile:
                children |= CHILDREN[pile[-1]]
        wanted = seat.loose & children
        if not wanted:
            return False
        card = self._dice.choice(list(members(wanted)))
        seat.loose ^= BIT[card]
        self._work(index, TURNED, card, self._dice.choice(self._targets(seat, card)))
        return True
