"""The table: pause, dropping out and coming back, and who the host is, as the rules have them."""

from __future__ import annotations

from typing import Any

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine.items import Call, CallRefused, CommandItem
from services.engine.table import COUNTDOWN_MS, EXPIRY_MS, GRACE_MS
from tests.services.engine_table import ROOM, Later, Phone, Play

# ---- pause ----


def test_any_seat_pauses_any_resumes_and_nothing_moves_meanwhile() -> None:
    play = Play().start()
    ann, bo = play.phones
    assert bo.move("pause") is None
    assert play.shown("paused") == [{"t": "paused", "by": 1}]
    assert ann.move("take") == "paused"
    assert bo.move("peek") == "paused"
    assert ann.view()["table"]["paused_by"] == 1
    assert ann.move("resume") is None
    assert play.shown("resumed") == [{"t": "resumed", "by": 0}]
    assert ann.move("take") is None


def test_a_pause_keeps_what_the_game_s_clock_had_left() -> None:
    play = Play().start()
    play.wait(700)
    play.phones[0].move("pause")
    play.wait(60_000)
    assert play.shown("rang") == []
    play.phones[0].move("resume")
    play.wait(200)
    assert play.shown("rang") == []
    play.wait(150)
    assert play.shown("rang") == [{"t": "rang", "times": 1}]


def test_pause_and_resume_never_toggle() -> None:
    play = Play().start()
    ann, bo = play.phones
    play.do(ann.command({"t": "pause"}), bo.command({"t": "pause"}))
    assert play.shown("paused") == [{"t": "paused", "by": 0}]
    play.do(ann.command({"t": "resume"}), bo.command({"t": "resume"}))
    assert len(play.shown("resumed")) == 1
    assert not play.table.paused


def test_pausing_is_for_a_live_hand_only() -> None:
    play = Play().gather()
    assert play.phones[0].move("pause") == "not_live"


# ---- dropping out, coming back ----


def test_a_socket_that_drops_for_3_s_keeps_the_seat_and_nobody_is_told_that_it_left() -> None:
    play = Play().start()
    bo = play.phones[1]
    bo.move("take")
    old = bo.gone()
    bo.drop()
    assert play.table.cards.present == [0]
    play.wait(3000)
    bo.attach()
    play.do(old)
    assert play.table.cards.present == [0, 1]
    play.wait(GRACE_MS)
    assert play.shown("gone") == []
    assert bo.snapshot["view"]["left"] == {"0": 3, "1": 2}
    assert [e["present"] for e in play.shown("presence") if e["seat"] == 1] == [True, False, True]


def test_the_same_tab_goes_on_with_its_ids_and_another_begins_at_1() -> None:
    play = Play().start()
    bo = play.phones[1]
    bo.move("take")
    bo.move("take")
    assert bo.attach().last == 2
    assert bo.move("pause") is None
    assert Phone(play, "p1", 777, "Bo").attach().last == 0


def test_a_second_tab_takes_over_and_the_first_one_is_told() -> None:
    play = Play().start()
    old = play.phones[1]
    play.frames.clear()
    new = Phone(play, "p1", 777, "Bo").attach()
    greeting = [f for s, f in play.frames if s == "f.BCDFG.seat.1"]
    assert [(a.seat, a.session, a.id) for a in greeting[0].answered] == [(1, new.session, 0)]
    assert new.session > old.session
    play.do(old.command({"t": "take"}), new.command({"t": "take"}))
    assert [r.kind for r in old.replies] == [4]
    assert play.table.cards.left[1] == 2
    play.do(old.gone())
    assert play.table.state.members[1].attached


def test_after_15_s_screens_say_that_a_player_left_and_its_cards_stay() -> None:
    play = Play().start()
    play.phones[1].drop()
    play.wait(GRACE_MS - 5)
    assert play.shown("gone") == []
    play.wait(10)
    assert play.shown("gone") == [{"t": "gone", "seat": 1, "gone": True}]
    assert play.tv()["table"]["members"][1]["left"]
    assert play.table.cards.left[1] == 3
    assert play.news[-1] == {"room": "BCDFG", "table": "t1", "what": "left", "player": "p1"}
    play.phones[1].attach()
    assert play.shown("gone")[-1] == {"t": "gone", "seat": 1, "gone": False}
    assert play.phones[1].move("take") is None
    assert play.news[-1]["what"] == "back"


