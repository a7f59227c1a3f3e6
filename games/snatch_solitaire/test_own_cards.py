"""Work piles, the stock and undo."""

from __future__ import annotations

import pytest

from games.contract import Refusal
from games.playing import Playing
from games.snatch_solitaire.messages import Mine, ToMiddle, ToWork, Turn, Undo
from games.snatch_solitaire.positions import playing

ANN, BO = 0, 1


def mine(table: Playing) -> Mine:
    seen = table.views[ANN].mine
    assert isinstance(seen, Mine)
    return seen


def refused(table: Playing, move: object) -> str:
    before = table.game.dump(table.state)
    with pytest.raises(Refusal) as caught:
        table.move(ANN, move)
    assert table.game.dump(table.state) == before
    return caught.value.code


def test_triple_tap_on_a_runs_head_moves_the_run_once() -> None:
    table = playing({ANN: "2c 2s | 9d,8s,7h,6c 8c Kd Ks | 3s"})
    tap = ToWork("7h", "work", 1, work=0)
    table.move(ANN, tap)
    assert refused(table, tap) == "stale"
    assert refused(table, tap) == "stale"
    assert mine(table).work == [["9d", "8s"], ["8c", "7h", "6c"], ["Kd"], ["Ks"]]


def test_a_part_of_a_run_moves_on_after_the_runs_move_was_undone() -> None:
    table = playing({ANN: "2c 2s | 9d,8s,7h,6c,5d,4s 8c 6s Ks | 3s"})
    table.move(ANN, ToWork("7h", "work", 1, work=0))
    table.move(ANN, Undo())
    assert mine(table).work[0] == ["9d", "8s", "7h", "6c", "5d", "4s"]
    table.move(ANN, ToWork("5d", "work", 2, work=0))
    assert mine(table).work[:3] == [["9d", "8s", "7h", "6c"], ["8c"], ["6s", "5d", "4s"]]


def test_a_card_that_was_turned_and_undone_cannot_be_played() -> None:
    table = playing({ANN: "Kd 2s | 9d 8c 6s Ks | 5h"}, middle=["4h"])
    table.move(ANN, Turn())
    assert mine(table).turned == ["5h"]
    table.move(ANN, Undo())
    assert refused(table, ToMiddle("5h", "turned")) == "stale"
    assert refused(table, ToWork("5h", "turned", 2)) == "stale"


def test_a_whole_pile_moves_and_leaves_an_empty_one() -> None:
    table = playing({ANN: "2c 2s | 7h,6c 8c Kd Ks | 3s"})
    table.move(ANN, ToWork("7h", "work", 1, work=0))
    assert mine(table).work[:2] == [[], ["8c", "7h", "6c"]]


def test_any_run_may_start_an_empty_pile_even_a_whole_one() -> None:
    table = playing({ANN: "2c 2s | 7h,6c - Kd Ks | 3s"})
    table.move(ANN, ToWork("6c", "work", 1, work=0))
    assert mine(table).work[:2] == [["7h"], ["6c"]]
    table.move(ANN, Undo())
    table.move(ANN, ToWork("7h", "work", 1, work=0))
    assert mine(table).work[:2] == [[], ["7h", "6c"]]


def test_only_the_top_of_the_turned_pile_goes_to_work() -> None:
    table = playing({ANN: "2c 2s | Th - Kd Ks | / 9s 5d"})
    assert refused(table, ToWork("9s", "turned", 0)) == "stale"
    table.move(ANN, ToWork("5d", "turned", 1))
    table.move(ANN, ToWork("9s", "turned", 0))
    assert mine(table).work[:2] == [["Th", "9s"], ["5d"]]
    assert (mine(table).stock, mine(table).turned) == (0, [])


def test_with_both_empty_the_stock_does_nothing_and_undo_stays() -> None:
    table = playing({ANN: "2c 2s | Th - Kd Ks | / 9s"})
    table.move(ANN, ToWork("9s", "turned", 0))
    assert refused(table, Turn()) == "nothing_to_turn"
    table.move(ANN, Undo())
    assert mine(table).turned == ["9s"]


def test_undo_of_a_turn_over_shows_the_whole_turned_pile_again() -> None:
    table = playing({ANN: "2c 2s | Th - Kd Ks | / 9s 5d 3c"})
    table.move(ANN, Turn())
    assert (mine(table).stock, mine(table).turned) == (3, [])
    table.move(ANN, Undo())
    assert (mine(table).stock, mine(table).turned) == (0, ["9s", "5d", "3c"])


def test_undo_puts_a_turned_card_back_between_its_neighbours() -> None:
    table = playing({ANN: "2c 2s | Th - Kd Ks | 4c 6d / 5d 9s"})
    table.move(ANN, ToWork("9s", "turned", 0))
    table.move(ANN, Undo())
    assert (mine(table).stock, mine(table).turned) == (2, ["5d", "9s"])
    table.move(ANN, Turn())
    assert mine(table).turned == ["5d", "9s", "4c"]


def test_each_own_cards_move_earns_the_undo_again() -> None:
    table = playing({ANN: "2c 2s | Th - Kd Ks | 4c 6d"})
    for _ in range(3):
        table.move(ANN, Turn())
        table.move(ANN, Undo())
        assert refused(table, Undo()) == "nothing_to_undo"


def test_undo_is_emptied_by_an_own_card_in_the_middle_and_not_by_anothers() -> None:
    table = playing({ANN: "5h 2s 3c | Th - Kd Ks | 4c 6d", BO: "5s 2s | Th Tc Kd Ks | 4c"}, middle=["4h", "4s"])
    table.move(ANN, Turn())
    table.move(BO, ToMiddle("5s", "snatch"))
    assert mine(table).undo
    table.move(ANN, ToMiddle("5h", "snatch"))
    assert not mine(table).undo
    assert refused(table, Undo()) == "nothing_to_undo"


def test_a_card_that_comes_back_leaves_the_undo_as_it_was() -> None:
    table = playing({ANN: "5h 2s | Th - Kd Ks | 4c 6d"})
    table.move(ANN, Turn())
    assert refused(table, ToMiddle("5h", "snatch")) == "no_pile"
    table.move(ANN, Undo())
    assert mine(table).stock == 2


def test_undo_cannot_revive_a_finished_hand() -> None:
    table = playing({ANN: "9d | Th Tc Kd Ks | 4c 6d"})
    table.move(ANN, ToWork("9d", "snatch", 1))
    assert not mine(table).undo
    assert table.game.view(table.state, ANN) == table.views[ANN]
    for move in (Undo(), Turn(), ToWork("9d", "work", 0, work=1)):
        assert refused(table, move) == "not_live"


def test_undo_of_a_move_that_emptied_a_pile_and_of_one_that_filled_it() -> None:
    table = playing({ANN: "2c 2s | 7h,6c 8c Kd Ks | 3s"})
    table.move(ANN, ToWork("7h", "work", 1, work=0))
    table.move(ANN, ToWork("2c", "snatch", 0))
    table.move(ANN, Undo())
    assert (mine(table).work[0], mine(table).snatch) == ([], "2c")


@pytest.mark.parametrize("card", ["8s", "7h", "6c", "9d"])
def test_a_run_from_a_card_that_is_not_in_the_named_pile_is_stale(card: str) -> None:
    table = playing({ANN: "2c 2s | 9d,8s,7h,6c - Kd Ks | 3s"})
    assert refused(table, ToWork(card, "work", 1, work=2)) == "stale"
