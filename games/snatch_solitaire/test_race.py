"""The race for the middle: arrival decides, and a refusal says who came first."""

from __future__ import annotations

from random import Random

import pytest

from games.contract import Refusal
from games.playing import Playing
from games.snatch_solitaire.messages import ToMiddle, ToWork, Turn
from games.snatch_solitaire.positions import playing

ANN, BO, CY = 0, 1, 2


def refusal(table: Playing, seat: int, card: str, basis: int, pile: int | None = None) -> Refusal:
    """The refusal of a snatch top, which changed nothing."""
    before = table.game.dump(table.state)
    with pytest.raises(Refusal) as caught:
        table.move(seat, ToMiddle(card, "snatch", pile=pile), basis)
    assert table.game.dump(table.state) == before
    return caught.value


def tops(table: Playing) -> list[str]:
    return [pile.top[-1].card for pile in table.views[None].middle]


def test_two_cards_in_the_same_instant_for_two_spots_both_stand() -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s", BO: "5s 2c | 7s 9s 9c Ts | 3d"}, middle=["4h", "4s"])
    basis = table.state.seq
    table.move(ANN, ToMiddle("5h", "snatch"), basis)
    table.move(BO, ToMiddle("5s", "snatch"), basis)
    assert tops(table) == ["5h", "5s"]


def test_of_two_cards_for_one_spot_the_first_stands_and_the_other_is_told_by_whom() -> None:
    seats = {ANN: "5h 2c | 7s 9s 9c Ts | 3s", BO: "5h 2c | 7s 9s 9c Ts | 3d"}
    for first, second in ((ANN, BO), (BO, ANN)):
        table = playing(seats, middle=["4h"])
        basis = table.state.seq
        table.move(first, ToMiddle("5h", "snatch"), basis)
        assert refusal(table, second, "5h", basis).by == first


def test_two_equal_cards_find_two_piles_while_there_are_two() -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s", BO: "5h 2c | 7s 9s 9c Ts | 3d"}, middle=["4h", "4h"])
    basis = table.state.seq
    table.move(ANN, ToMiddle("5h", "snatch", pile=1), basis)
    table.move(BO, ToMiddle("5h", "snatch", pile=1), basis)
    assert tops(table) == ["5h", "5h"]


def test_a_refused_card_never_comes_back_by_itself_when_it_would_fit_a_moment_later() -> None:
    table = playing({ANN: "4h 2c | 7s 9s 9c Ts | 3s", BO: "5h 2c | 7s 9s 9c Ts | 3d"}, middle=["3h"])
    assert refusal(table, BO, "5h", table.state.seq).code == "no_pile"
    table.move(ANN, ToMiddle("4h", "snatch"))
    table.wait(60_000)
    assert tops(table) == ["4h"]
    assert table.views[BO].mine.snatch == "5h"
    table.move(BO, ToMiddle("5h", "snatch"))
    assert tops(table) == ["5h"]


def test_two_flicks_one_after_the_other_keep_their_order() -> None:
    table = playing({ANN: "5h 6h 2c | 7s 9s 9c Ts | 3s"}, middle=["4h"])
    basis = table.state.seq
    table.move(ANN, ToMiddle("5h", "snatch"), basis)
    table.move(ANN, ToMiddle("6h", "snatch"), basis)
    assert tops(table) == ["6h"]


def test_two_aces_for_the_same_empty_place_make_two_piles() -> None:
    table = playing({ANN: "Ah 2c | 7s 9s 9c Ts | 3s", BO: "Ah 2c | 7s 9s 9c Ts | 3d"})
    basis = table.state.seq
    table.move(ANN, ToMiddle("Ah", "snatch"), basis)
    table.move(BO, ToMiddle("Ah", "snatch"), basis)
    assert tops(table) == ["Ah", "Ah"]
    assert [pile.top[0].seat for pile in table.views[None].middle] == [ANN, BO]


def test_an_ace_dropped_on_a_pile_opens_its_own() -> None:
    table = playing({ANN: "As 2c | 7s 9s 9c Ts | 3s"}, middle=["Ks"])
    assert table.views[None].middle == []
    table.move(ANN, ToMiddle("As", "snatch", pile=1))
    assert [pile.id for pile in table.views[None].middle] == [2]


def test_double_tap_on_a_snatch_top_plays_it_once_and_leaves_the_next() -> None:
    table = playing({ANN: "4h 5h 2c | 7s 9s 9c Ts | 3s"}, middle=["3h"])
    basis = table.state.seq
    table.move(ANN, ToMiddle("4h", "snatch"), basis)
    assert refusal(table, ANN, "4h", basis).code == "stale"
    assert table.views[ANN].mine.snatch == "5h"
    assert tops(table) == ["4h"]


@pytest.mark.parametrize("card", ["5h", "2c", "Qd", "9s", "3s"])
def test_a_covered_card_and_one_that_is_not_there_are_refused_alike(card: str) -> None:
    """Nothing tells a covered card of the own snatch pile from one that lies elsewhere."""
    table = playing({ANN: "4h 5h 2c | 7s 9s 9c Ts | 3s"}, middle=["4h", "Ac", "Jd", "8s", "2s"])
    no = refusal(table, ANN, card, table.state.seq)
    assert (no.code, no.by, no.pile) == ("stale", None, None)