def test_who_leaves_by_the_cross_is_gone_at_once_and_gets_the_seat_back_on_return() -> None:
    play = Play().start()
    bo = play.phones[1]
    assert bo.move("leave") is None
    assert play.shown("gone") == [{"t": "gone", "seat": 1, "gone": True}]
    assert play.table.cards.present == [0]
    assert bo.move("take") == "watching"
    play.do(bo.gone())
    assert bo.attach().snapshot["you"] == {"seat": 1, "watching": False}
    assert play.table.cards.present == [0, 1]


def test_a_seat_that_left_is_dealt_the_next_hand_too() -> None:
    play = Play(players=3).start(hands=2)
    host = play.phones[0]
    play.phones[2].move("leave")
    play.finish_hand(host)
    host.move("next_hand")
    play.deal()
    play.wait(COUNTDOWN_MS)
    assert play.table.cards.left[2] == 3
    play.finish_hand(host)
    assert play.table.cards.total == {0: 0, 1: 6, 2: 6}


def test_a_leaver_in_the_tick_in_which_a_hand_ends_is_scored_once() -> None:
    play = Play().start()
    ann, bo = play.phones
    bo.move("take")
    bo.move("take")
    play.do(bo.command({"t": "take"}), bo.command({"t": "leave"}), ann.command({"t": "take"}))
    assert play.phase == "scores"
    assert play.table.cards.total == {0: 3, 1: 0}
    assert play.answer(0, ann.last) == "not_live"


def test_whoever_arrives_after_the_deal_watches_and_plays_in_the_next_game() -> None:
    play = Play().start()
    late = Phone(play, "p7", 7, " Late\x00 comer ").attach()
    assert late.snapshot["you"] == {"seat": 2, "watching": True}
    assert play.shown("joined")[0]["member"]["name"] == "Late comer"
    assert late.snapshot["view"] == play.tv()["view"]
    assert late.move("take") == "watching"
    assert late.move("pause") == "watching"
    play.finish_hand(play.phones[0])
    play.phones[0].move("standings")
    play.phones[0].move("new_game")
    play.phones[0].move("deal")
    assert play.table.playing() == [0, 1, 2]


def test_a_refresh_shows_the_same_screen_in_every_phase() -> None:
    play = Play().gather()
    host, bo = play.phones

    def refreshed() -> None:
        before = bo.view()
        bo.drop()
        after = bo.attach().snapshot
        for seen in (before, after):
            del seen["now"]
            seen["table"].pop("countdown", None)
        assert after == before

    refreshed()
    host.move("deal")
    refreshed()
    play.deal()
    refreshed()
    play.wait(COUNTDOWN_MS)
    bo.move("peek")
    refreshed()
    host.move("pause")
    refreshed()
    host.move("resume")
    play.finish_hand(host)
    refreshed()
    host.move("standings")
    refreshed()


def test_a_refresh_in_the_countdown_sees_what_is_left_of_it() -> None:
    play = Play().gather()
    play.phones[0].move("deal")
    play.deal()
    play.wait(1000)
    assert play.phones[1].attach().snapshot["table"]["countdown"] == COUNTDOWN_MS - 1001


# ---- the host ----


def test_the_host_s_cross_sends_everyone_to_the_room() -> None:
    play = Play().start()
    assert play.phones[0].move("leave") is None
    assert play.shown("closed") == [{"t": "closed", "why": "host_left"}]
    assert play.shown("standings") == []
    assert play.phase == "closed"
    assert play.news[-1] == {"room": "BCDFG", "table": "t1", "what": "closed", "player": "p0", "why": "host_left"}
    play.do(play.phones[1].command({"t": "take"}))
    assert play.phones[1].replies[-1].kind == 5


def test_the_host_back_within_15_s_is_still_host() -> None:
    play = Play().start()
    play.phones[0].drop()
    play.wait(GRACE_MS - 5)
    assert play.phones[1].move("take") is None
    play.phones[0].attach()
    play.wait(GRACE_MS)
    assert play.table.state.host == 0
    assert play.phase == "live"


