"""The lobby's rules, without any server: what people do, who is there, who is host."""

from __future__ import annotations

import pytest

from services.rooms import lobby, presence, table
from services.rooms.reconcile import amiss
from services.rooms.room import BadRoom, LobbyError, Room, Times, decode, encode, shown
from wire import client_in as ask

T = Times()
START = 1_000_000


def a_room(*others: str) -> Room:
    """Ann hosts; she and the others are there, in this order, a second apart."""
    room = lobby.found("BCDFG", "birth", "ann", "Ann", START)
    presence.here(room, "ann", "ann-1", START, T)
    for at, name in enumerate(others, 1):
        lobby.join(room, name.lower(), name, "", START + at * 1000, T)
        presence.here(room, name.lower(), f"{name.lower()}-1", START + at * 1000, T)
    return room


def act(room: Room, who: str, do: ask.LobbyAct, at: int = START) -> None:
    lobby.act(room, who, do, f"bot{len(room.players)}", at, T)


def refused(room: Room, who: str, do: ask.LobbyAct) -> str:
    before = encode(room)
    with pytest.raises(LobbyError) as error:
        act(room, who, do)
    assert encode(room) == before
    return error.value.code


def names(room: Room) -> list[str]:
    return [p.name for p in room.players]


def test_names_are_cleaned_and_cut() -> None:
    assert lobby.name_of("  Ann \n Lee\u200b ") == "Ann Lee"
    assert lobby.name_of("x" * 40) == "x" * 16


@pytest.mark.parametrize("typed", ["", "   ", "\u200b\u200e", "\x00", "x" * 65])
def test_a_name_of_nothing_or_far_too_much_is_refused(typed: str) -> None:
    with pytest.raises(LobbyError, match="name"):
        lobby.name_of(typed)


def test_clashing_names_get_a_number_that_fits() -> None:
    room = a_room("Bo")
    lobby.join(room, "x", "ANN", "", START, T)
    lobby.join(room, "y", "Ann", "", START, T)
    assert names(room) == ["Ann", "Bo", "ANN 2", "Ann 3"]
    long = "abcdefghijklmnop"
    lobby.join(room, "v", long, "", START, T)
    lobby.join(room, "w", long, "", START, T)
    assert names(room)[-1] == "abcdefghijklmn 2"


def test_renaming_to_ones_own_name_adds_no_number() -> None:
    room = a_room("Bo")
    act(room, "bo", ask.SetName("BO"))
    assert names(room) == ["Ann", "BO"]


def test_the_first_eight_have_colours_of_their_own() -> None:
    room = a_room(*"BCDEFGH")
    assert sorted(p.colour for p in room.players) == list(range(8))
    lobby.join(room, "ninth", "Ninth", "", START, T)
    assert room.players[-1].colour in range(8)


def test_a_freed_colour_is_given_again_and_a_taken_one_refused() -> None:
    room = a_room("Bo", "Cy")
    act(room, "ann", ask.RemovePlayer("bo"))
    lobby.join(room, "di", "Di", "", START, T)
    assert [p.colour for p in room.players] == [0, 2, 1]
    assert refused(room, "di", ask.SetColour(2)) == "colour_taken"
    act(room, "di", ask.SetColour(7))
    act(room, "di", ask.SetColour(7))
    assert room.players[-1].colour == 7


def test_sixteen_people_are_enough() -> None:
    room = a_room(*(f"p{n}" for n in range(12)))
    for _ in range(3):
        act(room, "ann", ask.AddBot())
    with pytest.raises(LobbyError, match="full"):
        lobby.join(room, "x", "X", "", START, T)
    assert refused(room, "ann", ask.AddBot()) == "bots_full"


def test_bots_have_names_and_levels() -> None:
    room = a_room()
    act(room, "ann", ask.AddBot("hard"))
    act(room, "ann", ask.AddBot())
    one, two = room.players[1:]
    assert (one.bot, two.bot) == ("hard", "medium")
    assert len({one.name, two.name, ""}) == 3
    act(room, "ann", ask.SetBotLevel("easy", one.player))
    assert (one.bot, two.bot) == ("easy", "medium")
    act(room, "ann", ask.SetBotLevel("hard"))
    assert (one.bot, two.bot) == ("hard", "hard")
    assert refused(room, "ann", ask.SetBotLevel("easy", "ann")) == "unknown"


