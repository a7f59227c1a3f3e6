"""Secrecy: of an event as logged, what everyone may see, and what one seat sees beyond that.

Nothing public ever holds a card of a seat outside the middle, not even a snatch top.
"""

from __future__ import annotations

from games.snatch_solitaire import messages as sent
from games.snatch_solitaire.events import (
    AllStuck,
    Dealt,
    EndOffered,
    Event,
    HandEnded,
    Placed,
    SnatchTurn,
    Turned,
    TurnedOver,
    Undone,
    Worked,
)
from games.snatch_solitaire.state import Own

_TURNED_OVER = sent.TurnedOver()


def redact(event: Event, seat: int | None) -> sent.PublicEvent | None:
    """The public part for None, else what this seat alone sees beyond it; None: nothing."""
    return _public(event) if seat is None else _own(event, seat)


def _public(event: Event) -> sent.PublicEvent | None:
    if isinstance(event, Placed):
        return sent.Placed(
            seat=event.seat,
            card=event.card,
            pile=event.pile,
            src=event.src,
            left=event.left,
            done=event.card[0] == "K",
        )
    if isinstance(event, Worked):
        return sent.SnatchCount(event.seat, event.left) if event.src == "snatch" else None
    if isinstance(event, Undone):
        return None if event.left is None else sent.SnatchCount(event.seat, event.left)
    if isinstance(event, AllStuck):
        return sent.AllStuck(event.stuck)
    if isinstance(event, SnatchTurn):
        return sent.SnatchTurn(event.turns)
    if isinstance(event, EndOffered):
        return sent.EndOffered(event.offered)
    if isinstance(event, HandEnded):
        return sent.HandEnded(event.result)
    if isinstance(event, Dealt):
        return sent.Dealt(sorted(deck.seat for deck in event.decks))
    return None


def _own(event: Event, seat: int) -> sent.PublicEvent | None:
    if isinstance(event, Dealt):
        for deck in event.decks:
            if deck.seat == seat:
                return sent.YourDeal(Own.dealt(deck.cards).mine())
        return None
    if isinstance(event, SnatchTurn):
        for top in event.tops:
            if top.seat == seat:
                return sent.YourSnatchTurn(top.card)
        return None
    if isinstance(event, AllStuck | EndOffered | HandEnded) or event.seat != seat:
        return None
    if isinstance(event, Turned):
        return sent.Turned(event.card)
    if isinstance(event, TurnedOver):
        return _TURNED_OVER
    if isinstance(event, Placed):
        return sent.YourPlaced(card=event.card, src=event.src, work=event.work, snatch=event.snatch)
    if isinstance(event, Worked):
        return sent.Worked(cards=list(event.cards), src=event.src, to=event.to, work=event.work, snatch=event.snatch)
    if isinstance(event, Undone):
        return sent.Undone(event.mine)
    return sent.Stuck(event.stuck)
