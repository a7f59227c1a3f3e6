"""Every deal goes out with a proof that the rules themselves accept."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from random import Random

import msgspec
import pytest

from games.cards import CODE, decode
from games.contract import Refusal
from games.snatch_solitaire import deal
from games.snatch_solitaire.events import Dealt, Deck, SnatchTurn
from games.snatch_solitaire.game import GAME, SnatchSolitaire
from games.snatch_solitaire.messages import Options, Turn
from games.snatch_solitaire.playout import PlayOut, Step
from games.snatch_solitaire.pool import PAIRS
from games.snatch_solitaire.state import State

SEATS = {count: tuple(range(0, 3 * count, 3)) for count in range(1, 9)}
every_count = pytest.mark.parametrize("count", range(1, 9))


def replay(game: SnatchSolitaire, dealt: Dealt, to_the_end: bool) -> State:
    """The witness through `decide`, up to the first empty pile or to its end."""
    state = game.open([deck.seat for deck in dealt.decks], Options())
    game.evolve(state, dealt)
    for seat, move in deal.witness_moves(dealt):
        if not to_the_end and game.hand_over(state):
            break
        for event in game.decide(state, seat, move, 0, state.seq):
            assert not isinstance(event, SnatchTurn)
            game.evolve(state, event)
    return state


@every_count
def test_the_witness_empties_the_first_pile_through_the_rules_as_tables_play_them(count: int) -> None:
    for seed in range(3):
        state = replay(GAME, deal.deal(SEATS[count], Random(seed)), to_the_end=False)
        assert GAME.hand_over(state)
        assert state.turns == 0
        assert state.result is not None
        assert state.result.scores[0].left == 0


@every_count
def test_the_witness_empties_every_pile_with_the_hands_end_switched_off(count: int) -> None:
    endless = SnatchSolitaire(ends=False)
    for seed in range(3):
        state = replay(endless, deal.deal(SEATS[count], Random(seed)), to_the_end=True)
        assert all(not own.snatch for own in state.own.values())
        assert (state.turns, state.result) == (0, None)


def test_no_option_of_a_table_switches_the_hands_end_off() -> None:
    assert {field.name for field in msgspec.structs.fields(Options)} == {"length"}
    dealt = deal.deal([0], Random(5))
    state = replay(GAME, dealt, to_the_end=False)
    restored = GAME.load(GAME.dump(state))
    assert isinstance(restored, State)
    with pytest.raises(Refusal, match="not_live"):
        GAME.decide(restored, 0, Turn(), 0, 0)


@every_count
def test_everyone_is_dealt_an_own_whole_deck_as_the_rules_lay_it(count: int) -> None:
    dealt = deal.deal(SEATS[count], Random(9))
    state = GAME.open(SEATS[count], Options())
    GAME.evolve(state, dealt)
    for deck in dealt.decks:
        assert sorted(decode(deck.cards)) == list(range(52))
        own = state.own[deck.seat]
        assert (len(own.snatch), [len(pile) for pile in own.work], len(own.stock.cards)) == (13, [1] * 4, 35)
        assert own.stock.shown == 0
    assert len({deck.cards for deck in dealt.decks}) == count


@every_count
def test_the_check_leaves_the_very_state_that_the_line_leaves_turn_by_turn(count: int) -> None:
    """It turns stocks at once: all else of it is `decide`, so that neither passes what the other wouldn't."""
    for seed in range(4):
        dealt = deal.deal(SEATS[count], Random(seed))
        slow = replay(SnatchSolitaire(ends=False), dealt, to_the_end=True)
        assert GAME.dump(deal.check(dealt)) == GAME.dump(slow)


def test_the_check_catches_every_wrong_line_that_a_replay_turn_by_turn_catches() -> None:
    dice, endless, wrong = Random(6), SnatchSolitaire(ends=False), 0
    for seed in range(150):
        good = deal.deal([0, 5], Random(seed))
        steps = good.witness.split()
        at, to = dice.randrange(len(steps)), dice.randrange(len(steps))
        steps[at], steps[to] = steps[to], steps[at]
        told = Dealt(decks=good.decks, witness=" ".join(steps))
        try:
            passes = not any(own.snatch for own in replay(endless, told, to_the_end=True).own.values())
        except (Refusal, deal.Unplayable):
            passes = False
        if passes:
            deal.check(told)
        else:
            wrong += 1
            with pytest.raises(deal.Unplayable):
                deal.check(told)
    assert 20 < wrong < 150


