"""Hypothesis plays any legal and illegal moves; what must always hold, holds."""

from __future__ import annotations

from itertools import product
from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from games.cards import CODE
from games.contract import Refusal
from games.playing import Playing
from games.snatch_solitaire import inspector
from games.snatch_solitaire.events import Event
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.messages import EndHand, HandResult, Move, Score, Source, ToMiddle, ToWork, Turn, Undo
from games.snatch_solitaire.positions import small_position
from games.snatch_solitaire.state import Own, State, Taken

cards = st.sampled_from([*CODE, "5x", "", "Ås"])
sources: st.SearchStrategy[Source] = st.sampled_from(["snatch", "turned", "work"])
piles = st.one_of(st.none(), st.integers(-1, 5))
wild_moves: st.SearchStrategy[Move] = st.one_of(
    st.builds(ToMiddle, card=cards, src=sources, work=piles, pile=st.one_of(st.none(), st.integers(-1, 40))),
    st.builds(ToWork, card=cards, src=sources, to=st.integers(-1, 5), work=piles),
    st.builds(Turn),
    st.builds(Undo),
    st.builds(EndHand),
)
steps = st.one_of(
    st.tuples(st.just("legal"), st.integers(0, 10_000), st.integers(0, 200)),
    st.tuples(st.just("wild"), st.integers(0, 10_000), wild_moves),
    st.tuples(st.just("wait"), st.integers(0, 10_000), st.just(None)),
    st.tuples(st.just("presence"), st.integers(0, 7), st.just(None)),
)


def universe() -> list[Move]:
    """Every move that can be written with one deck, four work piles and no named pile."""
    moves: list[Move] = [Turn(), Undo(), EndHand()]
    places: list[tuple[Source, int | None]] = [("snatch", None), ("turned", None), *(("work", w) for w in range(4))]
    for card, (src, work) in product(CODE, places):
        moves.append(ToMiddle(card, src, work))
        moves += [ToWork(card, src, to, work) for to in range(4)]
    return moves


UNIVERSE = universe()


def accepted(state: State, seat: int) -> list[Move]:
    found = []
    for move in UNIVERSE:
        try:
            GAME.decide(state, seat, move, 0, state.seq)
        except Refusal:
            continue
        found.append(move)
    return found


def same(one: object, other: object) -> bool:
    return msgspec.json.encode(one) == msgspec.json.encode(other)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), script=st.lists(steps, max_size=120))
def test_whatever_is_sent_cards_secrets_and_views_hold(seed: int, script: list[tuple[str, int, object]]) -> None:
    table = Playing(GAME, [0, 1, 4])
    table.deal(Random(seed))
    for what, number, detail in script:
        _step(table, what, number, detail)
        for cards_there in inspector.cards_of(table.state).values():
            assert sorted(cards_there) == sorted(CODE)
        for audience, folded in table.views.items():
            assert same(folded, GAME.view(table.state, audience))


def _step(table: Playing, what: str, number: int, detail: object) -> None:
    seat = table.seats[number % len(table.seats)]
    if what == "wait":
        table.wait(number)
    elif what == "presence":
        table.attend(seat for bit, seat in enumerate(table.seats) if number >> bit & 1)
    elif what == "legal":
        moves = GAME.legal_moves(table.state, seat)
        if moves and isinstance(detail, int):
            table.move(seat, moves[detail % len(moves)])
    else:
        before = GAME.dump(table.state)
        try:
            table.move(seat, detail, basis=number % (table.state.seq + 2))
        except Refusal:
            assert GAME.dump(table.state) == before


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), moves=st.integers(0, 150))
def test_legal_moves_are_exactly_what_decide_accepts(seed: int, moves: int) -> None:
    dice = Random(seed)
    table = Playing(GAME, [0, 1])
    table.deal(dice)
    for _ in range(moves):
        if table.state.live:
            seat = dice.choice(table.seats)
            table.move(seat, dice.choice(GAME.legal_moves(table.state, seat)))
    for seat in table.seats:
        listed = GAME.legal_moves(table.state, seat)
        assert sorted(map(repr, listed)) == sorted(map(repr, accepted(table.state, seat)))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_legal_moves_are_what_decide_accepts_in_small_positions_too(seed: int) -> None:
    state = small_position(Random(seed))
    assert sorted(map(repr, GAME.legal_moves(state, 0))) == sorted(map(repr, accepted(state, 0)))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), moves=st.integers(1, 60))
def test_undo_gives_back_exactly_what_was(seed: int, moves: int) -> None:
    """All but the sequence number and the undo itself."""
    dice = Random(seed)
    table = Playing(GAME, [0])
    table.deal(dice)
    for _ in range(moves):
        own_moves = [m for m in GAME.legal_moves(table.state, 0) if isinstance(m, (ToWork, Turn))]
        if not own_moves or not table.state.live:
            return
        before = table.game.view(table.state, 0)
        table.move(0, dice.choice(own_moves))
        if not table.state.live:
            return
        after = GAME.load(GAME.dump(table.state))
        table.move(0, Undo())
        before.mine.undo = False
        assert same(table.views[0], before)
        table.move(0, dice.choice([m for m in GAME.legal_moves(table.state, 0) if not isinstance(m, Undo)]))
        assert after.seq < table.state.seq


def test_the_log_decodes_to_the_events_that_were_encoded() -> None:
    table = Playing(GAME, [0, 1])
    dice = Random(6)
    table.deal(dice)
    for _ in range(200):
        seat = dice.choice(table.seats)
        if table.state.live:
            table.move(seat, dice.choice(GAME.legal_moves(table.state, seat)))
    for codec in (msgspec.json, msgspec.msgpack):
        again = codec.decode(codec.encode(table.log), type=list[Event])
        assert again == table.log


def test_every_part_of_the_state_survives_dump_and_load() -> None:
    state = small_position(Random(1))
    state.length = "to50"
    state.totals = {0: 17}
    state.turns, state.hand, state.seq = 4, 3, 99
    state.present = frozenset({0})
    state.all_stuck, state.end_offered = True, True
    state.stuck_at, state.stuck_left = 1234, 567
    state.own[0].stuck, state.own[0].undo = True, Taken(2, 3, 1)
    state.result = HandResult(0, [Score(0, 0, 17)])
    blank = State([0], "one")
    loaded = GAME.load(GAME.dump(state))
    for slot in State.__slots__:
        if slot in ("own", "middle", "seats"):
            continue
        assert getattr(state, slot) != getattr(blank, slot), f"{slot} is not tried"
        assert getattr(loaded, slot) == getattr(state, slot)
    for slot in Own.__slots__:
        if slot != "stock":
            assert getattr(loaded.own[0], slot) == getattr(state.own[0], slot)
    stocks = [(own.stock.cards, own.stock.shown, own.stock.mask) for own in (loaded.own[0], state.own[0])]
    assert stocks[0] == stocks[1]


def test_load_refuses_what_is_no_state() -> None:
    state = small_position(Random(1))
    dumped = GAME.dump(state)
    for data in (b"", b"nonsense", dumped[:-1], dumped[:1] + b"\x63" + dumped[2:]):
        try:
            GAME.load(data)
        except ValueError:
            continue
        raise AssertionError(f"{data!r} was loaded")