def test_a_card_under_others_of_a_work_pile_is_stale_for_the_middle() -> None:
    table = playing({ANN: "Kd 2c | 5h,4s 9s 9c Ts | 3s"}, middle=["4h"])
    with pytest.raises(Refusal, match="stale"):
        table.move(ANN, ToMiddle("5h", "work", work=0))


def test_the_named_pile_is_blamed_before_the_one_taken_last() -> None:
    seats = {
        ANN: "5h 2c | 7s 9s 9c Ts | 3s",
        BO: "5h 2c | 7s 9s 9c Ts | 3d",
        CY: "5h 2c | 7s 9s 9c Ts | 3d",
    }
    for named, by in ((1, ANN), (2, BO), (None, BO), (77, BO)):
        table = playing(seats, middle=["4h", "4h"])
        basis = table.state.seq
        table.move(ANN, ToMiddle("5h", "snatch", pile=1), basis)
        table.move(BO, ToMiddle("5h", "snatch", pile=2), basis)
        no = refusal(table, CY, "5h", basis, pile=named)
        assert (no.code, no.by) == ("snatched", by)


def test_a_spot_that_came_and_went_after_the_basis_was_snatched_too() -> None:
    table = playing({ANN: "4h 5h 2c | 7s 9s 9c Ts | 3s", BO: "5h 2c | 7s 9s 9c Ts | 3d"}, middle=["3h"])
    basis = table.state.seq
    table.move(ANN, ToMiddle("4h", "snatch"))
    table.move(ANN, ToMiddle("5h", "snatch"))
    assert refusal(table, BO, "5h", basis).by == ANN


def test_a_spot_taken_before_the_basis_is_no_news_to_its_sender() -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s", BO: "5h 2c | 7s 9s 9c Ts | 3d"}, middle=["4h"])
    basis = table.state.seq
    table.move(ANN, ToMiddle("5h", "snatch"))
    taken_at = table.state.middle.piles[1].seqs[-1]
    assert basis < taken_at
    assert refusal(table, BO, "5h", taken_at).code == "no_pile"
    assert refusal(table, BO, "5h", taken_at - 1).code == "snatched"


def test_a_basis_that_nobody_can_have_seen_harms_nothing() -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s", BO: "5h 6h | 7s 9s 9c Ts | 3d"}, middle=["4h"])
    table.move(ANN, ToMiddle("5h", "snatch"), basis=2**60)
    assert refusal(table, BO, "5h", 2**60).code == "no_pile"
    assert refusal(table, BO, "5h", -5).code == "snatched"


def test_a_finished_pile_is_remembered_for_who_snatched_its_king() -> None:
    table = playing({ANN: "Kh 2c | 7s 9s 9c Ts | 3s", BO: "Kh 2c | 7s 9s 9c Ts | 3d"}, middle=["Qh"])
    basis = table.state.seq
    placed = table.move(ANN, ToMiddle("Kh", "snatch"))[0]
    assert [event.done for event in table.told[None] if hasattr(event, "done")] == [True]
    assert table.views[None].middle == []
    no = refusal(table, BO, "Kh", basis)
    assert (no.code, no.by, no.pile) == ("snatched", ANN, placed.pile)


def test_the_table_remembers_only_this_hand() -> None:
    table = playing({ANN: "5h | 7s 9s 9c Ts | 3s", BO: "5h 2c | 7s 9s 9c Ts | 3d"}, middle=["4h"], length="to50")
    last = table.state.middle.next_id
    table.move(ANN, ToMiddle("5h", "snatch"))
    table.dealt(table.game.deal(table.seats, table.options, Random(1)))
    assert table.state.middle.piles == {}
    assert table.state.middle.next_id == last


def test_a_card_may_go_from_every_source_and_none_it_does_not_show() -> None:
    seats = {ANN: "4h 2c | 4s 9s 9c Ts | 4d"}
    middle = ["3h", "3s", "3d"]
    table = playing(seats, middle)
    table.move(ANN, ToMiddle("4h", "snatch"))
    table.move(ANN, ToMiddle("4s", "work", work=0))
    with pytest.raises(Refusal, match="stale"):
        table.move(ANN, ToMiddle("4d", "turned"))
    table.move(ANN, Turn())
    table.move(ANN, ToMiddle("4d", "turned"))
    assert tops(table) == ["4h", "4s", "4d"]
    assert [event.src for event in table.told[None] if hasattr(event, "src")] == ["snatch", "work", "turned"]


@pytest.mark.parametrize(
    "move",
    [
        ToMiddle("5x", "snatch"),
        ToMiddle("", "snatch"),
        ToMiddle("5h ", "snatch"),
        ToMiddle("5h", "work"),
        ToMiddle("5h", "work", work=4),
        ToMiddle("5h", "work", work=-1),
        ToMiddle("5h", "snatch", work=0),
        ToWork("5h", "snatch", to=4),
        ToWork("5h", "snatch", to=-1),
        ToWork("7s", "work", to=0, work=0),
        ToWork("7s", "work", to=1),
        ToWork("♥5", "turned", to=1),
    ],
)
def test_what_is_no_move_is_refused(move: ToMiddle | ToWork) -> None:
    table = playing({ANN: "5h 2c | 7s 9s 9c Ts | 3s"}, middle=["4h"])
    before = table.game.dump(table.state)
    with pytest.raises(Refusal, match="bad_move"):
        table.move(ANN, move)
    assert table.game.dump(table.state) == before
