"""Points, totals, places, and when a game is over."""

from __future__ import annotations

from random import Random

import pytest

from games.contract import Refusal
from games.playing import Playing
from games.snatch_solitaire.messages import HandResult, Score, ToMiddle, ToWork, Turn
from games.snatch_solitaire.positions import own, playing
from games.snatch_solitaire.scores import game_over, standings

ANN, BO, CY = 0, 1, 2
LAST = "9d | Ts 9s 9c Tc | 3s"


def left(count: int) -> str:
    return "2c " * count + "| 7s 9s 9c Ts | 3s"


def end(table: Playing, seat: int = ANN) -> HandResult:
    """Let this seat end the hand with its last card."""
    table.state.own[seat] = own(LAST)
    table.move(seat, ToWork("9d", "snatch", 0))
    result = table.state.result
    assert isinstance(result, HandResult)
    return result


def test_result_lists_fewest_cards_first_and_equal_ones_by_seat() -> None:
    result = end(playing({ANN: LAST, BO: left(7), CY: left(4), 5: left(7)}))
    assert [(line.seat, line.left) for line in result.scores] == [(ANN, 0), (CY, 4), (BO, 7), (5, 7)]


def test_result_is_ordered_by_this_hands_cards_not_by_totals() -> None:
    table = playing({ANN: LAST, BO: left(7), CY: left(4)}, length="to50")
    table.state.totals = {ANN: 30, BO: 1, CY: 20}
    assert end(table).scores == [Score(ANN, 0, 30), Score(CY, 4, 24), Score(BO, 7, 8)]


def test_a_hand_costs_one_point_per_card_left_and_totals_run_on() -> None:
    table = playing({ANN: LAST, BO: left(7)}, length="to50")
    assert end(table).scores == [Score(ANN, 0, 0), Score(BO, 7, 7)]
    assert [(line.total, line.left) for line in table.views[None].seats] == [(0, 0), (0, 7)]
    table.deal(Random(1))
    assert [(line.total, line.left) for line in table.views[None].seats] == [(0, 13), (7, 13)]
    assert end(table, BO).scores == [Score(BO, 0, 7), Score(ANN, 13, 13)]
    table.deal(Random(2))
    assert [(line.total, line.left) for line in table.views[ANN].seats] == [(13, 13), (7, 13)]
    assert (table.views[ANN].hand, table.views[ANN].result) == (3, None)


@pytest.mark.parametrize(
    ("length", "total", "over"),
    [("one", 0, True), ("to25", 24, False), ("to25", 25, True), ("to50", 49, False), ("to50", 50, True)],
)
def test_a_game_is_over_after_one_hand_or_with_any_total_at_its_target(length: str, total: int, over: bool) -> None:
    table = playing({ANN: LAST, BO: left(1)}, length=length)
    if total:
        table.state.totals[BO] = total - 1
    end(table)
    assert game_over(table.state) is over
    assert (table.game.outcome(table.state) is not None) is over


def test_no_standings_while_a_hand_is_on() -> None:
    table = playing({ANN: LAST, BO: left(3)}, length="to25")
    table.state.totals = {ANN: 30, BO: 3}
    assert table.game.outcome(table.state) is None
    assert not table.game.hand_over(table.state)


def test_the_winner_need_not_have_emptied_a_pile() -> None:
    table = playing({ANN: LAST, BO: left(3)}, length="to25")
    table.state.totals = {ANN: 30, BO: 3}
    assert end(table).by == ANN
    outcome = table.game.outcome(table.state)
    assert outcome is not None
    assert outcome.winners == [BO]


@pytest.mark.parametrize(
    ("totals", "places", "winners"),
    [
        ({0: 5, 1: 5, 2: 9}, [(0, 1), (1, 1), (2, 3)], [0, 1]),
        ({0: 5, 1: 4, 2: 5, 3: 9}, [(1, 1), (0, 2), (2, 2), (3, 4)], [1]),
        ({7: 0}, [(7, 1)], [7]),
        ({3: 8, 1: 8, 2: 8}, [(1, 1), (2, 1), (3, 1)], [1, 2, 3]),
    ],
)
def test_equal_totals_share_the_place_and_the_win(
    totals: dict[int, int], places: list[tuple[int, int]], winners: list[int]
) -> None:
    outcome = standings(totals)
    assert [(line.seat, line.place) for line in outcome.places] == places
    assert outcome.winners == winners


def test_of_two_last_cards_at_once_the_first_ends_the_hand_and_the_other_stays_and_costs_a_point() -> None:
    table = playing({ANN: "5h | 7s 9s 9c Ts | 3s", BO: "5s | 7s 9s 9c Ts | 3s"}, middle=["4h", "4s"])
    basis = table.state.seq
    table.move(BO, ToMiddle("5s", "snatch"), basis)
    with pytest.raises(Refusal, match="not_live"):
        table.move(ANN, ToMiddle("5h", "snatch"), basis)
    assert table.state.result == HandResult(BO, [Score(BO, 0, 0), Score(ANN, 1, 1)])
    assert table.views[ANN].mine.snatch == "5h"


def test_scores_are_counted_once_and_own_cards_stay_in_view_after_the_end() -> None:
    table = playing({ANN: LAST, BO: left(3)}, length="to50")
    end(table)
    seq = table.state.seq
    for seat in (ANN, BO):
        with pytest.raises(Refusal, match="not_live"):
            table.move(seat, Turn())
    table.attend([])
    table.wait(60_000)
    assert table.state.seq == seq
    assert table.views[BO].mine.snatch == "2c"


def test_seats_need_not_be_numbered_without_gaps() -> None:
    table = Playing(playing({ANN: LAST}).game, [7, 2, 11])
    table.deal(Random(4))
    assert [line.seat for line in table.views[None].seats] == [2, 7, 11]
    assert table.views[11].mine is not None
    assert table.game.view(table.state, 3) == table.game.view(table.state, None)
