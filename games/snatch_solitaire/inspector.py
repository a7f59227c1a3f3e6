"""What the conformance suite must know of this game's cards: whose there are, who may know which."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from games.cards import CODE, IN_DECK
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.state import State


def cards_of(state: State) -> dict[int, list[str]]:
    """Every card there is, by the seat that owns it."""
    cards: dict[int, list[str]] = {seat: [] for seat in state.own}
    for seat, own in state.own.items():
        everywhere = [*own.snatch, *own.stock.cards, *(card for pile in own.work for card in pile)]
        cards[seat] += [CODE[card] for card in everywhere]
    for seat, card in _in_the_middle(state):
        cards[seat].append(CODE[card])
    return cards


def deck() -> list[str]:
    """The cards that each seat plays with."""
    return [CODE[card] for card in range(IN_DECK)]


def known_to(state: State, audience: int | None) -> set[str]:
    """The cards whose faces this audience may see: the middle, and a seat its own that lie face up."""
    known = {CODE[card] for _, card in _in_the_middle(state)}
    own = None if audience is None else state.own.get(audience)
    if own is not None:
        stock = own.stock
        face_up = [*own.snatch[-1:], *stock.cards[: stock.shown], *(card for pile in own.work for card in pile)]
        known |= {CODE[card] for card in face_up}
    return known


def another_world(state: State, audience: int | None, dice: Random) -> State:
    """A state that this audience can't tell from this one: what it may not know lies otherwise."""
    other = GAME.load(GAME.dump(state))
    for seat, own in other.own.items():
        shown = 0
        stock = own.stock
        if seat == audience:
            hidden = own.snatch[:-1] + stock.cards[stock.shown :]
            shown = stock.shown
            top = own.snatch[-1:]
        else:
            hidden = own.snatch + stock.cards + [card for pile in own.work for card in pile]
            top = []
        dice.shuffle(hidden)
        if seat != audience:
            own.work = [[hidden.pop() for _ in pile] for pile in own.work]
        own.snatch = [hidden.pop() for _ in range(len(own.snatch) - len(top))] + top
        stock.cards = stock.cards[:shown] + hidden
        stock.shown = shown if seat == audience else dice.randint(0, len(stock.cards))
    return other


def _in_the_middle(state: State) -> Iterator[tuple[int, int]]:
    for pile in state.middle.piles.values():
        yield from zip(pile.owners, pile.cards, strict=True)
