"""Who is stuck, and the 4 s after which the snatch piles turn.

With one-card turns and free turn-overs every card of stock and turned pile can be
reached, so they count as one set X.  A seat is stuck when none of these holds:

- its snatch top, a work top or a card of X fits the middle (aces always do);
- its snatch top or a card of X fits a non-empty work pile;
- a work pile is empty;
- a whole work pile fits onto another;
- a part of a run can move so that the card it uncovers fits the middle now.

The first and last depend on the middle (`Own.reach`), the others don't (`Own.free`).
"""

from __future__ import annotations

from collections.abc import Sequence

from games.cards import CODE
from games.snatch_solitaire.events import AllStuck, EndOffered, Event, SnatchTurn, Stuck, Top
from games.snatch_solitaire.state import MAX_TURNS, STUCK_MS, Own, State


def is_stuck(own: Own, fits: int) -> bool:
    """Whether a seat has no useful move while the middle takes the cards of `fits`."""
    return not own.free and not own.reach & fits


def follow(state: State, now: int) -> Sequence[Event]:
    """Who became stuck or unstuck, then whether all present are, then what that does to the offer."""
    if state.quiet or not state.live:
        return ()
    events: list[Event] = []
    fits = state.middle.fits
    anyone_moves = False
    present = state.present
    for seat, own in state.own.items():
        stuck = not own.free and not own.reach & fits
        if stuck is not own.stuck:
            events.append(Stuck(seat, stuck))
        if not stuck and seat in present:
            anyone_moves = True
    if anyone_moves:
        if state.end_offered:
            events.append(EndOffered(False))
        if state.all_stuck:
            events.append(AllStuck(False, now))
    elif present and not state.all_stuck:
        events.append(AllStuck(True, now))
    state.quiet = not events
    return events


def attend(state: State, present: frozenset[int], now: int) -> None:
    """Take in who is present.  With nobody there the clock stands still with what it had left."""
    present = present & frozenset(state.own)
    if present == state.present:
        return
    if state.all_stuck and not state.end_offered:
        if not present and state.stuck_at is not None:
            state.stuck_left = max(0, state.stuck_left - (now - state.stuck_at))
            state.stuck_at = None
        elif present and state.stuck_at is None:
            state.stuck_at = now
    state.present = present
    state.quiet = False


def wakes_at(state: State) -> int | None:
    """When the clock runs out, if it runs."""
    if not state.live or state.stuck_at is None:
        return None
    return state.stuck_at + state.stuck_left


def wake(state: State, now: int) -> Sequence[Event]:
    """The snatch piles turn, or after 13 turns the host is offered the end of the hand."""
    due = wakes_at(state)
    if due is None or now < due:
        return ()
    if state.turns >= MAX_TURNS:
        return (EndOffered(True),)
    tops = tuple(Top(seat, _next_top(own)) for seat, own in state.own.items())
    return (SnatchTurn(state.turns + 1, tops),)


def _next_top(own: Own) -> str | None:
    if not own.snatch:
        return None
    return CODE[own.snatch[-2] if len(own.snatch) > 1 else own.snatch[-1]]


__all__ = ["STUCK_MS", "attend", "follow", "is_stuck", "wake", "wakes_at"]
