"""The game with an eye on its cards: after every event, does each player have 52, each card once?"""

from __future__ import annotations

from games.snatch_solitaire.events import Event
from games.snatch_solitaire.game import SnatchSolitaire
from games.snatch_solitaire.inspector import cards_of, deck
from games.snatch_solitaire.state import State

_WHOLE = sorted(deck())


class Counting(SnatchSolitaire):
    """`looks`: how often it looked; `wrong`: what it found, in words."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.wrong: list[str] = []

    def evolve(self, state: State, event: Event) -> None:
        super().evolve(state, event)
        self.looks += 1
        for seat, cards in cards_of(state).items():
            if sorted(cards) != _WHOLE:
                self.wrong.append(f"seat {seat} has {len(cards)} cards after {event}")