@pytest.mark.parametrize("do", [ask.AddBot(), ask.SetBotLevel("easy"), ask.RemovePlayer("ann")])
def test_only_the_host_may(do: ask.LobbyAct) -> None:
    assert refused(a_room("Bo"), "bo", do) == "not_host"


def test_a_host_does_not_remove_themselves_nor_a_stranger() -> None:
    room = a_room("Bo")
    assert refused(room, "ann", ask.RemovePlayer("ann")) == "unknown"
    assert refused(room, "ann", ask.RemovePlayer("nobody")) == "unknown"


def test_a_removed_player_does_not_come_back() -> None:
    room = a_room("Bo")
    act(room, "ann", ask.RemovePlayer("bo"))
    with pytest.raises(LobbyError, match="removed"):
        lobby.come_back(room, "bo", "Bo", START, T)
    with pytest.raises(LobbyError, match="removed"):
        lobby.arrive(room, "bo", "bo-2", START, T)


def test_who_left_comes_back_with_name_and_colour() -> None:
    room = a_room("Bo", "Cy")
    act(room, "bo", ask.LeaveRoom())
    assert names(room) == ["Ann", "Cy"]
    lobby.come_back(room, "bo", "", START, T)
    assert [(p.name, p.colour) for p in room.players] == [("Ann", 0), ("Cy", 2), ("Bo", 1)]


def test_the_socket_somebody_left_by_does_not_bring_them_back_but_a_new_one_does() -> None:
    room = a_room("Bo")
    act(room, "bo", ask.LeaveRoom())
    lobby.arrive(room, "bo", "bo-1", START + 5, T)
    assert names(room) == ["Ann"]
    lobby.arrive(room, "bo", "bo-2", START + 9, T)
    assert names(room) == ["Ann", "Bo"]
    assert room.players[1].present


def test_a_host_who_leaves_the_lobby_passes_it_on_at_once() -> None:
    room = a_room("Bo", "Cy")
    act(room, "ann", ask.LeaveRoom())
    assert room.host == "bo"


def test_bots_never_become_host_and_the_next_human_does() -> None:
    room = a_room()
    act(room, "ann", ask.AddBot())
    act(room, "ann", ask.LeaveRoom())
    assert room.host == ""
    lobby.join(room, "bo", "Bo", "", START, T)
    assert room.host == "bo"


def test_an_old_sockets_late_close_does_not_throw_the_new_one_out() -> None:
    room = a_room("Bo")
    presence.here(room, "bo", "bo-2", START + 3000, T)
    presence.gone(room, "bo", "bo-1", START + 9000)
    assert room.players[1].present
    presence.gone(room, "bo", "bo-2", START + 9500)
    assert not room.players[1].present


def test_a_host_away_within_the_grace_stays_host() -> None:
    room = a_room("Bo")
    presence.gone(room, "ann", "ann-1", START + 5000)
    presence.sweep(room, START + 5000 + 14_999, T)
    assert room.host == "ann"
    presence.here(room, "ann", "ann-2", START + 19_999, T)
    presence.sweep(room, START + 30_000, T)
    assert room.host == "ann"


def test_a_host_away_for_the_grace_is_followed_by_who_was_there_longest() -> None:
    room = a_room("Bo", "Cy", "Di")
    presence.gone(room, "bo", "bo-1", START + 4000)
    presence.gone(room, "ann", "ann-1", START + 5000)
    assert presence.due_at(room, T) == START + 5000 + T.grace
    presence.sweep(room, START + 5000 + T.grace, T)
    assert room.host == "cy"
    lobby.arrive(room, "ann", "ann-2", START + 25_000, T)
    assert room.host == "cy"


