"""Positions written down as a table would see them, for tests and golden cases.

>>> state = position({0: "8s | Ks Js Jc 6s | 3s 4c", 3: "5h 2d | 9d,8s - - - | Kd / 2c 9h"}, middle=["4h", "4s"])
>>> state.own[3].mine().work, state.own[3].mine().turned, len(state.own[3].snatch)
([['9d', '8s'], [], [], []], ['2c', '9h'], 2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from games.cards import CARD, IN_SUIT, decode
from games.playing import Playing
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.state import Own, State
from games.tableau import Pile, Stock

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
