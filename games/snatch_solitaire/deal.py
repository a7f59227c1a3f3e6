"""Checked deals: one goes out only with a line of legal moves that empties every snatch pile.

The line is by all seats together in any order, with free stock turns and no snatch turn,
going on past the first empty pile.  A randomised play-out finds it (`playout`), the rules
themselves confirm it (`check`), and the Dealt event keeps it; it is never sent.

Everything here takes its dice as an argument and can run in a process pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from games.cards import BIT, CARD, CODE, IN_DECK, decode, encode
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


class Unplayable(Exception):
    """A line that does not prove its deal: an illegal move, or cards left in a snatch pile."""


def deal(seats: Sequence[int], dice: Random) -> Dealt:
    """A checked random deal for these seats, or one of the stored pool when luck is out."""
    for _ in range(SHUFFLES):
        decks = shuffled(len(seats), dice)
        for _ in range(PLAY_OUTS):
            play_out = PlayOut(decks, dice)
            if play_out.run():
                return checked(seats, decks, play_out.line)
    return pool_deal(seats, dice)


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
        witness=" ".join(f"{seats[step.seat]}{step.src}{CODE[step.card]}{step.to}" for step in line),
    )
    check(dealt)
    return dealt


def check(dealt: Dealt) -> None:
    """Replay the witness through `decide` with the hand's end switched off, or raise Unplayable."""
    state = State([deck.seat for deck in dealt.decks], "one")
    evolve(state, dealt)
    for seat, move in witness_moves(dealt):
        try:
            events = rules.decide(state, seat, move, state.seq, ends=False)
        except Refusal as refusal:
            raise Unplayable(f"seat {seat}: {move} is refused: {refusal.code}") from refusal
        for event in events:
            evolve(state, event)
    if any(own.snatch for own in state.own.values()):
        raise Unplayable("the line ends before every snatch pile is empty")


def witness_moves(dealt: Dealt) -> Iterator[tuple[int, Move]]:
    """The witness as moves, (seat, move) in order, with the turns that bring each card up.

    A step in the event is seat, source, card, target: `3t5hm` is seat 3 playing 5♥ from its
    turned pile to the middle, `3s9d2` its snatch top 9♦ onto its work pile 2.
    """
    stocks = {deck.seat: Stock(decode(deck.cards)[SNATCH_PILE + WORK_PILES :]) for deck in dealt.decks}
    for step in dealt.witness.split():
        seat, src, code, to = int(step[:-4]), step[-4], step[-3:-1], step[-1]
        work = None
        source: Source = "work"
        if src == SNATCH:
            source = "snatch"
        elif src == TURNED:
            source = "turned"
            stock = stocks[seat]
            if not stock.mask & BIT[CARD[code]]:
                raise Unplayable(f"step {step}: no such card in stock and turned pile")
            while stock.top != CARD[code]:
                stock.turn()
                yield seat, Turn()
            stock.take()
        else:
            work = int(src)
        if to == MIDDLE:
            yield seat, ToMiddle(card=code, src=source, work=work)
        else:
            yield seat, ToWork(card=code, src=source, to=int(to), work=work)