def test_a_short_absence_does_not_cost_ones_place_in_the_line() -> None:
    room = a_room("Bo", "Cy")
    presence.gone(room, "bo", "bo-1", START + 4000)
    presence.here(room, "bo", "bo-2", START + 6000, T)
    presence.gone(room, "ann", "ann-1", START + 7000)
    presence.sweep(room, START + 7000 + T.grace, T)
    assert room.host == "bo"


def test_with_nobody_to_pass_to_the_host_stays_until_somebody_comes() -> None:
    room = a_room("Bo")
    presence.gone(room, "bo", "bo-1", START + 2000)
    presence.gone(room, "ann", "ann-1", START + 3000)
    presence.sweep(room, START + 100_000, T)
    assert room.host == "ann"
    lobby.arrive(room, "bo", "bo-2", START + 110_000, T)
    assert room.host == "bo"


def test_a_silent_socket_is_gone() -> None:
    room = a_room("Bo")
    presence.here(room, "bo", "bo-1", START + 20_000, T)
    presence.sweep(room, START + T.stale, T)
    assert [p.present for p in room.players] == [False, True]


def test_a_room_with_no_human_in_it_for_ten_minutes_is_over() -> None:
    room = a_room()
    act(room, "ann", ask.AddBot())
    assert not presence.expired(room, START + 10 * T.idle, T)
    presence.gone(room, "ann", "ann-1", START + 5000)
    assert presence.due_at(room, T) == START + 5000 + T.idle
    assert not presence.expired(room, START + 5000 + T.idle - 1, T)
    assert presence.expired(room, START + 5000 + T.idle, T)


def test_a_room_nobody_ever_came_to_is_over_too() -> None:
    room = lobby.found("BCDFG", "birth", "ann", "Ann", START)
    assert presence.due_at(room, T) == START + T.idle
    assert presence.expired(room, START + T.idle, T)


def test_who_joined_and_never_came_leaves_after_a_minute_and_their_token_brings_them_back() -> None:
    room = a_room("Bo")
    lobby.join(room, "cy", "Cy", "", START, T)
    presence.gone(room, "bo", "bo-1", START + 2000)
    assert presence.due_at(room, T) == START + T.stale
    presence.here(room, "ann", "ann-1", START + T.stale, T)
    assert presence.due_at(room, T) == START + T.unseen
    presence.sweep(room, START + T.unseen - 1, T)
    assert names(room) == ["Ann", "Bo", "Cy"]
    presence.sweep(room, START + T.unseen, T)
    assert names(room) == ["Ann", "Bo"], "Bo was here once"
    lobby.arrive(room, "cy", "cy-1", START + 2 * T.unseen, T)
    presence.gone(room, "cy", "cy-1", START + 2 * T.unseen)
    presence.sweep(room, START + 4 * T.unseen, T)
    assert room.players[-1].name == "Cy"


def test_places_held_by_calls_alone_are_free_again() -> None:
    room = a_room()
    for n in range(15):
        lobby.join(room, f"p{n}", f"P{n}", "", START, T)
    with pytest.raises(LobbyError, match="full"):
        lobby.join(room, "bo", "Bo", "", START, T)
    presence.sweep(room, START + T.unseen, T)
    lobby.join(room, "bo", "Bo", "", START + T.unseen, T)
    assert names(room) == ["Ann", "Bo"]


def test_a_host_who_never_came_stays_host_of_a_room_with_nobody_in_it() -> None:
    room = lobby.found("BCDFG", "birth", "ann", "Ann", START)
    lobby.join(room, "bo", "Bo", "", START + 1, T)
    presence.sweep(room, START + 1 + T.unseen, T)
    assert (names(room), room.host) == (["Ann"], "ann")
    assert presence.due_at(room, T) == START + 1 + T.idle, "and the room goes when it would have gone"


def test_who_never_came_is_forgotten_before_those_who_left() -> None:
    room = a_room("Bo")
    act(room, "bo", ask.LeaveRoom())
    for n in range(40):
        lobby.join(room, f"p{n}", f"P{n}", "", START, T)
        presence.sweep(room, START + T.unseen, T)
    assert len(room.left) == presence.MAX_LEFT
    lobby.arrive(room, "bo", "bo-2", START, T)
    assert names(room) == ["Ann", "Bo"]


