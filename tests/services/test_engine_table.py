"""The table: phases, host, presence, pause, leaving, joining, as the rules have them."""

from __future__ import annotations

from random import Random

import pytest
from msgspec import msgpack

from services.engine.items import CallRefused, DealItem
from services.engine.table import COUNTDOWN_MS, EXPIRY_MS, GRACE_MS, STANDINGS_MS
from tests.services.engine_table import Phone, Play


def finish_hand(play: Play, phone: Phone) -> None:
    while play.phase == "live":
        assert phone.move("take") is None


# ---- a game from setup to standings ----


def test_a_table_opens_in_setup_with_everyone_of_the_lobby() -> None:
    play = Play(bots=1)
    seen = play.phones[0].attach().snapshot
    assert seen["table"]["phase"] == "setup"
    assert [m["name"] for m in seen["table"]["members"]] == ["Ann", "Bo", "Bot 0"]
    assert seen["you"] == {"seat": 0, "watching": True}
    assert seen.get("view") is None


def test_deal_seats_all_who_are_there_bots_too_and_counts_down_before_cards_move() -> None:
    play = Play(bots=1)
    for phone in play.phones:
        phone.attach()
    assert play.phones[0].move("deal") is None
    assert play.shown("seated") == [{"t": "seated", "seats": [0, 1, 2]}]
    assert play.phase == "dealing"
    play.deal()
    assert play.phase == "countdown"
    assert play.phones[0].move("take") == "not_live"
    play.wait(COUNTDOWN_MS - 10)
    assert play.phase == "countdown"
    play.wait(10)
    assert play.phase == "live"
    assert play.phones[0].move("take") is None


def test_someone_of_the_lobby_who_never_came_to_the_game_screen_is_not_dealt_in() -> None:
    play = Play(players=3)
    play.phones[0].attach()
    play.phones[1].attach()
    play.phones[0].move("deal")
    assert play.table.playing() == [0, 1]
    assert play.phones[2].attach().snapshot["you"] == {"seat": 2, "watching": True}


def test_a_phone_that_dropped_for_a_moment_before_the_deal_is_dealt_in() -> None:
    play = Play()
    for phone in play.phones:
        phone.attach()
    play.phones[1].drop()
    play.phones[0].move("deal")
    assert play.table.playing() == [0, 1]


def test_too_few_players_are_not_dealt() -> None:
    play = Play()
    play.phones[0].attach()
    assert play.phones[0].move("deal") == "too_few"
    assert play.phase == "setup"


def test_of_more_than_the_seats_the_first_at_the_table_play_and_the_rest_watch() -> None:
    play = Play(players=6)
    for phone in play.phones:
        phone.attach()
    play.phones[0].move("deal")
    assert play.table.playing() == [0, 1, 2, 3]
    assert play.phones[5].view()["you"] == {"seat": 5, "watching": True}


def test_bots_with_the_same_colour_get_one_of_their_own_at_the_deal() -> None:
    play = Play(bots=2)
    for phone in play.phones:
        phone.attach()
    play.phones[0].move("deal")
    colours = [m.colour for m in play.table.state.members]
    assert colours[0] == 0
    assert len(set(colours)) == len(colours)
    assert [e["member"]["seat"] for e in play.shown("member")] == [2, 3]


def test_deal_tapped_twice_is_one_deal() -> None:
    play = Play()
    for phone in play.phones:
        phone.attach()
    host = play.phones[0]
    play.do(host.command({"t": "deal"}), host.command({"t": "deal"}))
    assert [play.answer(0, 1), play.answer(0, 2)] == [None, "not_allowed"]
    assert len(play.shown("dealing")) == 1


def test_only_the_host_deals_sets_options_goes_on_and_ends_the_hand() -> None:
    play = Play()
    for phone in play.phones:
        phone.attach()
    other = play.phones[1]
    assert other.move("deal") == "not_host"
    assert other.move("options", options={"hands": 2}) == "not_host"
    assert other.move("bot_levels", level="hard") == "not_host"
    play.phones[0].move("deal")
    play.deal()
    play.wait(COUNTDOWN_MS)
    assert other.move("end_it") == "not_host"
    assert play.phones[0].move("end_it") is None
    assert play.phase == "scores"
    assert other.move("standings") == "not_host"
    assert other.move("next_hand") == "not_host"


def test_options_are_checked_shown_whole_and_can_t_change_in_mid_game() -> None:
    play = Play()
    host = play.phones[0].attach()
    play.phones[1].attach()
    assert host.snapshot["table"]["options"] == {"hands": 1, "pace": "slow"}
    assert host.move("options", options={"hands": 2}) is None
    assert play.shown("options") == [{"t": "options", "options": {"hands": 2, "pace": "slow"}}]
    assert host.move("options", options={"hands": "two"}) == "bad_options"
    assert host.move("options", options={"cheat": True}) == "bad_options"
    host.move("deal")
    assert host.move("options", options={"hands": 1}) == "not_allowed"
    assert host.view()["table"]["options"]["hands"] == 2


def test_all_bots_change_their_level_at_once() -> None:
    play = Play(bots=2)
    assert play.phones[0].attach().move("bot_levels", level="hard") is None
    assert [m.bot for m in play.table.state.members] == [None, None, "hard", "hard"]
    assert [e["member"]["bot"] for e in play.shown("member")] == ["hard", "hard"]


