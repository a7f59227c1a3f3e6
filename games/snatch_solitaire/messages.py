"""Moves, events and views of Snatch Solitaire, as they cross the wire and the log.

A card is two characters, rank then suit: `A 2 3 4 5 6 7 8 9 T J Q K` and
`s h d c`; `5h` is the five of hearts.  Work piles are numbered 0 to 3 from the left.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Card = str
Source = Literal["snatch", "turned", "work"]


class _Strict(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    pass


# ---- moves -----------------------------------------------------------------


class ToMiddle(_Strict, tag_field="t", tag="middle"):
    """Send one card into the middle.  `work` is the work pile when `src` is `work`."""

    card: Card
    src: Source
    work: int | None = None
    pile: int | None = None
    """The pile it was dropped on; None: wherever it fits."""


class ToWork(_Strict, tag_field="t", tag="work"):
    """Move a card, or the run that begins with it, onto the own work pile `to`."""

    card: Card
    src: Source
    to: int
    work: int | None = None


class Turn(_Strict, tag_field="t", tag="turn"):
    """Tap the stock: turn one card, or with the stock empty turn the turned pile over."""


class Undo(_Strict, tag_field="t", tag="undo"):
    """Take back the own last own-cards move."""


class EndHand(_Strict, tag_field="t", tag="end_hand"):
    """The host ends a hand that is stuck for good."""


Move = ToMiddle | ToWork | Turn | Undo | EndHand


# ---- options ---------------------------------------------------------------


class Options(_Strict):
    """The host's choice in setup."""

    length: Literal["one", "to25", "to50"] = "one"


# ---- views -----------------------------------------------------------------


class MiddleCard(_Strict):
    card: Card
    seat: int
    """Whose card it was: the colour of its ring."""


class Pile(_Strict):
    """A pile of the middle.  `id` is never reused; `top` holds its last three cards, last on top."""

    id: int
    top: list[MiddleCard]


class SeatCount(_Strict):
    seat: int
    left: int
    """Cards left in the snatch pile."""
    total: int = 0
    """Points of the hands before this one."""


class Score(_Strict):
    seat: int
    left: int
    total: int
    """Points with this hand's."""


class HandResult(_Strict):
    """Fewest cards left first.  `by` emptied their pile; None when the host ended the hand."""

    by: int | None
    scores: list[Score]


class Mine(_Strict):
    """What a seat sees of its own cards: never a card that lies face down."""

    snatch: Card | None
    """The top of the snatch pile; its count is in `seats`."""
    work: list[list[Card]]
    """Four piles, from the head to the exposed top."""
    stock: int
    turned: list[Card]
    """From the bottom up: the last one shows."""
    undo: bool = False
    """There is a move to take back."""
    stuck: bool = False


class View(_Strict):
    """The hand as an audience may see it.  `mine` is None for the table, the TV and watchers."""

    hand: int
    """1 for the first; 0 before it."""
    seats: list[SeatCount]
    middle: list[Pile]
    turns: int = 0
    """Times the snatch piles turned in this hand, 0 to 13."""
    all_stuck: bool = False
    end_offered: bool = False
    """The host may end the hand."""
    result: HandResult | None = None
    mine: Mine | None = None


# ---- events as sent: public ones go to everybody, private ones to their seat ----


class Dealt(_Strict, tag_field="t", tag="dealt"):
    """Public.  A new hand: an empty middle, and 13 cards in the snatch pile of each of `seats`.

    The hand's number is the view's plus one; totals are those of the view's `result`,
    or 0 when it has none (the first hand of a game, which may find no view at all).
    """

    seats: list[int]


class YourDeal(_Strict, tag_field="t", tag="your_deal"):
    """Private.  The own cards as dealt."""

    mine: Mine


class Placed(_Strict, tag_field="t", tag="placed"):
    """Public.  A card of `seat` landed on the middle pile `pile`; `left`: its snatch pile's count now.

    An ace opens the pile.  `done`: it was a king, and the pile leaves.
    """

    seat: int
    card: Card
    pile: int
    src: Source
    left: int
    done: bool = False


class YourPlaced(_Strict, tag_field="t", tag="your_placed"):
    """Private, after Placed.  Where it came from; `snatch` is the new snatch top if that changed."""

    card: Card
    src: Source
    work: int | None = None
    snatch: Card | None = None


class SnatchCount(_Strict, tag_field="t", tag="left"):
    """Public.  A seat's snatch pile count changed by a move among its own cards or an undo."""

    seat: int
    left: int


class Worked(_Strict, tag_field="t", tag="worked"):
    """Private.  `cards` (one, or a run, head first) moved onto the work pile `to`."""

    cards: list[Card]
    src: Source
    to: int
    work: int | None = None
    snatch: Card | None = None


class Turned(_Strict, tag_field="t", tag="turned"):
    """Private.  This card was turned from the stock."""

    card: Card


class TurnedOver(_Strict, tag_field="t", tag="turned_over"):
    """Private.  The turned pile became the stock, in the same order."""


class Undone(_Strict, tag_field="t", tag="undone"):
    """Private.  The own cards as they lie after an undo."""

    mine: Mine


class Stuck(_Strict, tag_field="t", tag="stuck"):
    """Private.  “No moves for now: watch the middle”, or no longer."""

    stuck: bool


class AllStuck(_Strict, tag_field="t", tag="all_stuck"):
    """Public.  “Everyone's stuck”, or no longer."""

    stuck: bool


class SnatchTurn(_Strict, tag_field="t", tag="snatch_turn"):
    """Public.  “Snatch piles turn”, for the `turns`th time in this hand."""

    turns: int


class YourSnatchTurn(_Strict, tag_field="t", tag="your_snatch_turn"):
    """Private, after SnatchTurn.  The snatch top now; undo is gone."""

    snatch: Card | None


class EndOffered(_Strict, tag_field="t", tag="end_offered"):
    """Public.  After 13 turns all are stuck again: the host may end the hand, or no longer."""

    offered: bool


class HandEnded(_Strict, tag_field="t", tag="hand_ended"):
    """Public.  “Snatch!”"""

    result: HandResult


PublicEvent = (
    Dealt
    | YourDeal
    | Placed
    | YourPlaced
    | SnatchCount
    | Worked
    | Turned
    | TurnedOver
    | Undone
    | Stuck
    | AllStuck
    | SnatchTurn
    | YourSnatchTurn
    | EndOffered
    | HandEnded
)
