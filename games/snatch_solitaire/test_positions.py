"""The positions that the rules are stated with."""

from __future__ import annotations

from random import Random

import pytest

from games.cards import encode
from games.contract import Refusal
from games.playing import Playing
from games.snatch_solitaire.events import HandEnded, Placed
from games.snatch_solitaire.messages import Score, ToMiddle, ToWork, Turn, Undo
from games.snatch_solitaire.positions import own, playing, position
from games.snatch_solitaire.scores import standings
from games.snatch_solitaire.state import STUCK_MS
from games.snatch_solitaire.stuck import is_stuck

ANN, BO = 0, 1
IDLE = "Qs | Kh - - - | 3s"
"""Cards of a seat that the position isn't about."""


def refused(table: Playing, seat: int, move: object, basis: int | None = None) -> Refusal:
    """The refusal of a move, which left everything as it was."""
    before = table.game.dump(table.state)
    with pytest.raises(Refusal) as caught:
        table.move(seat, move, basis)
    assert table.game.dump(table.state) == before
    return caught.value


@pytest.mark.parametrize(("card", "fits"), [("6h", True), ("6d", True), ("6c", False), ("5h", False), ("8h", False)])
def test_on_the_seven_of_spades_go_the_red_sixes_alone(card: str, fits: bool) -> None:
    table = playing({ANN: f"{card} 2c | 7s 9s 9c Ts | 3s"})
    if fits:
        table.move(ANN, ToWork(card, "snatch", 0))
        assert table.views[ANN].mine.work[0] == ["7s", card]
    else:
        assert refused(table, ANN, ToWork(card, "snatch", 0)).code == "no_fit"


@pytest.mark.parametrize("card", ["Kd", "Ah", "6c", "2s"])
def test_an_empty_work_pile_takes_any_card(card: str) -> None:
    table = playing({ANN: f"{card} 2c | - 9s 9c Ts | 3s"})
    table.move(ANN, ToWork(card, "snatch", 0))
    assert table.views[ANN].mine.work[0] == [card]


def test_a_card_dropped_on_a_pile_of_another_suit_lands_where_it_fits() -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s"}, middle=["4h", "4s"])
    placed = table.move(ANN, ToMiddle("5h", "snatch", pile=2))[0]
    assert isinstance(placed, Placed)
    assert placed.pile == 1


def test_of_two_fitting_piles_the_named_one_advances_alone() -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s"}, middle=["4h", "4h"])
    table.move(ANN, ToMiddle("5h", "snatch", pile=2))
    assert [pile.top[-1].card for pile in table.views[None].middle] == ["4h", "5h"]


def test_second_card_to_a_taken_spot_comes_back_as_snatched() -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s", BO: "5h 2c | 7s 9s 9c Ts | 3s 8h"}, middle=["4h"])
    basis = table.state.seq
    table.move(BO, Turn())
    table.move(ANN, ToMiddle("5h", "snatch"), basis)
    no = refused(table, BO, ToMiddle("5h", "snatch"), basis)
    assert (no.code, no.by, no.pile) == ("snatched", ANN, 1)
    mine = table.views[BO].mine
    assert (mine.snatch, mine.undo) == ("5h", True)
    assert [(line.seat, line.left) for line in table.views[BO].seats] == [(ANN, 1), (BO, 2)]


def test_a_card_that_had_no_spot_at_its_basis_or_since_comes_back_as_no_pile() -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s", BO: "9c 2c | 7s 9s 8c Ts | 3s"}, middle=["4h"])
    basis = table.state.seq
    table.move(ANN, ToMiddle("5h", "snatch"), basis)
    no = refused(table, BO, ToMiddle("9c", "snatch"), basis)
    assert (no.code, no.by, no.pile) == ("no_pile", None, None)


def test_the_second_of_two_cards_on_their_way_is_snatched_by_who_came_between() -> None:
    table = playing({ANN: "5h 6h 2c | 7s 9s 9c Ts | 3s", BO: "6h 2c | 7s 9s 8c Ts | 3s"}, middle=["4h"])
    basis = table.state.seq
    table.move(ANN, ToMiddle("5h", "snatch"), basis)
    table.move(BO, ToMiddle("6h", "snatch"), basis)
    no = refused(table, ANN, ToMiddle("6h", "snatch"), basis)
    assert (no.code, no.by) == ("snatched", BO)


def test_the_stock_turns_one_by_one_and_over_in_the_same_order() -> None:
    table = playing({ANN: "Qs 2c | 7s 9s 9c Ts | 2c 9h Kd"})
    for _ in range(3):
        table.move(ANN, Turn())
    assert table.views[ANN].mine.turned == ["2c", "9h", "Kd"]
    table.move(ANN, Turn())
    assert (table.views[ANN].mine.stock, table.views[ANN].mine.turned) == (3, [])
    for _ in range(3):
        table.move(ANN, Turn())
    assert table.views[ANN].mine.turned == ["2c", "9h", "Kd"]


