"""The table: each move is decided once and answered once, whatever is sent again, late, broken or by another tab."""

from __future__ import annotations

import pytest

from servicekit.seat import MAX_UNANSWERED
from services.engine.table import COUNTDOWN_MS, TABS_KEPT
from tests.services.engine_table import Phone, Play


def test_a_move_sent_again_gets_the_same_answer_and_no_second_effect() -> None:
    play = Play().start()
    ann = play.phones[0]
    taken, refused = ann.command({"t": "take"}), ann.command({"t": "snatch"})
    play.do(taken, refused)
    play.do(taken, refused)
    assert play.table.cards.left[0] == 2
    assert [(r.kind, r.id) for r in ann.replies] == [(3, taken.command.id), (3, refused.command.id)]
    assert b'"no"' not in ann.replies[0].body
    assert b'"snatched"' in ann.replies[1].body


def test_the_answers_of_all_moves_that_a_gateway_may_ask_for_again_are_kept() -> None:
    play = Play().start()
    ann = play.phones[0]
    first = ann.last + 1
    for turn in range(MAX_UNANSWERED):
        ann.move("snatch" if turn % 2 == 0 else "peek")
    play.do(*(ann.command({"t": "snatch"}, id=id) for id in (first, first + 1, ann.last - 1, ann.last)))
    assert [b'"snatched"' in r.body for r in ann.replies] == [True, False, True, False]
    assert len(play.table.state.members[0].answers) <= MAX_UNANSWERED


def test_a_tab_that_comes_back_after_another_goes_on_with_its_ids_and_makes_no_move_twice() -> None:
    play = Play().start()
    old = play.phones[0]
    taken, refused = old.command({"t": "take"}), old.command({"t": "snatch"})
    play.do(taken, refused)  # its page heard no answer
    new = Phone(play, "p0", 999, "Ann").attach()
    assert new.last == 0
    assert new.move("take") is None
    old.attach()
    assert old.last == refused.command.id
    again = old.command({"t": "take"}, id=taken.command.id), old.command({"t": "snatch"}, id=refused.command.id)
    play.do(*again)
    assert [b'"no"' in r.body for r in old.replies] == [False, True]
    assert play.table.cards.left[0] == 1
    new.attach()
    assert new.last == 1


def test_while_an_engine_of_release_0_1_0_lives_a_tab_that_comes_back_counts_from_1_as_it_would_there() -> None:
    play = Play()
    play.writes = 1
    old = play.start().phones[0]
    assert old.move("take") is None
    Phone(play, "p0", 999, "Ann").attach()
    assert old.attach().last == 0
    assert old.move("take") is None
    assert play.table.cards.left[0] == 1


def test_of_tabs_that_are_gone_for_good_a_few_are_remembered() -> None:
    play = Play().start()
    for tab in range(200, 200 + 3 * TABS_KEPT):
        phone = Phone(play, "p0", tab, "Ann").attach()
        phone.move("peek")
    assert len(play.table.state.members[0].former) == TABS_KEPT


def test_a_gap_in_ids_asks_for_the_missing_one_and_decides_nothing() -> None:
    play = Play().start()
    ann = play.phones[0]
    play.do(ann.command({"t": "take"}, id=ann.last + 5))
    assert [(r.kind, r.id) for r in ann.replies] == [(2, ann.last + 1)]
    assert play.table.cards.left[0] == 3


def test_two_moves_that_arrive_together_keep_their_order() -> None:
    play = Play().start()
    ann, bo = play.phones
    play.do(ann.command({"t": "take"}), bo.command({"t": "take"}), ann.command({"t": "take"}))
    steps = [(e["t"], e["seat"]) for e in play.told if e["t"] == "took"]
    assert steps == [("took", 0), ("took", 1), ("took", 0)]


def test_every_move_is_answered_in_exactly_one_prefix_with_its_own_session() -> None:
    play = Play().start()
    ann = play.phones[0]
    play.answered.clear()
    play.do(*[ann.command({"t": t}) for t in ("take", "peek", "snatch", "pause", "resume", "resume")])
    ids = sorted(a.id for a in play.answered)
    assert ids == list(range(ann.last - 5, ann.last + 1))
    assert {(a.seat, a.session) for a in play.answered} == {(0, ann.session)}


