"""What a move does: `decide` says it as events or refuses, and never changes the state.

- To the middle goes one card at a time: the snatch top, the top turned card, a work top.
- Onto an own work pile go the snatch top, the top turned card, or a run of another work pile.
- The stock is turned one card at a time, and turned over when it is empty.
- Undo takes back the last own-cards move, one deep.
- The first empty snatch pile ends the hand at once.
- Only when the end was offered may the hand be ended by hand (the table asks the host alone).

Refusals: `bad_move` (no such card, pile or source), `not_live` (no hand is being played),
`not_allowed`, `stale` (the source no longer shows this card), `snatched`, `no_pile`, `no_fit`,
`nothing_to_turn`, `nothing_to_undo`.
"""

from __future__ import annotations

from collections.abc import Sequence

from games.cards import CARD, CODE
from games.contract import Refusal
from games.snatch_solitaire.events import Event, HandEnded, Placed, Turned, TurnedOver, Undone, Worked
from games.snatch_solitaire.messages import EndHand, Mine, Move, Source, ToMiddle, ToWork, Turn, Undo
from games.snatch_solitaire.scores import result_of
from games.snatch_solitaire.state import A_TURN, A_TURN_OVER, FROM_SNATCH, FROM_TURNED, WORK_PILES, Own, State
from games.tableau import fits_on


def decide(state: State, seat: int, move: Move, basis: int, ends: bool) -> Sequence[Event]:
    """The events of this move, or Refusal.  `ends` False plays on past an empty snatch pile."""
    if not state.live:
        raise Refusal("not_live")
    own = state.own.get(seat)
    if own is None:
        raise Refusal("not_allowed")
    if type(move) is ToMiddle:
        return _to_middle(state, seat, own, move, basis, ends)
    if type(move) is ToWork:
        return _to_work(state, seat, own, move, ends)
    if type(move) is Turn:
        return _turn(seat, own)
    if type(move) is Undo:
        return _undo(seat, own)
    if type(move) is EndHand:
        if not state.end_offered:
            raise Refusal("not_allowed")
        return (HandEnded(result_of(state, None)),)
    raise Refusal("bad_move")


def _to_middle(state: State, seat: int, own: Own, move: ToMiddle, basis: int, ends: bool) -> Sequence[Event]:
    card, work = _named(move)
    if _shown(own, move.src, work) != card:
        raise Refusal("stale")
    pile = state.middle.spot(card, move.pile)
    if pile is None:
        taken = state.middle.taken(card, move.pile, basis)
        if taken is None:
            raise Refusal("no_pile")
        raise Refusal("snatched", pile=taken[0], by=taken[1])
    left, snatch = _snatch_after(own, move.src)
    placed = Placed(seat=seat, card=move.card, pile=pile, src=move.src, left=left, work=move.work, snatch=snatch)
    if not left and ends:
        return (placed, HandEnded(result_of(state, seat)))
    return (placed,)


def _to_work(state: State, seat: int, own: Own, move: ToWork, ends: bool) -> Sequence[Event]:
    card, work = _named(move)
    to = move.to
    if not 0 <= to < WORK_PILES or to == work:
        raise Refusal("bad_move")
    if move.src == "work":
        pile = own.work[work]
        if card not in pile:
            raise Refusal("stale")
        run = pile[pile.index(card) :]
    else:
        if _shown(own, move.src, work) != card:
            raise Refusal("stale")
        run = [card]
    target = own.work[to]
    if not fits_on(card, target[-1] if target else None):
        raise Refusal("no_fit")
    left, snatch = _snatch_after(own, move.src)
    worked = Worked(
        seat=seat,
        cards=tuple([CODE[c] for c in run]),
        src=move.src,
        to=to,
        left=left,
        work=move.work,
        snatch=snatch,
    )
    if not left and ends:
        return (worked, HandEnded(result_of(state, seat)))
    return (worked,)


