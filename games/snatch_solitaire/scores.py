"""A hand costs one point per card left in the snatch pile; the lowest total wins."""

from __future__ import annotations

from collections.abc import Mapping

from games.contract import Outcome, Place
from games.snatch_solitaire.messages import HandResult, Score
from games.snatch_solitaire.state import TARGETS, State


def result_of(state: State, by: int | None) -> HandResult:
    """The hand as it ends now: `by` has just emptied its snatch pile; None: the host ended it.

    Fewest cards left first, equal ones by seat.
    """
    left = {seat: 0 if seat == by else len(own.snatch) for seat, own in state.own.items()}
    scores = [Score(seat, cards, state.totals[seat] + cards) for seat, cards in left.items()]
    scores.sort(key=lambda score: (score.left, score.seat))
    return HandResult(by, scores)


def game_over(state: State) -> bool:
    """Whether the hand that has ended was the last: one hand, or any total at the target."""
    if state.result is None:
        return False
    return any(score.total >= TARGETS[state.length] for score in state.result.scores)


def outcome(state: State) -> Outcome | None:
    """The standings once the game is over.  The winner need not have emptied a pile."""
    if state.result is None or not game_over(state):
        return None
    return standings({score.seat: score.total for score in state.result.scores})


def standings(totals: Mapping[int, int]) -> Outcome:
    """Lowest first; equal totals share the place, several lowest share the win.

    >>> [(p.seat, p.place) for p in standings({0: 9, 1: 4, 2: 4, 3: 12}).places]
    [(1, 1), (2, 1), (0, 3), (3, 4)]
    """
    ordered = sorted(totals.items(), key=lambda item: (item[1], item[0]))
    places: list[Place] = []
    for index, (seat, total) in enumerate(ordered):
        shared = bool(places) and places[-1].total == total
        places.append(Place(seat=seat, total=total, place=places[-1].place if shared else index + 1))
    return Outcome(places=places, winners=[line.seat for line in places if line.place == 1])
