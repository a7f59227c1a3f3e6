"""Chosen decks, and a game whose stuck clock runs faster, for positions that luck seldom brings.

An engine gets both from who builds it; no setting and no move can.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from games.cards import CODE, IN_DECK, RANKS, SUITS
from games.registry import GAMES
from games.snatch_solitaire.events import Dealt, Deck, Event
from games.snatch_solitaire.state import SNATCH_PILE, WORK_PILES, State
from services.engine.dealers import Dealers
from services.engine.dealing import Deals
from services.engine.table import AnyGame, Table
from tests.browser.counting import Counting

HEARTS = " ".join(f"{rank}h" for rank in RANKS)
"""A whole suit, ace first: as a snatch pile it can go to the middle as it lies."""
_SPARE = [rank + suit for rank in reversed(RANKS) for suit in SUITS]


def deck(snatch: str = "", work: str = "", stock: str = "") -> str:
    """A deck that begins so: snatch pile and stock from their tops down, work piles from the left.

    What is not named fills up the rest from the highest rank down: the snatch pile first, then the
    work piles, then the stock, so that aces and twos come late.

    >>> len(deck(snatch="4h 5h", stock="3h")) // 2
    52
    """
    named = [part.split() for part in (snatch, work, stock)]
    spare = [card for card in _SPARE if card not in {c for part in named for c in part}]
    cards: list[str] = []
    for part, count in zip(named, (SNATCH_PILE, WORK_PILES, IN_DECK - SNATCH_PILE - WORK_PILES), strict=True):
        filled = [*part, *spare[: count - len(part)]]
        spare = spare[count - len(part) :]
        cards += filled
    assert sorted(cards) == sorted(CODE), "a card too many, or twice"
    return "".join(cards)


class ChosenDeals(Deals):
    """Deals a room the decks that it was given, seat by seat; any other room a checked deal."""

    def __init__(self) -> None:
        super().__init__(GAMES, 1, lambda seconds, ready: None, _NoWorkers(GAMES, 1))
        self._given: dict[str, Sequence[str]] = {}
        self._chosen: dict[tuple[str, int], bytes] = {}
        self.tables: dict[str, Table] = {}
        """As the engine has them, by room."""

    def give(self, room: str, *decks: str) -> None:
        """For the room's next deal, in the order of the seats."""
        self._given[room] = decks

    def look(self, table: Table, ready: Callable[[int, bytes], None]) -> None:
        s = table.state
        self.tables[s.room] = table
        this = (s.room, s.asked)
        if s.phase == "dealing" and (decks := self._given.pop(s.room, None)) is not None:
            seats = table.playing()
            dealt = Dealt(tuple(Deck(seat, cards) for seat, cards in zip(seats, decks, strict=True)), witness="")
            self._chosen[this] = msgspec.msgpack.encode(dealt)
        if s.phase == "dealing" and this in self._chosen:
            asyncio.get_running_loop().call_soon(ready, s.asked, self._chosen[this])
        else:
            super().look(table, ready)


class _NoWorkers(Dealers):
    """None is started: what few deals it takes are made in a thread."""

    async def start(self) -> None:
        self.ready = True


class Hurried(Counting):
    """The game with its 4 s passing `times` as fast, its cards counted."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times

    def follow(self, state: State, now: int) -> Sequence[Event]:
        return super().follow(state, now * self._times)

    def attend(self, state: State, present: frozenset[int], now: int) -> None:
        super().attend(state, present, now * self._times)

    def wakes_at(self, state: State) -> int | None:
        due = super().wakes_at(state)
        return None if due is None else math.ceil(due / self._times)

    def wake(self, state: State, now: int) -> Sequence[Event]:
        return super().wake(state, now * self._times)


def hurried_games(times: int) -> Mapping[str, AnyGame]:
    """What an engine takes as its games."""
    return with_game(Hurried(times))


def with_game(game: Counting) -> Mapping[str, AnyGame]:
    """The same with this one."""
    return {**GAMES, game.spec.id: game}
