"""Checked deals: one goes out only with a line of legal moves that empties every snatch pile.

The line is by all seats together in any order, with free stock turns and no snatch turn,
going on past the first empty pile.  A randomised play-out finds it (`playout`), the rules
themselves confirm it (`check`), and the Dealt event keeps it; it is never sent.

Everything here takes its dice as an argument and can run in a process pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from games.cards import CARD, CODE, IN_DECK, decode, encode
from games.contract import Refusal
from games.snatch_solitaire import rules
from games.snatch_solitaire.events import Dealt, Deck
from games.snatch_solitaire.evolve import evolve
from games.snatch_solitaire.messages import Move, Source, ToMiddle, ToWork, Turn
from games.snatch_solitaire.playout import MIDDLE, SNATCH, TURNED, PlayOut, Step
from games.snatch_solitaire.pool import PAIRS
from games.snatch_solitaire.state import SNATCH_PILE, WORK_PILES, State
from games.tableau import Stock

SHUFFLES = 40
"""Random deals that are tried before the stored pool is asked."""
PLAY_OUTS = 6
"""Play-outs of one random deal before it is shuffled again: a second look pays, a tenth hardly."""


_SOURCES: dict[str, Source] = {SNATCH: "snatch", TURNED: "turned"}


class Unplayable(Exception):
    """A line that does not prove its deal: an illegal move, or cards left in a snatch pile."""


class Found(NamedTuple):
    """Decks by seat index with a line that empties every snatch pile, and what the search took."""

    decks: list[list[int]]
    line: list[Step]
    shuffles: int
    play_outs: int


def deal(seats: Sequence[int], dice: Random) -> Dealt:
    """A checked random deal for these seats, or one of the stored pool when luck is out."""
    return finished(seats, search(len(seats), dice), dice)


def finished(seats: Sequence[int], found: Found | None, dice: Random) -> Dealt:
    """What a search found, checked; one of the stored pool if it found nothing."""
    return pool_deal(seats, dice) if found is None else checked(seats, found.decks, found.line)


def search(count: int, dice: Random) -> Found | None:
    """The first of some random deals of so many decks that a play-out empties; None: none of them."""
    play_outs = 0
    for shuffles in range(1, SHUFFLES + 1):
        decks = shuffled(count, dice)
        for _ in range(PLAY_OUTS):
            play_out = PlayOut(decks, dice)
            play_outs += 1
            if play_out.run():
                return Found(decks, play_out.line, shuffles, play_outs)
    return None


def pool_deal(seats: Sequence[int], dice: Random) -> Dealt:
    """One of the stored checked deals, made again from its seeds and checked again."""
    pairs = list(PAIRS[len(seats)])
    dice.shuffle(pairs)
    for pair in pairs:
        try:
            return from_seeds(seats, *pair)
        except Unplayable:
            # A Python whose dice fall otherwise: another pair may do, an unchecked deal never.
            continue
    raise Unplayable("no stored deal can be played out")


def from_seeds(seats: Sequence[int], seed: int, play_out_seed: int) -> Dealt:
    """The checked deal that these two seeds make; Unplayable if the one play-out does not succeed."""
    decks = shuffled(len(seats), Random(seed))
    play_out = PlayOut(decks, Random(play_out_seed))
    if not play_out.run():
        raise Unplayable("the play-out of these seeds is stuck")
    return checked(seats, decks, play_out.line)


def shuffled(count: int, dice: Random) -> list[list[int]]:
    """This many decks of 52, each shuffled by itself."""
    decks: list[list[int]] = []
    for _ in range(count):
        deck = list(range(IN_DECK))
        dice.shuffle(deck)
        decks.append(deck)
    return decks


def checked(seats: Sequence[int], decks: Sequence[Sequence[int]], line: Sequence[Step]) -> Dealt:
    """The Dealt event of these decks, once the rules have confirmed its line."""
    dealt = Dealt(
        decks=tuple(Deck(seat, encode(deck)) for seat, deck in zip(seats, decks, strict=True)),
        witness=" ".join([f"{seats[index]}{src}{CODE[card]}{to}" for index, src, card, to in line]),
    )
    check(dealt)
    return dealt


def check(dealt: Dealt) -> State:
    """The state that the witness leaves, replayed through `decide` with the hand's end switched off.

    Raises Unplayable for a line that breaks a rule or leaves a card in a snatch pile.
    Turning a stock is always allowed, so each stock is turned at once to the card that the line
    wants of it; all else is decided move by move.  `witness_moves` has the turns one by one.
    """
    state = State([deck.seat for deck in dealt.decks], "one")
    evolve(state, dealt)
    for step in dealt.witness.split():
        seat, card, move = _parsed(step)
        if move.src == "turned" and seat in state.own:
            state.seq += _turned_to(state.own[seat].stock, card, step)
        try:
            events = rules.decide(state, seat, move, state.seq, ends=False)
        except Refusal as refusal:
            raise Unplayable(f"seat {seat}: {move} is refused: {refusal.code}") from refusal
        for event in events:
            evolve(state, event)
    if any(own.snatch for own in state.own.values()):
        raise Unplayable("the line ends before every snatch pile is empty")
    return state


def witness_moves(dealt: Dealt) -> Iterator[tuple[int, Move]]:
    """The witness as moves, (seat, move) in order, with the turns that bring each card up.

    A step in the event is seat, source, card, target: `3t5hm` is seat 3 playing 5♥ from its
    turned pile to the middle, `3s9d2` its snatch top 9♦ onto its work pile 2.
    """
    stocks = {deck.seat: Stock(decode(deck.cards)[SNATCH_PILE + WORK_PILES :]) for deck in dealt.decks}
    for step in dealt.witness.split():
        seat, card, move = _parsed(step)
        if move.src == "turned":
            for _ in range(_turned_to(stocks[seat], card, step)):
                yield seat, Turn()
            stocks[seat].take()
        yield seat, move


def _parsed(step: str) -> tuple[int, int, ToMiddle | ToWork]:
    """The seat, the card, and the move that puts it there."""
    seat, src, code, to = int(step[:-4]), step[-4], step[-3:-1], step[-1]
    source = _SOURCES.get(src, "work")
    work = int(src) if source == "work" else None
    if to == MIDDLE:
        return seat, CARD[code], ToMiddle(card=code, src=source, work=work)
    return seat, CARD[code], ToWork(card=code, src=source, to=int(to), work=work)


def _turned_to(stock: Stock, card: int, step: str) -> int:
    try:
        return stock.turn_to(card)
    except ValueError:
        raise Unplayable(f"step {step}: no such card in stock and turned pile") from None