def test_the_same_join_again_is_the_same_player_for_ten_minutes() -> None:
    room = a_room()
    bo = lobby.join(room, "bo", "Bo", "request", START, T)
    assert lobby.repeated(room, "request", START + 1, T) is bo
    assert lobby.repeated(room, "request", START + T.request, T) is None
    assert lobby.repeated(room, "", START, T) is None


def with_table(*others: str) -> Room:
    room = a_room(*others)
    table.open_with(room, "ann", "t1", "snatch_solitaire", START)
    table.opened(room, "t1", "t1", START)
    return room


def test_only_the_host_starts_and_a_second_start_joins_the_first() -> None:
    room = a_room("Bo")
    with pytest.raises(LobbyError, match="not_host"):
        table.open_with(room, "bo", "t0", "snatch_solitaire", START)
    first = table.open_with(room, "ann", "t1", "snatch_solitaire", START)
    second = table.open_with(room, "ann", "t2", "snatch_solitaire", START)
    assert first is not None
    assert second == first
    table.opened(room, "t1", "t1", START)
    assert room.table == "t1"
    assert table.open_with(room, "ann", "t3", "snatch_solitaire", START) is None


def test_while_a_table_is_live_the_lobby_only_lists() -> None:
    room = with_table("Bo")
    for do in (ask.SetName("Zoe"), ask.SetColour(7), ask.AddBot(), ask.RemovePlayer("bo")):
        assert refused(room, "ann", do) == "table_live"
    lobby.join(room, "cy", "Cy", "", START, T)
    act(room, "bo", ask.LeaveRoom())
    assert names(room) == ["Ann", "Cy"]


def test_while_a_table_is_live_only_the_engine_names_the_host() -> None:
    room = with_table("Bo")
    presence.gone(room, "ann", "ann-1", START + 1000)
    presence.sweep(room, START + 1000 + T.grace, T)
    assert room.host == "ann"
    table.host_is(room, "another", "bo")
    assert room.host == "ann"
    table.host_is(room, "t1", "bo")
    assert room.host == "bo"


def test_after_a_table_an_absent_host_has_the_whole_grace() -> None:
    room = with_table("Bo")
    presence.gone(room, "ann", "ann-1", START + 1000)
    end = START + 100_000
    presence.here(room, "bo", "bo-1", end, T)
    table.closed(room, "t1", "", "host_left", end, T)
    assert (room.table, room.notice, room.host) == (None, "host_left", "ann")
    presence.sweep(room, end + T.grace - 1, T)
    assert room.host == "ann"
    presence.sweep(room, end + T.grace, T)
    assert room.host == "bo"


def test_bots_keep_the_levels_that_a_look_at_the_table_saw() -> None:
    room = a_room()
    act(room, "ann", ask.AddBot("easy"))
    act(room, "ann", ask.AddBot("hard"))
    _, one, two = room.players
    table.open_with(room, "ann", "t1", "snatch_solitaire", START)
    table.opened(room, "t1", "t1", START)
    members = tuple(table.Seated(p.player, p.name, p.colour, "medium") for p in (one, two))
    table.seen(room, table.Live("t0", "ann", members), START, T)
    assert (one.bot, two.bot) == ("easy", "hard"), "that was another table"
    table.seen(room, table.Live("t1", "ann", members[:1]), START, T)
    assert (one.bot, two.bot) == ("medium", "hard")
    table.bots_are(room, {one.player: "genius", two.player: "easy", "ann": "easy"})
    assert [p.bot for p in room.players] == [None, "medium", "easy"]


def test_a_table_that_expires_does_not_keep_its_empty_room_for_longer() -> None:
    room = with_table("Bo")
    for player in ("ann", "bo"):
        presence.gone(room, player, f"{player}-1", START + 5_000)
    table.closed(room, "t1", "ann", "expired", START + 5_000 + T.idle, T)
    assert presence.expired(room, START + 5_000 + T.idle, T)


def test_news_of_a_table_that_is_not_the_rooms_changes_nothing() -> None:
    room = with_table("Bo")
    before = encode(room)
    table.closed(room, "t0", "bo", "host_left", START, T)
    table.opened(room, "t0", "t0", START)
    assert encode(room) == before


