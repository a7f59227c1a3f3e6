"""Positions written down as a table would see them, for tests and golden cases.

>>> state = position({0: "8s | Ks Js Jc 6s | 3s 4c", 3: "5h 2d | 9d,8s - - - | Kd / 2c 9h"}, middle=["4h", "4s"])
>>> state.own[3].mine().work, state.own[3].mine().turned, len(state.own[3].snatch)
([['9d', '8s'], [], [], []], ['2c', '9h'], 2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from games.cards import BIT, CARD, CODE, IN_DECK, IN_SUIT, decode
from games.playing import Playing
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.state import Own, State
from games.tableau import CHILDREN, Pile, Stock

NOBODY = 99
"""The seat whose cards the middle of a position is made of, unless told otherwise."""


def own(text: str) -> Own:
    """`snatch, top first | four work piles | stock, top first / turned pile, bottom first`.

    A work pile is its cards from the head joined by commas, or `-` when empty.
    """
    snatch, work, rest = (part.strip() for part in text.split("|"))
    stock, _, turned = rest.partition("/")
    shown = decode("".join(turned.split()))
    return Own(
        decode("".join(snatch.split()))[::-1],
        [[] if pile == "-" else decode(pile.replace(",", "")) for pile in work.split()],
        Stock(shown + decode("".join(stock.split())), len(shown)),
    )


def position(
    seats: Mapping[int, str],
    middle: Sequence[str] = (),
    owners: Mapping[str, int] | None = None,
    seq: int = 90,
    length: str = "one",
) -> State:
    """A live hand with these seats, nobody there yet, and middle piles up to these top cards, ids 1, 2, …

    The middle's cards are all there at `seq` 1; `owners` gives single ones of them to a seat.
    """
    state = State(sorted(seats), length)
    state.own = {seat: own(text) for seat, text in sorted(seats.items())}
    state.hand = 1
    state.live = True
    state.seq = seq
    piles = []
    for index, top in enumerate(middle):
        suit, height = divmod(CARD[top], IN_SUIT)
        piles.append(Pile(index + 1, suit, [NOBODY] * (height + 1), [1] * (height + 1)))
        for code, seat in (owners or {}).items():
            if CARD[code] in piles[-1].cards:
                piles[-1].owners[CARD[code] % IN_SUIT] = seat
    state.middle.restore(piles)
    state.middle.next_id = len(piles) + 1
    return state


def playing(
    seats: Mapping[int, str],
    middle: Sequence[str] = (),
    owners: Mapping[str, int] | None = None,
    length: str = "one",
) -> Playing:
    """The same, being played: all present, and what follows has followed."""
    state = position(seats, middle, owners, length=length)
    table = Playing(GAME, state.seats, state=state)
    table.attend(state.seats)
    return table


def small_position(dice: Random) -> State:
    """One seat, 0, with a few cards of a deck, laid so that a fifth are stuck: runs, few loose cards and piles."""
    cards = list(range(IN_DECK))
    dice.shuffle(cards)
    work: list[list[int]] = []
    for _ in range(4):
        pile = [cards.pop()]
        while dice.random() < 0.5:
            nexts = [card for card in cards if CHILDREN[pile[-1]] & BIT[card]]
            if not nexts:
                break
            pile.append(dice.choice(nexts))
            cards.remove(pile[-1])
        work.append(pile)
    low = [card for card in cards if card % IN_SUIT] if dice.random() < 0.9 else cards
    snatch, loose = low[:1], low[1 : 1 + dice.randint(0, 2)]
    middle = [CODE[dice.choice(cards)] for _ in range(dice.randint(0, 1))]
    text = "|".join(
        (
            " ".join(CODE[card] for card in snatch),
            " ".join(",".join(CODE[card] for card in pile) for pile in work),
            " ".join(CODE[card] for card in loose),
        )
    )
    return position({0: text}, middle)