def test_a_longer_game_goes_on_with_the_same_seats_until_it_is_over() -> None:
    play = Play()
    for phone in play.phones:
        phone.attach()
    host = play.phones[0]
    host.move("options", options={"hands": 2})
    host.move("deal")
    play.deal()
    play.wait(COUNTDOWN_MS)
    finish_hand(play, host)
    assert play.shown("scores") == [{"t": "scores", "over": False}]
    assert host.move("standings") == "not_allowed"
    play.wait(STANDINGS_MS * 2)
    assert play.phase == "scores"
    assert host.move("next_hand") is None
    assert play.shown("dealing")[-1]["hand"] == 2
    play.deal()
    play.wait(COUNTDOWN_MS)
    finish_hand(play, play.phones[1])
    assert play.shown("scores")[-1] == {"t": "scores", "over": True, "ms": STANDINGS_MS}
    assert host.move("next_hand") == "not_allowed"
    play.wait(STANDINGS_MS)
    assert play.phase == "standings"
    outcome = play.shown("standings")[0]["outcome"]
    assert [(p["seat"], p["total"], p["place"]) for p in outcome["places"]] == [(0, 3, 1), (1, 3, 1)]
    assert play.tv()["table"]["outcome"] == outcome


def test_standings_follow_by_themselves_or_at_once_when_the_host_wants() -> None:
    play = Play().start()
    host = play.phones[0]
    finish_hand(play, host)
    assert host.move("standings") is None
    assert play.phase == "standings"
    play.wait(STANDINGS_MS)
    assert len(play.shown("standings")) == 1
    assert host.move("new_game") is None
    assert play.phase == "setup"
    assert play.table.playing() == []
    assert host.view()["seq"] == 0


# ---- moves, ids, answers ----


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


def test_of_stored_answers_the_last_32_are_kept() -> None:
    play = Play().start()
    ann = play.phones[0]
    first = ann.last + 1
    for _ in range(40):
        ann.move("snatch")
    play.do(ann.command({"t": "snatch"}, id=first), ann.command({"t": "snatch"}, id=ann.last))
    assert [b'"no"' in r.body for r in ann.replies] == [False, True]


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


def test_a_fault_in_the_game_refuses_that_move_and_harms_nothing_else() -> None:
    play = Play().start()
    assert play.phones[0].move("burst") == "bad_move"
    assert [type(f) for f in play.faults] == [ZeroDivisionError]
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
    play = Play()
    for phone in play.phones:
        phone.attach()
    host = play.phones[0]
    host.move("options", options={"hands": 2})
    host.move("deal")
    play.deal()
    play.wait(COUNTDOWN_MS)
    seen = play.table.seq
    host.move("end_it")
    host.move("next_hand")
    play.deal()
    play.wait(COUNTDOWN_MS)
    late, other_game = host.command({"t": "take"}, basis=seen), host.command({"t": "take"}, basis=seen + 1000)
    now = host.command({"t": "take"}, basis=play.table.seq)
    play.do(late, other_game, now)
    assert [play.answer(0, i.command.id) for i in (late, other_game, now)] == ["stale", "stale", None]


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
    play = Play()
    for phone in play.phones:
        phone.attach()
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
    play = Play(players=3)
    for phone in play.phones:
        phone.attach()
    host = play.phones[0]
    host.move("options", options={"hands": 2})
    host.move("deal")
    play.deal()
    play.wait(COUNTDOWN_MS)
    play.phones[2].move("leave")
    finish_hand(play, host)
    host.move("next_hand")
    play.deal()
    play.wait(COUNTDOWN_MS)
    assert play.table.cards.left[2] == 3
    finish_hand(play, host)
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
    finish_hand(play, play.phones[0])
    play.phones[0].move("standings")
    play.phones[0].move("new_game")
    play.phones[0].move("deal")
    assert play.table.playing() == [0, 1, 2]


def test_a_refresh_shows_the_same_screen_in_every_phase() -> None:
    play = Play()
    for phone in play.phones:
        phone.attach()
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
    finish_hand(play, host)
    refreshed()
    host.move("standings")
    refreshed()


def test_a_refresh_in_the_countdown_sees_what_is_left_of_it() -> None:
    play = Play()
    for phone in play.phones:
        phone.attach()
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


# ---- opening ----


def test_open_again_is_the_same_table_and_another_is_refused_while_it_lives() -> None:
    play = Play()
    assert play.open("t1").table == "t1"
    with pytest.raises(CallRefused) as refused:
        play.open("t2")
    assert (refused.value.status, refused.value.detail) == ("ALREADY_EXISTS", "t1")


def test_a_late_open_does_not_bring_a_closed_table_back() -> None:
    play = Play()
    play.phones[0].attach().move("leave")
    with pytest.raises(CallRefused) as refused:
        play.open("t1")
    assert refused.value.detail == "gone"
    assert play.open("t2").table == "t2"


def test_frames_and_sessions_of_a_room_s_next_table_go_on_above_the_last_one_s() -> None:
    play = Play().start()
    old = play.phones[1]
    last = max(frame.number for _, frame in play.frames)
    play.phones[0].move("leave")
    play.open("t2")
    play.frames.clear()
    new = Phone(play, "p1", 5, "Bo").attach()
    assert min(frame.number for _, frame in play.frames) > last
    assert new.session > old.session
    play.do(old.command({"t": "pause"}))
    assert old.replies[-1].kind == 4


def test_a_deal_asked_for_by_a_game_that_ended_is_never_dealt() -> None:
    play = Play(players=3)
    for phone in play.phones:
        phone.attach()
    play.phones[0].move("deal")
    stale = play.table.state.asked
    play.phones[0].drop()
    play.wait(GRACE_MS + 5)
    play.phones[1].move("deal")
    assert play.table.state.asked == stale + 1
    event = play.table.game.deal([0, 1, 2], play.table.options(), Random(1))
    play.do(DealItem("BCDFG", "t1", stale, msgpack.encode(event)))
    assert play.phase == "dealing"