def test_undo_of_a_turn_hides_the_card_again_and_is_one_deep() -> None:
    table = playing({ANN: "Qs 2c | 7s 9s 9c Ts | 2c 9h Kd"})
    table.move(ANN, Turn())
    table.move(ANN, Undo())
    assert (table.views[ANN].mine.stock, table.views[ANN].mine.turned) == (3, [])
    assert refused(table, ANN, Undo()).code == "nothing_to_undo"
    table.move(ANN, Turn())
    assert table.views[ANN].mine.turned == ["2c"]


def test_undo_gives_a_snatch_card_back() -> None:
    table = playing({ANN: "6h " + "2c " * 12 + "| 7s 9s 9c Ts | 3s"})
    table.move(ANN, ToWork("6h", "snatch", 0))
    assert table.views[None].seats[0].left == 12
    table.move(ANN, Undo())
    assert table.views[None].seats[0].left == 13
    assert table.views[ANN].mine.snatch == "6h"


def test_a_run_moves_where_its_first_card_fits_and_nowhere_else() -> None:
    seats = {ANN: "2c 2s | 9d,8s,7h,6c 8c Kd Ks | 3s"}
    assert refused(playing(seats), ANN, ToWork("6c", "work", 1, work=0)).code == "no_fit"
    table = playing(seats)
    table.move(ANN, ToWork("7h", "work", 1, work=0))
    assert table.views[ANN].mine.work[:2] == [["9d", "8s"], ["8c", "7h", "6c"]]


def test_stuck_position_and_each_thing_that_frees_it() -> None:
    def stuck(snatch: str = "8s", work: str = "Ks Js Jc 6s", rest: str = "3s 4c") -> bool:
        state = position({ANN: f"{snatch} 2h | {work} | {rest}"})
        return is_stuck(state.own[ANN], state.middle.fits)

    assert stuck()
    assert not stuck(rest="3s 4c Ah")
    assert not stuck(rest="3s 4c Qh")
    assert not stuck(work="Ks Js Jc -")
    assert not stuck(snatch="5d")


def test_everyone_stuck_turns_every_snatch_top_to_the_bottom() -> None:
    table = playing({ANN: "8s 3d Qc | Ks Js Jc 6s | 3s 4c", BO: "5s | Ks Js Jc 6s | 3s 4c"})
    table.wait(STUCK_MS)
    assert [encode(reversed(table.state.own[seat].snatch)) for seat in (ANN, BO)] == ["3dQc8s", "5s"]
    assert table.views[None].turns == 1


def test_the_last_snatch_card_onto_a_work_pile_ends_the_hand() -> None:
    table = playing({ANN: "9d | Ts 9s 9c Tc | 3s", BO: IDLE})
    ended = table.move(ANN, ToWork("9d", "snatch", 0))[-1]
    assert isinstance(ended, HandEnded)
    assert ended.result.by == ANN
    assert ended.result.scores == [Score(ANN, 0, 0), Score(BO, 1, 1)]


def test_to_25_is_over_when_a_total_reaches_it_and_the_lowest_wins() -> None:
    seats = {
        0: "9d | Ts 9s 9c Tc | 3s",
        1: "2c " * 4 + "| 7s 9s 9c Ts | 3s",
        2: "2c " * 7 + "| 7s 9s 9c Ts | 3s",
        3: "2c " * 13 + "| 7s 9s 9c Ts | 3s",
    }
    table = playing(seats, length="to25")
    table.state.totals = {0: 20, 1: 22, 2: 10, 3: 12}
    table.move(0, ToWork("9d", "snatch", 0))
    outcome = table.game.outcome(table.state)
    assert outcome is not None
    assert {line.seat: line.total for line in outcome.places} == {0: 20, 1: 26, 2: 17, 3: 25}
    assert outcome.winners == [2]
    assert outcome == standings({0: 20, 1: 26, 2: 17, 3: 25})


def test_who_leaves_with_six_in_hand_and_misses_the_next_hand_gets_six_and_thirteen() -> None:
    table = playing({ANN: "9d | Ts 9s 9c Tc | 3s", BO: "2c " * 6 + "| 7s 9s 9c Ts | 3s"}, length="to50")
    table.attend([ANN])
    table.move(ANN, ToWork("9d", "snatch", 0))
    assert table.state.result is not None
    assert Score(BO, 6, 6) in table.state.result.scores
    table.dealt(table.game.deal(table.seats, table.options, Random(3)))
    table.attend([ANN])
    table.state.own[ANN] = own("9d | Ts 9s 9c Tc | 3s")
    table.move(ANN, ToWork("9d", "snatch", 0))
    assert Score(BO, 13, 19) in table.state.result.scores
