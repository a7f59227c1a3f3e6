"""The picture that a room's players share: as exact as one page's, whoever hears what first."""

from __future__ import annotations

import msgspec

from games.snatch_solitaire.messages import Mine, Placed, SeatCount, View
from simulate.load_picture import Picture
from wire import client_out as out

ANN, BO = object(), object()


def snapshot(seq: int, table: str = "t1") -> out.Snapshot:
    members = [out.Member(0, "p1", "Ann", 0, playing=True), out.Member(1, "p2", "Bo", 1, playing=True)]
    view = View(1, [SeatCount(0, 13), SeatCount(1, 13)], [], mine=Mine("9d", [[], [], [], []], 35, []))
    shown = out.TableView(table, "snatch_solitaire", "live", 0, members, {})
    sent = out.Snapshot(1, "BCDFG", 0, seq, shown, msgspec.to_builtins(view), out.You(0, False))
    return msgspec.json.decode(msgspec.json.encode(sent), type=out.Snapshot)


def placed(n: int, seq: int, card: str, pile: int, seat: int = 0, id: int | None = None) -> bytes:
    event = Placed(seat, card, pile, "snatch", 12)
    return msgspec.json.encode(out.TableFrame(n, seq, [out.Step([event], seat, id)]))


def a_picture(due: dict[tuple[int, int], float] | None = None) -> Picture:
    known = due or {}
    return Picture(lambda seat, id: known.get((seat, id)), lambda: None)


def tops(picture: Picture) -> list[list[str]]:
    assert picture.view is not None
    return [[card.card for card in pile.top] for pile in picture.view.middle]


def test_a_frame_that_all_hear_is_taken_in_once() -> None:
    picture = a_picture()
    picture.snapshot(snapshot(10), ANN, alone=True)
    ace, two = placed(5, 11, "Ah", 1), placed(6, 12, "2h", 1)
    first = picture.table_frame(ace, ANN)
    assert picture.table_frame(ace, BO) is first
    picture.table_frame(two, BO)
    picture.table_frame(two, ANN)
    assert tops(picture) == [["Ah", "2h"]]
    assert picture.screen.seq == 12


def test_after_a_snapshot_an_older_frame_of_anothers_socket_changes_nothing() -> None:
    picture = a_picture()
    picture.snapshot(snapshot(10), ANN, alone=True)
    late = placed(3, 9, "Ad", 7)
    assert picture.table_frame(late, BO) is not None
    assert tops(picture) == []
    picture.table_frame(placed(5, 11, "Ah", 1), ANN)
    picture.table_frame(late, BO)
    assert tops(picture) == [["Ah"]]


def test_a_frame_that_another_heard_first_waits_for_the_seat_whose_snapshot_it_follows() -> None:
    picture = a_picture()
    picture.snapshot(snapshot(10), ANN, alone=True)
    ace = placed(5, 11, "Ah", 1)
    picture.table_frame(ace, BO)
    assert tops(picture) == []
    picture.table_frame(ace, ANN)
    assert tops(picture) == [["Ah"]]


def test_a_snapshot_that_is_ahead_takes_its_place_and_one_that_is_behind_does_not() -> None:
    picture = a_picture()
    picture.snapshot(snapshot(10), ANN, alone=True)
    picture.table_frame(placed(5, 11, "Ah", 1), ANN)
    picture.snapshot(snapshot(10), BO, alone=False)
    assert tops(picture) == [["Ah"]]
    picture.snapshot(snapshot(20), BO, alone=False)
    assert tops(picture) == []
    assert picture.screen.seq == 20


def test_the_shared_picture_holds_no_cards_of_a_seat_and_the_seat_gets_its_own() -> None:
    picture = a_picture()
    view = picture.snapshot(snapshot(10), ANN, alone=True)
    assert view is not None
    assert view.mine is not None
    assert picture.view is not None
    assert picture.view.mine is None


def test_a_frame_says_when_the_moves_it_answers_were_due() -> None:
    picture = a_picture({(1, 17): 4.5})
    picture.snapshot(snapshot(10), ANN, alone=True)
    heard = picture.table_frame(placed(5, 11, "Ah", 1, seat=1, id=17), ANN)
    assert heard is not None
    assert heard.moves == [(1, 17, 4.5, True)]


def test_what_is_no_table_frame_is_left_to_the_seat() -> None:
    assert a_picture().table_frame(b'{"t":"pong","at":1}', ANN) is None