def _turn(seat: int, own: Own) -> Sequence[Event]:
    stock = own.stock
    if not stock.cards:
        raise Refusal("nothing_to_turn")
    if stock.shown == len(stock.cards):
        return (TurnedOver(seat),)
    return (Turned(seat, CODE[stock.cards[stock.shown]]),)


def _undo(seat: int, own: Own) -> Sequence[Event]:
    if own.undo is None:
        raise Refusal("nothing_to_undo")
    return (Undone(seat, *_taken_back(own)),)


def _taken_back(own: Own) -> tuple[Mine, int | None]:
    """What the seat will see once its last move is undone, and its snatch count if that grows."""
    assert own.undo is not None
    src, to, count = own.undo
    mine = own.mine()
    mine.undo = False
    if src == A_TURN:
        mine.turned.pop()
        mine.stock += 1
        return mine, None
    if src == A_TURN_OVER:
        mine.turned = [CODE[card] for card in own.stock.cards]
        mine.stock = 0
        return mine, None
    run = mine.work[to][-count:]
    del mine.work[to][-count:]
    if src == FROM_SNATCH:
        mine.snatch = run[0]
        return mine, len(own.snatch) + 1
    if src == FROM_TURNED:
        mine.turned += run
    else:
        mine.work[src] += run
    return mine, None


def _named(move: ToMiddle | ToWork) -> tuple[int, int]:
    """The card and the work pile (-1: none) that a move names."""
    card = CARD.get(move.card)
    work = move.work
    if card is None:
        raise Refusal("bad_move")
    if move.src == "work":
        if work is None or not 0 <= work < WORK_PILES:
            raise Refusal("bad_move")
        return card, work
    if work is not None:
        raise Refusal("bad_move")
    return card, -1


def _shown(own: Own, src: str, work: int) -> int | None:
    """The one card that this source shows for the taking."""
    if src == "snatch":
        return own.snatch[-1] if own.snatch else None
    if src == "turned":
        return own.stock.top
    pile = own.work[work]
    return pile[-1] if pile else None


def _snatch_after(own: Own, src: str) -> tuple[int, str | None]:
    """Count and top of the snatch pile after a card left `src`; the top only if it changes."""
    snatch = own.snatch
    if src != "snatch":
        return len(snatch), None
    return len(snatch) - 1, CODE[snatch[-2]] if len(snatch) > 1 else None


def legal_moves(state: State, seat: int) -> list[Move]:
    """Every move that `decide` accepts from this seat now.

    A card for the middle is listed once, without a pile: naming one, fitting or not,
    only chooses among those that fit.
    """
    own = state.own.get(seat)
    if own is None or not state.live:
        return []
    moves: list[Move] = []
    fits = state.middle.fits
    for src, work, card in _sources(own):
        if fits >> card & 1:
            moves.append(ToMiddle(CODE[card], src, work))
        for to, target in enumerate(own.work):
            if to != work and fits_on(card, target[-1] if target else None):
                moves.append(ToWork(CODE[card], src, to, work))
    for work, pile in enumerate(own.work):
        for card in pile[:-1]:
            for to, target in enumerate(own.work):
                if to != work and fits_on(card, target[-1] if target else None):
                    moves.append(ToWork(CODE[card], "work", to, work))
    if own.stock.cards:
        moves.append(Turn())
    if own.undo is not None:
        moves.append(Undo())
    if state.end_offered:
        moves.append(EndHand())
    return moves


def _sources(own: Own) -> list[tuple[Source, int | None, int]]:
    """The cards that may go to the middle: where from, which work pile, which card."""
    sources: list[tuple[Source, int | None, int]] = []
    if own.snatch:
        sources.append(("snatch", None, own.snatch[-1]))
    if own.stock.top is not None:
        sources.append(("turned", None, own.stock.top))
    sources += [("work", work, pile[-1]) for work, pile in enumerate(own.work) if pile]
    return sources
