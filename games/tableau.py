"""What race games share: the middle that everyone races onto, runs, and a stock with its turned pile.

All of it over the ints of `games.cards`.  Nothing here knows of seats' turns, scores or ends.
"""

from __future__ import annotations

from games.cards import ACE, ACES, BIT, IN_DECK, IN_SUIT, KING, is_red, mask, rank


def _parents(card: int) -> int:
    return sum(BIT[p] for p in range(IN_DECK) if rank(p) == rank(card) + 1 and is_red(p) != is_red(card))


PARENTS: tuple[int, ...] = tuple(_parents(card) for card in range(IN_DECK))
"""For each card the set of cards that it may lie on in a run: one rank higher, other colour."""

CHILDREN: tuple[int, ...] = tuple(
    sum(BIT[c] for c in range(IN_DECK) if PARENTS[c] & BIT[card]) for card in range(IN_DECK)
)
"""For each card the set of cards that may lie on it in a run."""


def fits_on(card: int, top: int | None) -> bool:
    """Whether a card, or a run that begins with it, may go onto a work pile with this top; None: empty.

    >>> from games.cards import CARD
    >>> [fits_on(CARD[c], CARD["7s"]) for c in ("6h", "6d", "6c", "5h", "8h")]
    [True, True, False, False, False]
    >>> fits_on(CARD["2c"], None)
    True
    """
    return top is None or bool(PARENTS[card] & BIT[top])


class Pile:
    """A pile of the middle, from its ace up to one card of each rank.

    `owners[r]` is the seat whose card of rank `r` lies there and `seqs[r]` the table's
    sequence number once it did.  The cards follow from suit and height.
    """

    __slots__ = ("id", "owners", "seqs", "suit")

    def __init__(self, id: int, suit: int, owners: list[int], seqs: list[int]) -> None:
        self.id = id
        self.suit = suit
        self.owners = owners
        self.seqs = seqs

    @property
    def finished(self) -> bool:
        """It has its king and has left the middle."""
        return len(self.owners) == IN_SUIT

    @property
    def cards(self) -> range:
        """The cards in it, ace first."""
        return range(self.suit * IN_SUIT, self.suit * IN_SUIT + len(self.owners))


class Middle:
    """The shared piles with their whole history of one hand, finished piles too.

    >>> from games.cards import CARD
    >>> middle = Middle()
    >>> middle.place(CARD["Ah"], seat=0, pile=middle.spot(CARD["Ah"], None), seq=1)
    >>> middle.spot(CARD["2h"], None), middle.spot(CARD["3h"], None)
    (1, None)
    >>> middle.place(CARD["2h"], seat=4, pile=1, seq=2)
    >>> middle.taken(CARD["2h"], None, basis=1)
    (1, 4)
    """

    __slots__ = ("_needs", "fits", "next_id", "piles")

    def __init__(self, next_id: int = 1) -> None:
        self.piles: dict[int, Pile] = {}
        """All piles of this hand by id, in the order of their ids."""
        self.next_id = next_id
        self.fits = ACES
        """The set of cards that some pile, or an empty place, would take now."""
        self._needs = [0] * (IN_DECK + 1)

    def spot(self, card: int, named: int | None) -> int | None:
        """The pile that takes this card now: the named one if it does, else the lowest id; None: none.

        An ace always opens a pile, whose id is the next one.
        """
        if not self.fits & BIT[card]:
            return None
        suit, height = divmod(card, IN_SUIT)
        if height == ACE:
            return self.next_id
        if named is not None:
            pile = self.piles.get(named)
            if pile is not None and pile.suit == suit and len(pile.owners) == height:
                return named
        for pile in self.piles.values():
            if pile.suit == suit and len(pile.owners) == height:
                return pile.id
        return None

    def taken(self, card: int, named: int | None, basis: int) -> tuple[int, int] | None:
        """(pile, seat) that took the spot which this card had at `basis` or since; None: it had none.

        Of several the named pile, else the one taken last.  An ace has no spot to lose.
        """
        suit, height = divmod(card, IN_SUIT)
        if height == ACE:
            return None
        found: Pile | None = None
        for pile in self.piles.values():
            if pile.suit != suit or len(pile.seqs) <= height or pile.seqs[height] <= basis:
                continue
            if pile.id == named:
                return pile.id, pile.owners[height]
            if found is None or pile.seqs[height] > found.seqs[height]:
                found = pile
        return None if found is None else (found.id, found.owners[height])

    def place(self, card: int, seat: int, pile: int, seq: int) -> None:
        """Put a seat's card on a pile, opening it if there is none of this id."""
        there = self.piles.get(pile)
        if there is None:
            there = self.piles[pile] = Pile(pile, card // IN_SUIT, [], [])
            self.next_id = max(self.next_id, pile + 1)
        there.owners.append(seat)
        there.seqs.append(seq)
        self._unneed(card)
        if rank(card) != KING:
            self._need(card + 1)

    def open_piles(self) -> list[Pile]:
        """The piles that lie in the middle, by id."""
        return [pile for pile in self.piles.values() if len(pile.owners) < IN_SUIT]

    def restore(self, piles: list[Pile]) -> None:
        """Take in saved piles, lowest id first."""
        for pile in piles:
            self.piles[pile.id] = pile
            if not pile.finished:
                self._need(pile.cards.stop)

    def _need(self, card: int) -> None:
        self._needs[card] += 1
        self.fits |= BIT[card]

    def _unneed(self, card: int) -> None:
        if rank(card) == ACE:
            return
        self._needs[card] -= 1
        if not self._needs[card]:
            self.fits &= ~BIT[card]


class Stock:
    """A stock and the turned pile beside it, as one row of cards of which the first `shown` are turned.

    >>> stock = Stock([1, 21, 38])
    >>> stock.turn(), stock.turn(), stock.top
    (True, True, 21)
    >>> stock.turn(), stock.turn(), stock.shown
    (True, False, 0)
    """

    __slots__ = ("cards", "mask", "shown")

    def __init__(self, cards: list[int], shown: int = 0) -> None:
        self.cards = cards
        """The turned pile from the bottom up, then the stock from its top down."""
        self.mask = mask(cards)
        """All of them as a set: each can be reached by turning one at a time."""
        self.shown = shown

    @property
    def top(self) -> int | None:
        """The top of the turned pile."""
        return self.cards[self.shown - 1] if self.shown else None

    def turn(self) -> bool:
        """Turn one card and say True, or the turned pile over and say False."""
        if self.shown < len(self.cards):
            self.shown += 1
            return True
        self.shown = 0
        return False

    def turn_to(self, card: int) -> int:
        """Turn until this card shows: how many turns and turn-overs that took; ValueError: it isn't here.

        >>> stock = Stock([1, 21, 38])
        >>> stock.turn_to(21), stock.turn_to(21), stock.turn_to(1), stock.shown
        (2, 0, 3, 1)
        """
        shown, there = self.shown, self.cards.index(card) + 1
        self.shown = there
        return there - shown if there >= shown else len(self.cards) - shown + 1 + there

    def take(self) -> int:
        """Remove and return the top of the turned pile."""
        self.shown -= 1
        card = self.cards.pop(self.shown)
        self.mask &= ~BIT[card]
        return card

    def give_back(self, card: int) -> None:
        """The inverse of `take`."""
        self.cards.insert(self.shown, card)
        self.shown += 1
        self.mask |= BIT[card]
