"""Secrecy: of an event as logged, what everyone may see, and what one seat sees beyond that.

Nothing public ever holds a card of a seat outside the middle, not even a snatch top.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from games.snatch_solitaire import messages as sent
from games.snatch_solitaire.events import (
    AllStuck,
    Dealt,
    EndOffered,
    Event,
    HandEnded,
    Placed,
    SnatchTurn,
    Stuck,
    Turned,
    TurnedOver,
    Undone,
    Worked,
)
from games.snatch_solitaire.state import Own

_TURNED_OVER = sent.TurnedOver()


def redact(event: Event, seat: int | None) -> sent.PublicEvent | None:
    """The public part for None, else what this seat alone sees beyond it; None: nothing."""
    if seat is None:
        public = _PUBLIC.get(type(event))
        return None if public is None else public(event)
    own = _OWN.get(type(event))
    return None if own is None else own(event, seat)


def private_to(event: Event) -> Sequence[int]:
    """The seats that see something beyond the public part."""
    return _PRIVATE_TO[type(event)](event)


def _its_seat(event: Turned | TurnedOver | Placed | Worked | Undone | Stuck) -> Sequence[int]:
    return (event.seat,)


def _nobody(event: AllStuck | EndOffered | HandEnded) -> Sequence[int]:
    return ()


_PRIVATE_TO: dict[type, Callable[[Any], Sequence[int]]] = {
    **dict.fromkeys((Turned, TurnedOver, Placed, Worked, Undone, Stuck), _its_seat),
    **dict.fromkeys((AllStuck, EndOffered, HandEnded), _nobody),
    Dealt: lambda event: [deck.seat for deck in event.decks],
    SnatchTurn: lambda event: [top.seat for top in event.tops],
}


def _placed(event: Placed) -> sent.Placed:
    card = event.card
    return sent.Placed(event.seat, card, event.pile, event.src, event.left, card[0] == "K")


def _count(event: Worked | Undone) -> sent.SnatchCount | None:
    if type(event) is Worked and event.src != "snatch":
        return None
    return None if event.left is None else sent.SnatchCount(event.seat, event.left)


_PUBLIC: dict[type, Callable[[Any], sent.PublicEvent | None]] = {
    Placed: _placed,
    Worked: _count,
    Undone: _count,
    AllStuck: lambda event: sent.AllStuck(event.stuck),
    SnatchTurn: lambda event: sent.SnatchTurn(event.turns),
    EndOffered: lambda event: sent.EndOffered(event.offered),
    HandEnded: lambda event: sent.HandEnded(event.result),
    Dealt: lambda event: sent.Dealt(sorted(deck.seat for deck in event.decks)),
}


def _own_deal(event: Dealt, seat: int) -> sent.YourDeal | None:
    deck = next((deck for deck in event.decks if deck.seat == seat), None)
    return None if deck is None else sent.YourDeal(Own.dealt(deck.cards).mine())


def _own_snatch_turn(event: SnatchTurn, seat: int) -> sent.YourSnatchTurn | None:
    top = next((top for top in event.tops if top.seat == seat), None)
    return None if top is None else sent.YourSnatchTurn(top.card)


def _own_turned(event: Turned, seat: int) -> sent.Turned | None:
    return sent.Turned(event.card) if event.seat == seat else None


def _own_turned_over(event: TurnedOver, seat: int) -> sent.TurnedOver | None:
    return _TURNED_OVER if event.seat == seat else None


def _own_placed(event: Placed, seat: int) -> sent.YourPlaced | None:
    return sent.YourPlaced(event.card, event.src, event.work, event.snatch) if event.seat == seat else None


def _own_worked(event: Worked, seat: int) -> sent.Worked | None:
    if event.seat != seat:
        return None
    return sent.Worked(list(event.cards), event.src, event.to, event.work, event.snatch)


def _own_undone(event: Undone, seat: int) -> sent.Undone | None:
    return sent.Undone(event.mine) if event.seat == seat else None


def _own_stuck(event: Stuck, seat: int) -> sent.Stuck | None:
    return sent.Stuck(event.stuck) if event.seat == seat else None


_OWN: dict[type, Callable[[Any, int], sent.PublicEvent | None]] = {
    Dealt: _own_deal,
    SnatchTurn: _own_snatch_turn,
    Turned: _own_turned,
    TurnedOver: _own_turned_over,
    Placed: _own_placed,
    Worked: _own_worked,
    Undone: _own_undone,
    Stuck: _own_stuck,
}
