"""What an audience may know: a view from nothing, and its events taken in one by one."""

from __future__ import annotations

from games.cards import CARD, CODE, IN_SUIT, KING, rank
from games.snatch_solitaire.messages import (
    AllStuck,
    Dealt,
    EndOffered,
    HandEnded,
    MiddleCard,
    Mine,
    Pile,
    Placed,
    PublicEvent,
    SeatCount,
    SnatchCount,
    SnatchTurn,
    Stuck,
    Turned,
    TurnedOver,
    Undone,
    View,
    Worked,
    YourDeal,
    YourPlaced,
    YourSnatchTurn,
)
from games.snatch_solitaire.state import SNATCH_PILE, State

SHOWN = 3
"""Cards of a middle pile that a screen shows."""


def view(state: State, seat: int | None) -> View:
    """All that this audience may know; None, or a seat without cards: the table and the TV."""
    own = None if seat is None else state.own.get(seat)
    return View(
        hand=state.hand,
        seats=[
            SeatCount(seat, len(state.own[seat].snatch) if seat in state.own else 0, state.totals[seat])
            for seat in state.seats
        ],
        middle=[
            Pile(pile.id, [MiddleCard(CODE[card], pile.owners[rank(card)]) for card in pile.cards[-SHOWN:]])
            for pile in state.middle.open_piles()
        ],
        turns=state.turns,
        all_stuck=state.all_stuck,
        end_offered=state.end_offered,
        result=state.result,
        mine=None if own is None else own.mine(),
    )


def apply(view: View, event: PublicEvent) -> None:
    """Take a redacted event into a view, in place.  A seat takes the public part first."""
    if isinstance(event, Dealt):
        _dealt(view, event)
    elif isinstance(event, Placed):
        _placed(view, event)
    elif isinstance(event, SnatchCount):
        _count(view, event.seat, event.left)
    elif isinstance(event, AllStuck):
        view.all_stuck = event.stuck
    elif isinstance(event, SnatchTurn):
        view.turns = event.turns
        view.all_stuck = False
    elif isinstance(event, EndOffered):
        view.end_offered = event.offered
    elif isinstance(event, HandEnded):
        _ended(view, event)
    elif isinstance(event, YourDeal):
        view.mine = _copied(event.mine)
    elif view.mine is not None:
        _apply_own(view, view.mine, event)


def _dealt(view: View, event: Dealt) -> None:
    totals = {score.seat: score.total for score in view.result.scores} if view.result is not None else {}
    view.hand += 1
    view.seats = [SeatCount(seat, SNATCH_PILE, totals.get(seat, 0)) for seat in event.seats]
    view.middle = []
    view.turns = 0
    view.all_stuck = False
    view.end_offered = False
    view.result = None
    view.mine = None


def _placed(view: View, event: Placed) -> None:
    _count(view, event.seat, event.left)
    landed = MiddleCard(event.card, event.seat)
    for index, pile in enumerate(view.middle):
        if pile.id == event.pile:
            if event.done:
                del view.middle[index]
            else:
                pile.top = [*pile.top[1 - SHOWN :], landed]
            return
    view.middle.append(Pile(event.pile, [landed]))


def _count(view: View, seat: int, left: int) -> None:
    for line in view.seats:
        if line.seat == seat:
            line.left = left


def _ended(view: View, event: HandEnded) -> None:
    view.result = event.result
    view.all_stuck = False
    view.end_offered = False
    if view.mine is not None:
        view.mine.undo = False
        view.mine.stuck = False


def _apply_own(view: View, mine: Mine, event: PublicEvent) -> None:
    """The own parts of a moment come after its public ones: after the hand's end nothing can be undone."""
    over = view.result is not None
    if isinstance(event, Turned):
        mine.stock -= 1
        mine.turned.append(event.card)
        mine.undo = not over
    elif isinstance(event, TurnedOver):
        mine.stock = len(mine.turned)
        mine.turned = []
        mine.undo = not over
    elif isinstance(event, YourPlaced):
        _leave(mine, event, 1)
        mine.undo = False
    elif isinstance(event, Worked):
        _leave(mine, event, len(event.cards))
        mine.work[event.to] += event.cards
        mine.undo = not over
    elif isinstance(event, Undone):
        view.mine = _copied(event.mine)
        view.mine.stuck = event.mine.stuck and not over
    elif isinstance(event, Stuck):
        mine.stuck = event.stuck and not over
    elif isinstance(event, YourSnatchTurn):
        mine.snatch = event.snatch
        mine.undo = False


def _leave(mine: Mine, event: YourPlaced | Worked, count: int) -> None:
    """Take the top `count` cards off where they came from."""
    if event.src == "snatch":
        mine.snatch = event.snatch
    elif event.src == "turned":
        mine.turned.pop()
    elif event.work is not None:
        del mine.work[event.work][-count:]


def _copied(mine: Mine) -> Mine:
    """A view's own lists: an event that is read twice must not change by it."""
    return Mine(
        snatch=mine.snatch,
        work=[list(pile) for pile in mine.work],
        stock=mine.stock,
        turned=list(mine.turned),
        undo=mine.undo,
        stuck=mine.stuck,
    )


def pile_takes(pile: Pile, card: str) -> bool:
    """Whether the middle pile, as shown, takes this card: next of its suit.

    >>> pile_takes(Pile(1, [MiddleCard("4h", 0)]), "5h"), pile_takes(Pile(1, [MiddleCard("4h", 0)]), "5s")
    (True, False)
    """
    top = CARD[pile.top[-1].card]
    return top % IN_SUIT != KING and CARD[card] == top + 1
