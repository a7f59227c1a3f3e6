"""A game's state as bytes: the whole of it, secrets too, the same bytes for equal states."""

from __future__ import annotations

import msgspec

from games.snatch_solitaire.messages import HandResult
from games.snatch_solitaire.state import Own, State, Taken
from games.tableau import Middle, Pile, Stock

VERSION = 1


class _Own(msgspec.Struct, array_like=True):
    seat: int
    snatch: bytes
    work: list[bytes]
    stock: bytes
    shown: int
    undo: tuple[int, int, int] | None
    stuck: bool


class _Pile(msgspec.Struct, array_like=True):
    id: int
    suit: int
    owners: list[int]
    seqs: list[int]


class _Record(msgspec.Struct, array_like=True):
    version: int
    length: str
    seats: list[int]
    seq: int
    hand: int
    live: bool
    totals: list[int]
    own: list[_Own]
    piles: list[_Pile]
    next_pile: int
    turns: int
    present: list[int]
    all_stuck: bool
    stuck_at: int | None
    stuck_left: int
    end_offered: bool
    result: HandResult | None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Record)


def dump(state: State) -> bytes:
    """The state in MessagePack.  The deal's witness is not in it: it stays in the Dealt event."""
    record = _Record(
        version=VERSION,
        length=state.length,
        seats=list(state.seats),
        seq=state.seq,
        hand=state.hand,
        live=state.live,
        totals=[state.totals[seat] for seat in state.seats],
        own=[
            _Own(
                seat=seat,
                snatch=bytes(own.snatch),
                work=[bytes(pile) for pile in own.work],
                stock=bytes(own.stock.cards),
                shown=own.stock.shown,
                undo=own.undo,
                stuck=own.stuck,
            )
            for seat, own in sorted(state.own.items())
        ],
        piles=[_Pile(p.id, p.suit, p.owners, p.seqs) for p in state.middle.piles.values()],
        next_pile=state.middle.next_id,
        turns=state.turns,
        present=sorted(state.present),
        all_stuck=state.all_stuck,
        stuck_at=state.stuck_at,
        stuck_left=state.stuck_left,
        end_offered=state.end_offered,
        result=state.result,
    )
    return _encoder.encode(record)


def load(data: bytes) -> State:
    """The inverse of `dump`.  ValueError for what is no state, or one of another version."""
    try:
        record = _decoder.decode(data)
    except msgspec.DecodeError as error:
        raise ValueError(f"not a state of Snatch Solitaire: {error}") from error
    if record.version != VERSION:
        raise ValueError(f"a state of version {record.version}, this is version {VERSION}")
    state = State(record.seats, record.length)
    state.seq = record.seq
    state.hand = record.hand
    state.live = record.live
    state.totals = dict(zip(record.seats, record.totals, strict=True))
    for saved in record.own:
        own = Own(list(saved.snatch), [list(pile) for pile in saved.work], Stock(list(saved.stock), saved.shown))
        own.undo = None if saved.undo is None else Taken(*saved.undo)
        own.stuck = saved.stuck
        state.own[saved.seat] = own
    state.middle = Middle(record.next_pile)
    state.middle.restore([Pile(p.id, p.suit, p.owners, p.seqs) for p in record.piles])
    state.turns = record.turns
    state.present = frozenset(record.present)
    state.all_stuck = record.all_stuck
    state.stuck_at = record.stuck_at
    state.stuck_left = record.stuck_left
    state.end_offered = record.end_offered
    state.result = record.result
    return state
