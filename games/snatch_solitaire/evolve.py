"""Taking events into the state: in place, total, deterministic."""

from __future__ import annotations

from games.cards import CARD
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
from games.snatch_solitaire.state import (
    A_TURN,
    A_TURN_OVER,
    FROM_SNATCH,
    FROM_TURNED,
    STUCK_MS,
    Own,
    State,
    Taken,
)
from games.tableau import Middle


def evolve(state: State, event: Event) -> None:
    """Take one event in."""
    state.seq += 1
    if isinstance(event, (Turned, TurnedOver)):
        _turned(state.own[event.seat])
        return  # What can be reached by turning is the same: nothing follows from it.
    state.quiet = False
    if isinstance(event, Placed):
        _placed(state, event)
    elif isinstance(event, Worked):
        _worked(state.own[event.seat], event)
    elif isinstance(event, Undone):
        _undone(state.own[event.seat])
    elif isinstance(event, Stuck):
        state.own[event.seat].stuck = event.stuck
    elif isinstance(event, AllStuck):
        state.all_stuck = event.stuck
        _reset_clock(state, event.at if event.stuck else None)
    elif isinstance(event, SnatchTurn):
        _snatch_turn(state, event)
    elif isinstance(event, EndOffered):
        state.end_offered = event.offered
        state.stuck_at = None
    elif isinstance(event, HandEnded):
        _ended(state, event)
    elif isinstance(event, Dealt):
        _dealt(state, event)


def _turned(own: Own) -> None:
    own.undo = Taken(A_TURN if own.stock.turn() else A_TURN_OVER)


def _placed(state: State, event: Placed) -> None:
    own = state.own[event.seat]
    if event.src == "snatch":
        own.snatch.pop()
    elif event.src == "turned":
        own.stock.take()
    elif event.work is not None:
        own.work[event.work].pop()
    own.undo = None
    own.survey()
    state.middle.place(CARD[event.card], event.seat, event.pile, state.seq)


def _worked(own: Own, event: Worked) -> None:
    count = len(event.cards)
    if event.src == "snatch":
        own.snatch.pop()
        own.undo = Taken(FROM_SNATCH, event.to, 1)
    elif event.src == "turned":
        own.stock.take()
        own.undo = Taken(FROM_TURNED, event.to, 1)
    elif event.work is not None:
        del own.work[event.work][-count:]
        own.undo = Taken(event.work, event.to, count)
    own.work[event.to] += [CARD[code] for code in event.cards]
    own.survey()


def _undone(own: Own) -> None:
    if own.undo is None:
        return
    src, to, count = own.undo
    own.undo = None
    stock = own.stock
    if src == A_TURN:
        stock.shown -= 1
        return
    if src == A_TURN_OVER:
        stock.shown = len(stock.cards)
        return
    run = own.work[to][-count:]
    del own.work[to][-count:]
    if src == FROM_SNATCH:
        own.snatch += run
    elif src == FROM_TURNED:
        stock.give_back(run[0])
    else:
        own.work[src] += run
    own.survey()


def _snatch_turn(state: State, event: SnatchTurn) -> None:
    state.turns = event.turns
    state.all_stuck = False
    _reset_clock(state, None)
    for own in state.own.values():
        if own.snatch:
            own.snatch.insert(0, own.snatch.pop())
        own.undo = None
        own.survey()


def _ended(state: State, event: HandEnded) -> None:
    state.live = False
    state.result = event.result
    state.all_stuck = False
    state.end_offered = False
    _reset_clock(state, None)
    for own in state.own.values():
        own.undo = None
        own.stuck = False


def _dealt(state: State, event: Dealt) -> None:
    if state.result is not None:
        state.totals = {score.seat: score.total for score in sorted(state.result.scores, key=lambda s: s.seat)}
    state.result = None
    state.hand += 1
    state.live = True
    state.own = {deck.seat: Own.dealt(deck.cards) for deck in sorted(event.decks, key=lambda d: d.seat)}
    state.middle = Middle(state.middle.next_id)
    state.turns = 0
    state.present = frozenset()
    state.all_stuck = False
    state.end_offered = False
    _reset_clock(state, None)


def _reset_clock(state: State, at: int | None) -> None:
    state.stuck_at = at
    state.stuck_left = STUCK_MS