def test_a_host_gone_for_15_s_ends_the_game_and_the_room_passes_to_another_player() -> None:
    play = Play(bots=1, players=3).start()
    late = Phone(play, "p7", 7, "Late").attach()
    play.phones[0].drop()
    play.phones[1].drop()
    play.wait(GRACE_MS + 5)
    assert play.shown("host") == [{"t": "host", "seat": 2}]
    assert play.shown("setup") == [{"t": "setup", "notice": "host_left"}]
    assert play.tv()["table"]["notice"] == "host_left"
    assert {"room": "BCDFG", "table": "t1", "what": "host", "player": "p2"} in play.news
    back = play.phones[0].attach()
    assert back.snapshot["table"]["host"] == 2
    assert back.move("deal") == "not_host"
    assert play.phones[2].move("deal") is None
    assert play.table.playing() == [0, 2, 3, late.seat]
    assert play.tv()["table"].get("notice") is None


def test_a_watcher_becomes_host_when_nobody_else_is_there() -> None:
    play = Play().start()
    late = Phone(play, "p7", 7, "Late").attach()
    play.phones[0].drop()
    play.phones[1].drop()
    play.wait(GRACE_MS + 5)
    assert play.table.state.host == late.seat


def test_with_nobody_to_pass_to_the_game_stands_paused_until_the_host_returns() -> None:
    play = Play(bots=1, players=1).start()
    host = play.phones[0]
    play.wait(700)
    host.drop()
    play.wait(GRACE_MS + 5)
    rang = len(play.shown("rang"))
    assert play.shown("paused") == [{"t": "paused", "by": -1}]
    assert play.tv()["table"]["paused_by"] == -1
    play.wait(120_000)
    assert len(play.shown("rang")) == rang
    host.attach()
    assert play.shown("resumed") == [{"t": "resumed", "by": -1}]
    assert host.move("take") is None


def test_both_leave_and_the_guest_returns_the_game_is_there_and_waits_for_its_host() -> None:
    play = Play().start()
    host, bo = play.phones
    host.drop()
    bo.drop()
    play.wait(GRACE_MS + 60_000)
    back = bo.attach()
    assert back.snapshot["table"]["phase"] == "live"
    assert back.snapshot["table"]["paused_by"] == -1
    assert back.move("resume") == "paused"
    assert back.move("take") == "paused"
    host.attach()
    assert bo.move("take") is None


def test_a_countdown_stands_still_while_the_table_is_held() -> None:
    play = Play(bots=1, players=1)
    host = play.phones[0].attach()
    host.drop()
    host.attach()
    host.drop()
    play.wait(GRACE_MS - 1000)
    play.do(host.command({"t": "deal"}))
    play.deal()
    play.wait(60_000)
    assert play.phase == "countdown"
    left = host.attach().snapshot["table"]["countdown"]
    assert 1900 < left < 2100
    play.wait(left)
    assert play.phase == "live"


def test_a_player_s_pause_outlasts_the_table_s() -> None:
    play = Play(bots=1, players=1).start()
    host = play.phones[0]
    host.move("pause")
    host.drop()
    play.wait(GRACE_MS + 5)
    host.attach()
    assert play.shown("paused")[-1] == {"t": "paused", "by": 0}
    assert host.move("take") == "paused"
    assert host.move("resume") is None
    assert host.move("take") is None


def test_in_setup_a_host_gone_for_15_s_is_followed_by_whoever_is_or_comes_there() -> None:
    play = Play()
    play.phones[0].attach()
    play.phones[0].drop()
    play.wait(GRACE_MS + 5)
    assert play.table.state.host == 0
    play.phones[1].attach()
    assert play.table.state.host == 1
    assert play.phase == "setup"


def test_a_game_whose_host_stays_away_for_10_minutes_expires_though_a_guest_waits() -> None:
    play = Play().start()
    for phone in play.phones:
        phone.drop()
    play.wait(GRACE_MS + 5)
    play.phones[1].attach()
    play.wait(EXPIRY_MS)
    assert play.shown("closed") == [{"t": "closed", "why": "expired"}]


def test_a_table_without_a_human_for_10_minutes_goes_away_by_itself() -> None:
    play = Play(bots=2, players=1).start()
    play.phones[0].drop()
    play.wait(EXPIRY_MS - 100)
    assert play.phase == "live"
    play.wait(200)
    assert play.phase == "closed"
    assert play.ledger.rooms == {}
    assert play.news[-1]["why"] == "expired"


