"""The table: opening, phases, options, the game from setup to standings, as the rules have them."""

from __future__ import annotations

from random import Random

import pytest
from msgspec import msgpack

from services.engine import records as r
from services.engine import table_store as store
from services.engine.items import CallRefused, DealItem
from services.engine.ledger import SNAPSHOT_BYTES
from services.engine.owner import MAX_RECORD
from services.engine.table import ANSWERS_KEPT, COUNTDOWN_MS, GRACE_MS, MAX_MEMBERS, STANDINGS_MS, TABS_KEPT
from tests.services.engine_table import Phone, Play

# ---- a game from setup to standings ----


def test_a_table_opens_in_setup_with_everyone_of_the_lobby() -> None:
    play = Play(bots=1)
    seen = play.phones[0].attach().snapshot
    assert seen["table"]["phase"] == "setup"
    assert [m["name"] for m in seen["table"]["members"]] == ["Ann", "Bo", "Bot 0"]
    assert seen["you"] == {"seat": 0, "watching": True}
    assert seen.get("view") is None


def test_deal_seats_all_who_are_there_bots_too_and_counts_down_before_cards_move() -> None:
    play = Play(bots=1).gather()
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
    play = Play().gather()
    play.phones[1].drop()
    play.phones[0].move("deal")
    assert play.table.playing() == [0, 1]


def test_too_few_players_are_not_dealt() -> None:
    play = Play()
    play.phones[0].attach()
    assert play.phones[0].move("deal") == "too_few"
    assert play.phase == "setup"


def test_of_more_than_the_seats_the_first_at_the_table_play_and_the_rest_watch() -> None:
    play = Play(players=6).gather()
    play.phones[0].move("deal")
    assert play.table.playing() == [0, 1, 2, 3]
    assert play.phones[5].view()["you"] == {"seat": 5, "watching": True}


def test_bots_with_the_same_colour_get_one_of_their_own_at_the_deal() -> None:
    play = Play(bots=2).gather()
    play.phones[0].move("deal")
    colours = [m.colour for m in play.table.state.members]
    assert colours[0] == 0
    assert len(set(colours)) == len(colours)
    assert [e["member"]["seat"] for e in play.shown("member")] == [2, 3]


def test_deal_tapped_twice_is_one_deal() -> None:
    play = Play().gather()
    host = play.phones[0]
    play.do(host.command({"t": "deal"}), host.command({"t": "deal"}))
    assert [play.answer(0, 1), play.answer(0, 2)] == [None, "not_allowed"]
    assert len(play.shown("dealing")) == 1


def test_only_the_host_deals_sets_options_goes_on_and_ends_the_hand() -> None:
    play = Play().gather()
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


def test_a_closed_table_tells_rooms_the_levels_its_bots_had_at_last() -> None:
    play = Play(bots=2)
    host = play.phones[0].attach()
    assert host.move("bot_levels", level="hard") is None
    assert host.move("leave") is None
    assert play.news[-1]["what"] == "closed"
    assert play.news[-1]["bots"] == play.ledger.closed["BCDFG"].bots == {"b0": "hard", "b1": "hard"}


def test_all_bots_change_their_level_at_once() -> None:
    play = Play(bots=2)
    assert play.phones[0].attach().move("bot_levels", level="hard") is None
    assert [m.bot for m in play.table.state.members] == [None, None, "hard", "hard"]
    assert [e["member"]["bot"] for e in play.shown("member")] == ["hard", "hard"]


def test_a_longer_game_goes_on_with_the_same_seats_until_it_is_over() -> None:
    play = Play().start(hands=2)
    host = play.phones[0]
    play.finish_hand(host)
    assert play.shown("scores") == [{"t": "scores", "over": False}]
    assert host.move("standings") == "not_allowed"
    play.wait(STANDINGS_MS * 2)
    assert play.phase == "scores"
    assert host.move("next_hand") is None
    assert play.shown("dealing")[-1]["hand"] == 2
    play.deal()
    play.wait(COUNTDOWN_MS)
    play.finish_hand(play.phones[1])
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
    play.finish_hand(host)
    assert host.move("standings") is None
    assert play.phase == "standings"
    play.wait(STANDINGS_MS)
    assert len(play.shown("standings")) == 1
    assert host.move("new_game") is None
    assert play.phase == "setup"
    assert play.table.playing() == []
    assert host.view()["seq"] == 0


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
    play = Play(players=3).gather()
    play.phones[0].move("deal")
    stale = play.table.state.asked
    play.phones[0].drop()
    play.wait(GRACE_MS + 5)
    play.phones[1].move("deal")
    assert play.table.state.asked == stale + 1
    event = play.table.game.deal([0, 1, 2], play.table.options(), Random(1))
    play.do(DealItem("BCDFG", "t1", stale, msgpack.encode(event)))
    assert play.phase == "dealing"


def test_the_fullest_room_that_there_can_be_still_fits_into_a_record() -> None:
    """Or whoever fills a room halts a partition, and all others' rooms in it."""
    table = Play().start().table
    for seat in range(len(table.state.members), MAX_MEMBERS):
        table.evolve(r.Entered(r.Newcomer(f"p{seat:010}", "N" * 24, 0)), 0)
    no = r.Refused("nothing_to_undo", 63, 255)
    for member in table.state.members:
        for tab in range(TABS_KEPT + 2):
            table.evolve(
                r.Attached(member.seat, tab + 1, 2**32 - 1 - tab, "w" * 32, "gateway " * 4, 2**32 - 1, 2**41), 0
            )
            for id in range(1, ANSWERS_KEPT + 2):
                table.answer(member.seat, id + 100_000, no)
    assert len(store.dump(table)) + SNAPSHOT_BYTES < MAX_RECORD