def test_an_opening_that_a_worker_died_over_is_looked_at_in_time() -> None:
    room = a_room("Bo")
    table.open_with(room, "ann", "t1", "snatch_solitaire", START)
    assert presence.due_at(room, T) == START + T.opening
    table.not_opened(room, "t1")
    act(room, "bo", ask.SetName("Zoe"))
    assert names(room) == ["Ann", "Zoe"]


def test_a_finished_game_is_looked_at_when_it_has_been_over_for_long_enough_and_a_new_hand_resets_that() -> None:
    room = with_table("Bo")
    times = Times(finished=5_000)
    over = table.Live("t1", "ann", phase="standings")
    assert not table.seen(room, over, START, times)
    assert presence.due_at(room, times) == START + 5_000
    assert not table.seen(room, over, START + 4_999, times)
    assert not table.seen(room, table.Live("t1", "ann", phase="setup"), START + 5_000, times)
    assert not table.seen(room, over, START + 6_000, times)
    assert table.seen(room, over, START + 11_000, times)
    table.closed(room, "t1", "ann", "finished", START + 11_000, T)
    assert (room.table, room.finished, room.notice) == (None, 0, None)


def test_a_table_tells_of_what_birth_its_room_was() -> None:
    assert table.birth_of(table.new_id("0123456789ab")) == "0123456789ab"
    assert table.new_id("b") != table.new_id("b")
    assert table.birth_of("t0123456789") is None, "an id of the release before"


def stray(room: Room, table_id: str, present: int = 1) -> str:
    return table.stray(room, table.Live(table_id, "bo", present=present), START)


def test_a_live_table_that_its_room_forgot_is_the_rooms_again_if_somebody_sits_there() -> None:
    room = a_room("Bo")
    assert stray(room, "tbirth-1") == "adopted"
    assert (room.table, room.host) == ("tbirth-1", "bo")
    assert stray(room, "tbirth-1") == "known"


def test_a_table_that_nobody_wants_is_told_from_one_that_is_being_opened() -> None:
    room = a_room("Bo")
    assert stray(room, "tbirth-1", present=0) == "orphan"
    assert stray(room, "tanother-1") == "foreign"
    table.open_with(room, "ann", "tbirth-1", "snatch_solitaire", START)
    assert stray(room, "tbirth-1", present=0) == "known"
    assert room.table is None


@pytest.mark.parametrize(
    ("has", "listed", "wrong"),
    [
        (None, None, False),
        ("tbirth-1", "tbirth-1", False),
        ("tbirth-1", None, True),
        (None, "tbirth-1", True),
        ("tbirth-1", "tbirth-2", True),
        ("tbirth-1", "tanother-1", True),
        ("t1", "t1", False),
    ],
)
def test_a_room_and_a_listed_table_agree_or_not(has: str | None, listed: str | None, wrong: bool) -> None:
    room = a_room()
    room.table = has
    assert amiss(room, listed) is wrong


def test_a_room_whose_table_is_being_opened_is_left_alone() -> None:
    room = a_room()
    table.open_with(room, "ann", "tbirth-1", "snatch_solitaire", START)
    assert not amiss(room, None)
    assert not amiss(room, "tbirth-1")
    assert amiss(room, "tanother-1")


def test_a_room_survives_being_written_and_read() -> None:
    room = with_table("Bo", "Cy")
    act(room, "bo", ask.LeaveRoom())
    again = decode(encode(room))
    assert again == room
    assert encode(again) == encode(room)


def test_a_document_of_another_version_is_not_guessed_at() -> None:
    room = a_room()
    room.v = 2
    with pytest.raises(BadRoom, match="version 2"):
        decode(encode(room))
    with pytest.raises(BadRoom):
        decode(b"garbage")


def test_what_is_shown_has_no_socket_and_no_request() -> None:
    room = a_room("Bo")
    room.players[1].request = "secret-request"
    text = repr(shown(room))
    assert "bo-1" not in text
    assert "secret-request" not in text
    assert "birth" not in text
