"""French cards: a two-character code outside, an int 0 to 51 inside.

A card is `suit * 13 + rank`, ace 0 to king 12, suits in the order of `SUITS`, so that
the next card of its suit is the next int, and a set of cards is one int of 52 bits.

>>> CARD["5h"], CODE[17]
(17, '5h')
>>> rank(CARD["Ks"]), SUITS[suit(CARD["Ks"])], is_red(CARD["Ks"])
(12, 's', False)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

RANKS = "A23456789TJQK"
SUITS = "shdc"
IN_SUIT = 13
IN_DECK = 52
ACE = 0
KING = 12

CODE: tuple[str, ...] = tuple(r + s for s in SUITS for r in RANKS)
CARD: dict[str, int] = {code: card for card, code in enumerate(CODE)}

BIT: tuple[int, ...] = tuple(1 << card for card in range(IN_DECK))
ACES: int = sum(BIT[s * IN_SUIT] for s in range(4))


def rank(card: int) -> int:
    """0 for an ace to 12 for a king."""
    return card % IN_SUIT


def suit(card: int) -> int:
    """An index into `SUITS`."""
    return card // IN_SUIT


def is_red(card: int) -> bool:
    """Hearts and diamonds."""
    return card // IN_SUIT in (1, 2)


def mask(cards: Iterable[int]) -> int:
    """The set of these cards as one int.

    >>> bin(mask([0, 3]))
    '0b1001'
    """
    bits = 0
    for card in cards:
        bits |= 1 << card
    return bits


def members(bits: int) -> Iterator[int]:
    """The cards of a set, lowest first.

    >>> list(members(0b1001))
    [0, 3]
    """
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def encode(cards: Iterable[int]) -> str:
    """Cards as one string of codes, in order.

    >>> encode([17, 0])
    '5hAs'
    """
    return "".join(CODE[card] for card in cards)


def decode(codes: str) -> list[int]:
    """The inverse of `encode`; KeyError on what is no card.

    >>> decode("5hAs")
    [17, 0]
    """
    return [CARD[codes[i : i + 2]] for i in range(0, len(codes), 2)]