def test_the_answers_of_an_old_tab_are_not_taken_for_the_new_one_s() -> None:
    play = Play().start()
    old = play.phones[0]
    play.answered.clear()
    new = Phone(play, "p0", 999, "Ann")
    play.do(old.command({"t": "take"}))
    new.attach()
    assert [(a.session, a.id) for a in play.answered] == [(old.session, old.last)]
    assert new.last == 0


def test_what_only_a_seat_may_see_goes_to_that_seat_alone() -> None:
    play = Play().start()
    ann = play.phones[0]
    ann.move("peek")
    secret = play.table.cards.secrets[0]
    assert play.private[0][-1] == {"t": "peeked", "seat": 0, "secret": secret}
    assert "peeked" not in [e["t"] for e in play.told]
    assert 1 not in play.private
    assert ann.view()["view"]["secret"] == secret
    assert "secret" not in play.tv()["view"]


def test_a_snatched_spot_flashes_on_every_screen_but_is_answered_once() -> None:
    play = Play().start()
    play.frames.clear()
    assert play.phones[1].move("snatch") == "snatched"
    bodies = {subject: frame.body for subject, frame in play.frames}
    assert b'"pile":7' in bodies["f.BCDFG.table"]
    assert b'"id"' not in bodies["f.BCDFG.table"]
    assert [len(frame.answered) for _, frame in play.frames] == [0, 1]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 4000,
        b"\xff\xfe",
        b'{"t":"move","id":ID,"basis":0}',
        b'{"t":"move","id":ID,"basis":0,"m":{"t":"nothing"}}',
        b'{"t":"move","id":ID,"basis":0,"m":{"t":"take","extra":1}}',
        b'{"t":"move","id":ID,"basis":-1,"m":{"t":"take"}}',
        b'{"t":"move","id":ID,"basis":0,"m":5}',
        b'{"t":"move","id":9999,"basis":0,"m":{"t":"take"}}',
        b'{"t":"move","id":ID,"basis":0,"m":{"t":"take"}}' + b" " * 5000,
    ],
)
def test_a_broken_message_is_told_so_uses_no_id_and_harms_nothing(body: bytes) -> None:
    play = Play().start()
    ann = play.phones[0]
    id = ann.last + 1
    play.do(ann.command(body.replace(b"ID", str(id).encode()), id=id))
    assert [(r.kind, r.id) for r in ann.replies] == [(6, id)]
    assert b'"bad_message"' in ann.replies[0].body
    assert play.table.cards.left[0] == 3
    play.do(ann.command({"t": "take"}, id=id))
    assert play.answer(0, id) is None


def test_a_fault_in_the_game_refuses_that_move_harms_nothing_else_and_is_told_with_room_and_seat() -> None:
    play = Play().start()
    assert play.phones[0].move("burst") == "bad_move"
    assert [(type(f.error), f.room, f.seat) for f in play.faults] == [(ZeroDivisionError, play.table.state.room, 0)]
    assert play.phones[0].move("take") is None


def test_commands_for_unknown_seats_and_sessions_of_the_future_find_no_table() -> None:
    play = Play().start()
    stranger = Phone(play, "p9", 1, "Eve")
    stranger.seat, stranger.session = 40, 1
    play.do(stranger.command({"t": "take"}))
    stranger.seat, stranger.session = 0, 77
    play.do(stranger.command({"t": "take"}))
    assert [r.kind for r in stranger.replies] == [5, 5]


def test_a_move_made_in_an_earlier_hand_or_game_is_not_played_in_this_one() -> None:
    play = Play().start(hands=2)
    host = play.phones[0]
    seen = play.table.seq
    host.move("end_it")
    host.move("next_hand")
    play.deal()
    play.wait(COUNTDOWN_MS)
    late, other_game = host.command({"t": "take"}, basis=seen), host.command({"t": "take"}, basis=seen + 1000)
    now = host.command({"t": "take"}, basis=play.table.seq)
    play.do(late, other_game, now)
    assert [play.answer(0, i.command.id) for i in (late, other_game, now)] == ["stale", "stale", None]
