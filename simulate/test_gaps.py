"""The gap: what a room's players waited, and what they didn't."""

from __future__ import annotations

from simulate.gaps import RoomGaps, percentile


def test_a_room_in_which_nobody_waits_has_no_gap() -> None:
    gaps = RoomGaps()
    assert gaps.open_for(100.0) == 0.0
    gaps.made(10.0)
    gaps.answered(10.25)
    assert gaps.open_for(500.0) == 0.0
    assert gaps.take(500.0) == 0.25


def test_an_answer_to_one_player_ends_the_rooms_gap_and_begins_the_next() -> None:
    gaps = RoomGaps()
    gaps.made(0.0)
    gaps.made(1.0)
    gaps.answered(1.5)  # the second player's: the first still waits
    assert gaps.open_for(2.0) == 0.5
    gaps.answered(4.0)
    assert gaps.take(9.0) == 2.5


def test_more_moves_in_a_gap_do_not_begin_it_anew() -> None:
    gaps = RoomGaps()
    gaps.made(0.0)
    gaps.made(3.0)
    gaps.made(4.0)
    gaps.answered(5.0)
    gaps.answered(5.0)
    gaps.answered(5.0)
    assert gaps.take(6.0) == 5.0
    assert gaps.waiting == 0


def test_a_move_given_up_is_no_answer() -> None:
    gaps = RoomGaps()
    gaps.made(0.0)
    gaps.made(8.0)
    gaps.dropped(11.0)  # its page gave the first up, the other waits on
    assert gaps.open_for(12.0) == 12.0
    gaps.dropped(20.0)
    assert gaps.open_for(30.0) == 0.0
    assert gaps.take(30.0) == 20.0


def test_a_gap_that_still_lasts_counts_for_what_it_is() -> None:
    gaps = RoomGaps()
    gaps.made(0.0)
    assert gaps.take(7.0) == 7.0
    gaps.answered(9.0)
    assert gaps.take(9.0) == 9.0
    assert gaps.take(9.0) == 0.0


def test_a_room_is_back_when_the_gap_ends_that_the_fault_made() -> None:
    gaps = RoomGaps()
    for made, answered in ((0.0, 0.3), (10.5, 12.25), (18.0, 18.5)):
        gaps.made(made)
        gaps.answered(answered)
    assert gaps.back_after(10.0) == 2.25
    assert gaps.back_after(11.0) == 1.25, "it lasted already"
    assert gaps.back_after(14.0) is None, "what comes so late is something else's"


def test_short_gaps_are_play() -> None:
    gaps = RoomGaps()
    gaps.made(1.0)
    gaps.answered(1.125)
    assert gaps.back_after(0.5) is None


def test_percentiles_are_values_that_were_measured() -> None:
    hundred = [float(n) for n in range(1, 101)]
    assert percentile(hundred, 99) == 99.0
    assert percentile(hundred, 50) == 50.0
    assert percentile([3.0], 99) == 3.0
    assert percentile([], 99) == 0.0
