"""The log held against what players were told: a fault planted in either is found, and nothing else is."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any

import msgspec

from services.engine import records
from services.engine.table import Member
from simulate.load_ending import state_hash
from simulate.load_log import Judged, judge, judge_room
from simulate.load_orders import Ledger, RoomEnd
from simulate.room_log import RoomLog

SEAT, TAB = 0, 77
SEEN = state_hash(None)
TOLD = Ledger(TAB, 3, [], {2: ("snatched", 1, 3)}, SEEN)
"""Moves 1 and 3 were taken, 2 was refused."""


def a_log(*steps: records.LoggedStep, answered: int = 3) -> RoomLog:
    member = Member(SEAT, "p1", "Ann", 0, None, tab=TAB, answered=answered)
    table: Any = SimpleNamespace(seq=0, member=lambda seat: member if seat == SEAT else None)
    log = RoomLog(table=table, tabs={SEAT: TAB})
    for step in steps:
        log.take(step)
    return log


def move(id: int, no: records.Refused | None = None) -> records.LoggedStep:
    return records.LoggedStep([], SEAT, id, no)


REFUSED = move(2, records.Refused("snatched", 1, 3))


def held(log: RoomLog | None, told: Ledger = TOLD, public: str = SEEN) -> Judged:
    judged = Judged()
    judge_room(RoomEnd("ABCDE", {SEAT: told}, public), log, judged)
    return judged


def test_a_log_that_says_what_the_player_was_told_has_nothing_amiss() -> None:
    judged = held(a_log(move(1), REFUSED, move(3)))
    assert (judged.lost, judged.doubled, judged.hashes["unequal"], judged.word_for_word, judged.told) == (
        0,
        0,
        0,
        3,
        [],
    )


def test_an_acknowledged_move_that_the_log_has_not_is_lost() -> None:
    judged = held(a_log(move(1), REFUSED))
    assert (judged.lost, judged.doubled) == (1, 0)
    assert "move 3" in judged.told[0]


def test_a_move_missing_between_others_is_lost_unless_a_snapshot_stands_for_what_could_not_be_read() -> None:
    log = a_log(REFUSED, move(3))
    assert held(log).lost == 1
    log.resumed = True
    judged = held(log)
    assert (judged.lost, judged.by_snapshot, judged.word_for_word) == (0, 1, 2)


def test_a_move_behind_the_snapshot_that_stands_for_the_rest_is_lost() -> None:
    log = a_log(move(1), answered=2)
    log.resumed = True
    assert held(log).lost == 1


def test_a_move_that_the_log_answers_otherwise_is_lost() -> None:
    assert held(a_log(move(1), move(2), move(3))).lost == 1
    assert held(a_log(move(1, records.Refused("snatched", 1, 3)), REFUSED, move(3))).lost == 1


def test_a_move_that_was_not_acknowledged_may_be_there_or_not() -> None:
    open_ = msgspec.structs.replace(TOLD, open=[3])
    assert held(a_log(move(1), REFUSED), open_).lost == held(a_log(move(1), REFUSED, move(3)), open_).lost == 0


def test_a_move_that_was_decided_twice_is_doubled() -> None:
    judged = held(a_log(move(1), REFUSED, move(3), move(3)))
    assert (judged.lost, judged.doubled) == (0, 1)


def test_a_page_or_a_tv_that_shows_another_table_than_the_log_is_unequal() -> None:
    log = a_log(move(1), REFUSED, move(3))
    assert held(log, msgspec.structs.replace(TOLD, view="another")).hashes["unequal"] == 1
    assert held(log, public="another").hashes["unequal"] == 1


def test_a_room_that_the_log_knows_nothing_of_is_told() -> None:
    assert held(None).hashes["not in the log"] == 1


async def test_a_log_that_cannot_be_read_is_no_clean_one() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        judged = await judge(f"nats://127.0.0.1:{nobody.getsockname()[1]}", [])
    assert judged.hashes["log unread"] == 1
    assert judged.how.startswith("it could not be read")