@every_count
def test_a_play_out_that_ends_well_always_has_a_line_that_the_rules_accept(count: int) -> None:
    dice, ended = Random(count), 0
    for seed in range(40):
        decks = deal.shuffled(count, Random(seed))
        play_out = PlayOut(decks, dice)
        if play_out.run():
            ended += 1
            deal.checked(SEATS[count], decks, play_out.line)
    assert ended >= 5


def test_a_shuffle_without_a_way_out_is_never_dealt() -> None:
    """Kings, queens and jacks lie on a snatch pile whose work piles and stock can't move one of them."""
    decks = hopeless()
    assert not any(PlayOut([decks], Random(seed)).run() for seed in range(50))


def hopeless() -> list[int]:
    """The aces lie at the bottom of the snatch pile, under nothing that can leave it."""
    snatch = cards("Ks Kh Kd Kc Qs Qh Qd Qc Js As Ah Ad Ac")
    work = cards("2s 2h 2d 2c")
    return [*snatch, *work, *(card for card in range(52) if card not in {*snatch, *work})]


def cards(codes: str) -> list[int]:
    return decode(codes.replace(" ", ""))


@every_count
def test_what_is_dealt_can_hardly_be_told_from_any_shuffle(count: int) -> None:
    """Where aces and low cards lie, in checked deals and in plain ones, over as many decks.

    Whoever knew more than that would play a deal better for knowing that it was checked.  The
    bounds are four standard errors of plain shuffles, widened by a tenth of a card for aces.
    """
    decks = 400
    found = dealt_decks(count, decks)
    plain = deal.shuffled(decks, Random(1))
    for cut in (slice(0, 13), slice(0, 1), slice(13, 17), slice(17, 52)):
        for kind, slack in ((is_ace, 0.1), (is_low, 0.25)):
            checked, shuffled = (mean_count(some, cut, kind) for some in (found, plain))
            spread = 4 * (2 * variance(plain, cut, kind) / decks) ** 0.5
            assert abs(checked - shuffled) < spread + slack


def dealt_decks(count: int, decks: int) -> list[list[int]]:
    dice, found = Random(count), list[list[int]]()
    while len(found) < decks:
        found += [decode(deck.cards) for deck in deal.deal(SEATS[count], dice).decks]
    return found[:decks]


def is_ace(card: int) -> bool:
    return card % 13 == 0


def is_low(card: int) -> bool:
    return card % 13 < 6


def mean_count(decks: list[list[int]], cut: slice, kind: Callable[[int], bool]) -> float:
    """How many cards of a kind lie in this part of a deck, in the mean."""
    return sum(sum(map(kind, deck[cut])) for deck in decks) / len(decks)


def variance(decks: list[list[int]], cut: slice, kind: Callable[[int], bool]) -> float:
    mean = mean_count(decks, cut, kind)
    return sum((sum(map(kind, deck[cut])) - mean) ** 2 for deck in decks) / len(decks)


def test_every_card_is_a_snatch_top_now_and_then() -> None:
    dice = Random(1)
    tops = Counter(deck.cards[:2] for _ in range(200) for deck in deal.deal([0, 1, 2], dice).decks)
    assert set(tops) == set(CODE)
    assert max(tops.values()) < 40


def test_the_same_dice_give_the_same_deal_and_others_another() -> None:
    assert deal.deal([0, 1], Random(4)) == deal.deal([0, 1], Random(4))
    assert deal.deal([0, 1], Random(4)) != deal.deal([0, 1], Random(5))


