"""Who is stuck, and the clock that turns the snatch piles."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from games.contract import Refusal
from games.playing import Playing
from games.snatch_solitaire.events import AllStuck, EndOffered, HandEnded, SnatchTurn
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.messages import EndHand, Score, ToMiddle, ToWork, Turn, Undo
from games.snatch_solitaire.positions import playing, position, small_position
from games.snatch_solitaire.state import MAX_TURNS, STUCK_MS, State
from games.snatch_solitaire.stuck import is_stuck

ANN, BO, CY = 0, 1, 2
STUCK = "8s 2h | Ks Js Jc 6s | 3s 4c"
"""No way out while the middle is empty; a turn of the snatch piles shows 2♥, which is as stuck."""
MOVES = "6h 6d | 7s Kd Kc Ts | 3s"


def kinds(events: list[object]) -> list[str]:
    return [type(event).__name__ for event in events]


def stuck(text: str, *middle: str) -> bool:
    state = position({ANN: text}, middle)
    return is_stuck(state.own[ANN], state.middle.fits)


@pytest.mark.parametrize(
    ("text", "middle", "expected"),
    [
        (STUCK, (), True),
        ("Ac 2h | Ks Js Jc 6s | 3s 4c", (), False),
        ("8s 2h | Ks Js Jc As | 3s 4c", (), False),
        ("8s 2h | Ks Js Jc 6s | 3s 4c", ("2s",), False),
        ("8s 2h | Ks Js Jc 6s | 3s 4c", ("3s",), True),
        ("8s 2h | Ks Js Jc 6s | 3s 4c", ("5s",), False),
        ("8s 2h | Ks Js Jc 6s | 4c / 3s", ("2s",), False),
        ("8s 2h | Ks Js Jc 6s | / ", (), True),
        ("8s 2h | Ks Js Jc,Th 6s | 3s 4c", (), True),
        ("8s 2h | Ks Js Qc,Jd,Tc 6s | 3s 4c", (), True),
        ("8s 2h | Ks Js Qh,Jc,Td 6s | 3s 4c", (), False),
        ("8s 2h | Kh Js Qh,Jc,Td 6s | 3s 4c", ("Td",), True),
        ("8s 2h | Kh Js Qh,Jc,Td 6s | 3s 4c", ("Tc",), False),
        ("8s 2h | Ks Js Jc,Td 6s | 3s 4c", ("Tc",), False),
        ("8s 2h | Ks Jc Js,Td 6s | 3s 4c", ("9s",), True),
        ("8s 2h | Ks Qs,Jh 6c 6s | 3s 4c", ("Js",), True),
    ],
)
def test_stuck_by_each_of_its_conditions(text: str, middle: tuple[str, ...], expected: bool) -> None:
    assert stuck(text, *middle) is expected


def test_covered_snatch_cards_and_heads_of_runs_do_not_count() -> None:
    assert stuck("8s Ah 5d | Ks Js Jc 6s | 3s 4c")
    assert stuck("8s 2h | Kh,Qs 9s Jc 6s | 3s 4c", "Qh")


def way_out(state: State, seat: int) -> bool:
    """By brute force: some line of turns and run moves of this seat alone leads to a useful move.

    A card into the middle, a card out of snatch or turned pile onto a run, a pile emptied.
    """
    seen = set()
    ahead = [GAME.dump(state)]
    while ahead:
        dumped = ahead.pop()
        if dumped in seen:
            continue
        seen.add(dumped)
        here = GAME.load(dumped)
        if not all(here.own[seat].work):
            return True
        for move in GAME.legal_moves(here, seat):
            if isinstance(move, ToMiddle) or (isinstance(move, ToWork) and move.src != "work"):
                return True
            if isinstance(move, Undo):
                continue
            there = GAME.load(dumped)
            for event in GAME.decide(here, seat, move, 0, here.seq):
                GAME.evolve(there, event)
            there.own[seat].undo = None
            there.seq = 0
            ahead.append(GAME.dump(there))
    return False


@settings(max_examples=2000, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**40))
def test_stuck_is_what_a_search_of_all_lines_says(seed: int) -> None:
    state = small_position(Random(seed))
    assert is_stuck(state.own[ANN], state.middle.fits) is not way_out(state, ANN)


def test_small_positions_are_stuck_and_free_often_enough_to_tell() -> None:
    states = [small_position(Random(seed)) for seed in range(300)]
    share = sum(is_stuck(state.own[ANN], state.middle.fits) for state in states) / len(states)
    assert 0.15 < share < 0.8


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**40), moves=st.integers(1, 120))
@example(seed=1, moves=200)
def test_what_is_kept_of_a_seat_is_what_a_fresh_look_finds(seed: int, moves: int) -> None:
    """`free` and `reach` are found again from nothing by `load`; the told flag follows them."""
    dice = Random(seed)
    table = Playing(GAME, [ANN, BO])
    table.deal(dice)
    for _ in range(moves):
        if not table.state.live:
            break
        seat = dice.choice([ANN, BO])
        table.move(seat, dice.choice(GAME.legal_moves(table.state, seat)))
    fresh = GAME.load(GAME.dump(table.state))
    assert fresh.middle.fits == table.state.middle.fits
    for seat, own in table.state.own.items():
        assert (own.free, own.reach) == (fresh.own[seat].free, fresh.own[seat].reach)
        if table.state.live:
            assert own.stuck is is_stuck(own, table.state.middle.fits)


def test_a_stuck_seat_is_told_and_told_when_it_is_no_longer() -> None:
    table = playing({ANN: "8s 2h | Ks Js Jc 6s | 3s 4c", BO: "2s 3d | 7s Kd Kc Ts | 9d"}, middle=["As"])
    assert table.views[ANN].mine.stuck
    assert not table.views[BO].mine.stuck
    table.move(BO, ToMiddle("2s", "snatch"))
    assert not table.views[ANN].mine.stuck
    assert table.told[BO][-1] != table.told[ANN][-1]


def test_four_seconds_without_a_break_turn_the_piles_and_not_sooner() -> None:
    table = playing({ANN: STUCK, BO: STUCK})
    assert table.views[None].all_stuck
    assert table.wait(STUCK_MS - 1) == []
    assert kinds(table.wait(1)) == ["SnatchTurn", "AllStuck"]
    assert (table.views[None].turns, table.views[ANN].mine.snatch) == (1, "2h")


def test_a_present_player_with_a_useful_move_holds_the_turn_up_for_as_long_as_they_like() -> None:
    table = playing({ANN: STUCK, BO: MOVES})
    assert table.wait(10 * 60_000) == []
    assert not table.views[None].all_stuck


def test_an_absent_seat_with_a_useful_move_does_not_hold_it_up_and_turns_too() -> None:
    table = playing({ANN: STUCK, BO: MOVES})
    assert kinds(table.attend([ANN])) == ["AllStuck"]
    assert kinds(table.wait(STUCK_MS)) == ["SnatchTurn", "AllStuck"]
    assert table.views[BO].mine.snatch == "6d"


def test_one_that_comes_back_with_a_useful_move_breaks_the_clock() -> None:
    table = playing({ANN: STUCK, BO: MOVES})
    table.attend([ANN])
    table.wait(STUCK_MS - 1)
    assert table.attend([ANN, BO]) == [AllStuck(False, STUCK_MS - 1)]
    assert table.wait(STUCK_MS) == []
    table.attend([ANN])
    assert table.wait(STUCK_MS - 1) == []
    assert kinds(table.wait(1)) == ["SnatchTurn", "AllStuck"]


def test_stuck_seats_that_come_and_go_do_not_break_the_clock() -> None:
    table = playing({ANN: STUCK, BO: STUCK, CY: STUCK})
    for present in ([ANN], [ANN, CY], [BO], [ANN, BO, CY]):
        table.wait(STUCK_MS // 5)
        assert table.attend(present) == []
    assert kinds(table.wait(STUCK_MS - 4 * (STUCK_MS // 5))) == ["SnatchTurn", "AllStuck"]


def test_with_nobody_there_the_clock_stands_still_with_what_it_had_left() -> None:
    table = playing({ANN: STUCK, BO: STUCK})
    table.wait(1_500)
    assert table.attend([]) == []
    assert table.game.wakes_at(table.state) is None
    assert table.wait(60_000) == []
    table.attend([BO])
    assert table.wait(STUCK_MS - 1_501) == []
    assert kinds(table.wait(1)) == ["SnatchTurn", "AllStuck"]


def test_nobody_present_is_not_everybody_stuck() -> None:
    table = playing({ANN: MOVES, BO: STUCK})
    assert table.attend([]) == []
    assert not table.views[None].all_stuck


def test_turns_and_shuffled_runs_do_not_break_the_clock() -> None:
    """Both are legal, and neither is useful."""
    table = playing({ANN: "8s 2h | Ks Js,Td Jc 6s | 3s 4c", BO: STUCK})
    assert table.views[None].all_stuck
    table.wait(STUCK_MS - 1)
    table.move(ANN, ToWork("Td", "work", 2, work=1))
    table.move(ANN, Turn())
    assert kinds(table.wait(1)) == ["SnatchTurn", "AllStuck"]


def test_a_turn_empties_everyones_undo() -> None:
    table = playing({ANN: STUCK, BO: STUCK})
    table.move(ANN, Turn())
    assert table.views[ANN].mine.undo
    table.wait(STUCK_MS)
    assert not table.views[ANN].mine.undo
    with pytest.raises(Refusal, match="nothing_to_undo"):
        table.move(ANN, Undo())


def test_a_turn_costs_nothing_and_leaves_one_card_piles_as_they_are() -> None:
    table = playing({ANN: STUCK, BO: "5s | Ks Js Jc 6s | 3s 4c"})
    counts = [(line.seat, line.left) for line in table.views[None].seats]
    table.wait(STUCK_MS)
    assert [(line.seat, line.left) for line in table.views[None].seats] == counts
    assert table.views[BO].mine.snatch == "5s"


def test_a_turn_that_frees_somebody_says_so_and_stops_the_clock() -> None:
    table = playing({ANN: "8s 5d | Ks Js Jc 6s | 3s 4c", BO: STUCK})
    assert kinds(table.wait(STUCK_MS)) == ["SnatchTurn", "Stuck"]
    assert not table.views[None].all_stuck
    assert table.game.wakes_at(table.state) is None


def offered() -> Playing:
    table = playing({ANN: STUCK, BO: STUCK, CY: MOVES})
    table.attend([ANN, BO])
    table.wait(STUCK_MS * (MAX_TURNS + 1))
    return table


def test_after_thirteen_turns_the_end_is_offered_and_there_is_no_fourteenth() -> None:
    table = offered()
    turns = [event.turns for event in table.log if isinstance(event, SnatchTurn)]
    assert turns == list(range(1, MAX_TURNS + 1))
    assert table.log[-1] == EndOffered(True)
    assert table.views[None].end_offered
    assert table.wait(60_000) == []


def test_the_hand_is_ended_by_hand_only_while_that_is_offered() -> None:
    table = playing({ANN: STUCK, BO: STUCK})
    with pytest.raises(Refusal, match="not_allowed"):
        table.move(ANN, EndHand())
    table = offered()
    ended = table.move(ANN, EndHand())
    assert [type(event) for event in ended] == [HandEnded]
    assert table.state.result is not None
    assert table.state.result.by is None
    assert table.state.result.scores == [Score(ANN, 2, 2), Score(BO, 2, 2), Score(CY, 2, 2)]


def test_the_offer_goes_away_when_somebody_becomes_unstuck_and_comes_back_after_four_seconds() -> None:
    table = offered()
    assert kinds(table.attend([ANN, BO, CY])) == ["EndOffered", "AllStuck"]
    assert not table.views[None].end_offered
    with pytest.raises(Refusal, match="not_allowed"):
        table.move(ANN, EndHand())
    table.attend([ANN])
    assert table.wait(STUCK_MS - 1) == []
    assert table.wait(1) == [EndOffered(True)]


def test_the_offer_stays_while_nobody_is_there() -> None:
    table = offered()
    assert table.attend([]) == []
    assert table.wait(60_000) == []
    assert table.attend([BO]) == []
    assert table.wait(60_000) == []
    assert table.views[None].end_offered


def test_watchers_who_are_present_are_not_there_for_the_clock() -> None:
    table = playing({ANN: STUCK, BO: STUCK})
    table.wait(1_000)
    assert table.attend([55]) == []
    assert table.wait(60_000) == []
    assert table.attend([ANN, 55]) == []
    assert kinds(table.wait(STUCK_MS - 1_000)) == ["SnatchTurn", "AllStuck"]


def test_a_dealt_hand_waits_to_be_told_who_is_there() -> None:
    table = playing({ANN: "9d | Ts 9s 9c Tc | 3s", BO: STUCK}, length="to50")
    table.move(ANN, ToWork("9d", "snatch", 0))
    GAME.evolve(table.state, GAME.deal(table.seats, table.options, Random(1)))
    assert table.state.present == frozenset()


def test_a_last_card_that_leaves_no_moves_for_anyone_ends_the_hand_without_a_word_of_stuck() -> None:
    table = playing({ANN: "2s | Ks Js Jc 6s | 4c", BO: STUCK.replace("3s", "3c")}, middle=["As"])
    events = table.move(ANN, ToMiddle("2s", "snatch"))
    assert kinds(events) == ["Placed", "HandEnded"]
    assert not table.views[None].all_stuck
    assert not table.views[BO].mine.stuck
    assert table.game.wakes_at(table.state) is None
    assert table.wait(60_000) == []


def test_a_new_hand_starts_with_no_turns_and_nobody_stuck() -> None:
    table = offered()
    table.state.length = "to50"
    table.move(ANN, EndHand())
    table.deal(Random(1))
    assert (table.views[None].turns, table.views[None].end_offered, table.views[None].all_stuck) == (0, False, False)
    assert not any(table.views[seat].mine.stuck for seat in table.seats)