def test_a_table_nobody_ever_came_to_goes_away_too() -> None:
    play = Play()
    play.wait(EXPIRY_MS + 10)
    assert play.phase == "closed"


# ---- attaches that nobody waits for ----


def test_an_attach_that_comes_after_its_caller_gave_it_up_takes_no_seat() -> None:
    """A call and a stream come in any order: the word that undoes an attach may be here before it."""
    play = Play().start()
    ann, bo = play.phones
    undo = pb.Command(room=ROOM, id=77, kind=pb.COMMAND_KIND_DETACH)
    play.do(CommandItem(undo, bo))
    assert bo.replies[-1].kind == pb.REPLY_KIND_DETACHED
    with pytest.raises(CallRefused, match="undone"):
        play.call(pb.AttachRequest(room=ROOM, player="p1", tab=9, name="Bo", attempt=77))
    assert bo.move("peek") is None
    again = play.call(pb.AttachRequest(room=ROOM, player="p1", tab=9, name="Bo", attempt=78))
    assert again.session == bo.session + 1
    assert ann.move("peek") is None


@pytest.mark.parametrize("another_comes", [False, True])
def test_an_attach_that_its_caller_gave_up_in_the_same_record_is_undone_whoever_comes_then(another_comes: bool) -> None:
    """An older tab that finds the seat empty has not taken it over from anybody."""
    play = Play()
    given_up, older = Later(), Later()
    gone: Any = given_up
    comes: Any = older
    first = pb.AttachRequest(room=ROOM, player="p0", tab=7, attempt=77, hello_at=2_000_000)
    second = pb.AttachRequest(room=ROOM, player="p0", tab=8, attempt=78, hello_at=1_999_000)
    undo = pb.Command(room=ROOM, id=77, kind=pb.COMMAND_KIND_DETACH)
    play.do(Call(first, gone), CommandItem(undo, play.phones[0]), *([Call(second, comes)] if another_comes else []))
    assert str(given_up.error) == "FAILED_PRECONDITION: undone"
    holder = play.table.state.members[0]
    assert holder.attached is another_comes
    if another_comes:
        assert (older.result.session, holder.tab) == (holder.session, 8)


# ---- attaches that were long on their way ----


@pytest.mark.parametrize(("tab", "why"), [(7, "superseded"), (8, "taken_over")])
def test_an_attach_does_not_take_the_seat_from_a_socket_that_said_hello_later(tab: int, why: str) -> None:
    play = Play()
    new = pb.AttachRequest(room=ROOM, player="p0", tab=tab, hello_at=2_000_000)
    late = pb.AttachRequest(room=ROOM, player="p0", tab=7, hello_at=1_999_000)
    session = play.call(new).session
    with pytest.raises(CallRefused, match=why):
        play.call(late)
    assert play.table.state.members[0].session == session


def test_a_late_attach_is_taken_when_nobody_is_there_or_the_clocks_are_far_apart() -> None:
    play = Play()
    first = play.call(pb.AttachRequest(room=ROOM, player="p0", tab=7, hello_at=2_000_000))
    wrong_clock = pb.AttachRequest(room=ROOM, player="p0", tab=7, hello_at=1_000_000)
    assert play.call(wrong_clock).session == first.session + 1
    detach = pb.Command(room=ROOM, seat=0, session=first.session + 1, kind=pb.COMMAND_KIND_DETACH)
    play.do(CommandItem(detach, play.phones[0]))
    assert play.call(pb.AttachRequest(room=ROOM, player="p0", tab=7, hello_at=999_000)).session == first.session + 2


def test_a_view_is_not_answered_with_what_a_newer_tab_did_in_the_same_record() -> None:
    """Its `answered` would be the other tab's: a move that waits would be taken for done."""
    play = Play().start()
    _, bo = play.phones
    view, other = Later(), Later()
    asked: Any = view
    attached: Any = other
    play.do(
        Call(pb.ViewRequest(room=ROOM, seat=bo.seat, session=bo.session), asked),
        Call(pb.AttachRequest(room=ROOM, player="p1", tab=9, name="Bo"), attached),
    )
    assert other.result.session == bo.session + 1
    assert str(view.error) == "FAILED_PRECONDITION: taken_over"
