"""A game being played with no service round it: for tests, transcripts and golden cases.

It does what a table does with a game, in the same order: decide, evolve, follow until
nothing follows, wake when the clock asks for it.  It keeps what happened and folds a view
for every audience.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from games.contract import Game, Seat

AnyGame = Game[Any, Any, Any, Any, Any, Any]


class Playing:
    """One game, its play time `now`, its `log` of events, and the `views` folded from them."""

    def __init__(self, game: AnyGame, seats: Sequence[Seat], options: Any = None, state: Any = None) -> None:
        self.game = game
        self.seats = tuple(seats)
        self.options = game.spec.options_type() if options is None else options
        self.state = game.open(seats, self.options) if state is None else state
        self.now = 0
        self.log: list[Any] = []
        self.attended: list[tuple[int, frozenset[Seat], int]] = []
        """Changes of presence: after how many events, who, and when."""
        self.views: dict[Seat | None, Any] = {
            audience: game.view(self.state, audience) for audience in (None, *self.seats)
        }
        self.told: dict[Seat | None, list[Any]] = {audience: [] for audience in self.views}
        """The redacted events that each audience was sent, in order."""

    def deal(self, dice: Random) -> list[Any]:
        """A checked deal with everybody present."""
        return self.dealt(self.game.deal(self.seats, self.options, dice))

    def dealt(self, event: Any) -> list[Any]:
        """This deal with everybody present."""
        self.now = 0
        self._take([event])
        return [event, *self.attend(self.seats)]

    def attend(self, present: Iterable[Seat]) -> list[Any]:
        """These seats are present from now on."""
        there = frozenset(present)
        self.attended.append((len(self.log), there, self.now))
        self.game.attend(self.state, there, self.now)
        return self._follow()

    def move(self, seat: Seat, move: Any, basis: int | None = None) -> list[Any]:
        """What this move did and what followed; Refusal if it comes back.  `basis` None: all seen."""
        seen = self.state.seq if basis is None else basis
        events = list(self.game.decide(self.state, seat, move, self.now, seen))
        self._take(events)
        return events + self._follow()

    def wait(self, ms: int) -> list[Any]:
        """Let play time pass, waking the game whenever it asks for it."""
        until = self.now + ms
        events: list[Any] = []
        while (at := self.game.wakes_at(self.state)) is not None and at <= until:
            self.now = max(self.now, at)
            woken = list(self.game.wake(self.state, self.now))
            if not woken:
                raise AssertionError(f"{self.game.spec.id} asked to be woken at {at} and did nothing")
            self._take(woken)
            events += woken + self._follow()
        self.now = until
        return events

    def _follow(self) -> list[Any]:
        events: list[Any] = []
        while following := list(self.game.follow(self.state, self.now)):
            self._take(following)
            events += following
        return events

    def _take(self, events: Sequence[Any]) -> None:
        game = self.game
        for event in events:
            game.evolve(self.state, event)
            self.log.append(event)
            public = game.redact(event, None)
            for audience, view in self.views.items():
                private = None if audience is None else game.redact(event, audience)
                for part in (public, private):
                    if part is not None:
                        game.apply(view, part)
                        self.told[audience].append(part)