def test_a_deal_is_the_same_whatever_the_length_of_the_game() -> None:
    lengths = [Options(length="one"), Options(length="to25"), Options(length="to50")]
    assert GAME.spec.deal_options == ()
    assert len({msgspec.json.encode(GAME.deal([0, 1], options, Random(4))) for options in lengths}) == 1


def test_deals_go_through_a_process_pool_and_the_log() -> None:
    call = pickle.loads(pickle.dumps((GAME.deal, ([0, 4], Options(), Random(4)))))
    made = call[0](*call[1])
    assert pickle.loads(pickle.dumps(made)) == made == deal.deal([0, 4], Random(4))
    assert msgspec.json.decode(msgspec.json.encode(made), type=GAME.spec.event_type) == made


@every_count
def test_every_stored_pair_of_seeds_still_makes_a_checked_deal(count: int) -> None:
    assert len(set(PAIRS[count])) == len(PAIRS[count]) >= 20
    for pair in PAIRS[count]:
        dealt = deal.from_seeds(SEATS[count], *pair)
        assert [deck.seat for deck in dealt.decks] == list(SEATS[count])


def test_the_pool_serves_when_luck_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deal, "SHUFFLES", 0)
    dealt = deal.deal([2, 3, 5], Random(1))
    deal.check(dealt)
    assert any(dealt == deal.from_seeds([2, 3, 5], *pair) for pair in PAIRS[3])


def test_a_pool_whose_seeds_prove_nothing_gives_no_deal(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = next(seed for seed in range(100) if not _plays_out(seed))
    monkeypatch.setattr(deal, "PAIRS", {2: ((stuck, 0),)})
    with pytest.raises(deal.Unplayable):
        deal.pool_deal([0, 1], Random(1))


def _plays_out(seed: int) -> bool:
    try:
        deal.from_seeds([0, 1], seed, 0)
    except deal.Unplayable:
        return False
    return True


def test_a_deal_with_a_wrong_proof_is_caught() -> None:
    good = deal.deal([0, 1], Random(8))
    steps = good.witness.split()
    deal.check(good)
    for line in (steps[:-1], [*steps, steps[-1]], [], steps[::-1]):
        with pytest.raises((deal.Unplayable, ValueError)):
            deal.check(Dealt(decks=good.decks, witness=" ".join(line)))
    swapped = (Deck(0, good.decks[1].cards), Deck(1, good.decks[0].cards))
    with pytest.raises(deal.Unplayable):
        deal.check(Dealt(decks=swapped, witness=good.witness))


def test_no_line_becomes_a_deal_unchecked() -> None:
    decks = deal.shuffled(1, Random(3))
    lines: list[list[Step]] = [[], [(0, "s", decks[0][1], "m")]]
    for line in lines:
        with pytest.raises(deal.Unplayable):
            deal.checked([0], decks, line)


def test_a_proof_that_names_a_card_outside_the_stock_ends() -> None:
    good = deal.deal([0], Random(8))
    used = good.decks[0].cards[:2]
    with pytest.raises(deal.Unplayable, match="stock"):
        deal.check(Dealt(decks=good.decks, witness=f"0t{used}m"))


def test_no_audience_is_sent_the_proof_or_a_hidden_card() -> None:
    dealt = deal.deal([0, 1], Random(8))
    assert msgspec.json.encode(GAME.redact(dealt, None)) == b'{"t":"dealt","seats":[0,1]}'
    sent = GAME.redact(dealt, 1)
    cards = dealt.decks[1].cards
    shown = {cards[:2], *(cards[i : i + 2] for i in range(26, 34, 2))}
    text = msgspec.json.encode(sent).decode()
    assert {code for code in CODE if f'"{code}"' in text} == shown
    assert GAME.redact(dealt, 5) is None


def test_the_rest_of_the_witness_is_refused_once_the_hand_is_over() -> None:
    dealt = deal.deal([0, 1, 2], Random(12))
    state = replay(GAME, dealt, to_the_end=False)
    seq = state.seq
    for seat, move in deal.witness_moves(dealt):
        with pytest.raises(Refusal, match="not_live"):
            GAME.decide(state, seat, move, 0, state.seq)
    assert state.seq == seq
