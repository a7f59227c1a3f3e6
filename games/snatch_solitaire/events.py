"""What happened, as it is logged: each event holds all that its redaction needs.

These hold every card, face-down ones too, and never leave the server as they are:
`view.redact` makes of them what an audience may see.  Seats and cards as in `messages`.
"""

from __future__ import annotations

import msgspec

from games.snatch_solitaire.messages import Card, HandResult, Mine, Source


class _Event(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Deck(_Event):
    """A seat's shuffled deck as one string of codes.

    13 cards of the snatch pile from its top down, the four work cards from the left,
    35 of the stock from its top down.
    """

    seat: int
    cards: str


class Dealt(_Event, tag_field="t", tag="dealt"):
    """A new hand with the proof that it can be played out (`deal.witness_moves` reads it)."""

    decks: tuple[Deck, ...]
    witness: str


class Placed(_Event, tag_field="t", tag="placed"):
    """A card landed on a pile of the middle; `left` and `snatch`: its owner's snatch pile now."""

    seat: int
    card: Card
    pile: int
    src: Source
    left: int
    work: int | None = None
    snatch: Card | None = None


class Worked(_Event, tag_field="t", tag="worked"):
    """A card or a run, head first, moved onto the work pile `to`."""

    seat: int
    cards: tuple[Card, ...]
    src: Source
    to: int
    left: int
    work: int | None = None
    snatch: Card | None = None


class Turned(_Event, tag_field="t", tag="turned"):
    """A seat turned this card."""

    seat: int
    card: Card


class TurnedOver(_Event, tag_field="t", tag="turned_over"):
    """A seat's turned pile became its stock."""

    seat: int


class Undone(_Event, tag_field="t", tag="undone"):
    """A seat took a move back; `mine` is what it sees after it, `left` its snatch count if that grew."""

    seat: int
    mine: Mine
    left: int | None = None


class Stuck(_Event, tag_field="t", tag="stuck"):
    """A seat has no useful move, or has one again."""

    seat: int
    stuck: bool


class AllStuck(_Event, tag_field="t", tag="all_stuck"):
    """Every present seat is stuck, or no longer.  `at`, ms of play time, starts the 4 s clock."""

    stuck: bool
    at: int


class Top(_Event):
    """A seat's snatch top after a turn of the snatch piles; None for an empty pile."""

    seat: int
    card: Card | None


class SnatchTurn(_Event, tag_field="t", tag="snatch_turn"):
    """The snatch piles turned for the `turns`th time in this hand."""

    turns: int
    tops: tuple[Top, ...]


class EndOffered(_Event, tag_field="t", tag="end_offered"):
    """The host may end the hand, or no longer."""

    offered: bool


class HandEnded(_Event, tag_field="t", tag="hand_ended"):
    """Somebody's snatch pile is empty, or the host ended the hand."""

    result: HandResult


Event = Dealt | Placed | Worked | Turned | TurnedOver | Undone | Stuck | AllStuck | SnatchTurn | EndOffered | HandEnded
