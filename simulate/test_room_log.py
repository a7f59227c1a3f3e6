"""What is known of a room whose log is read from the middle on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from services.engine import records
from services.engine.table import Answer, Member
from simulate.room_log import RoomLog

SEAT, TAB = 0, 77
NO = records.Refused("snatched", 1, 3)


def a_table_that_answered(id: int) -> Any:
    member = Member(SEAT, "p1", "Ann", 0, None, tab=TAB, answered=id, answers=[Answer(id, NO)])
    return SimpleNamespace(state=SimpleNamespace(members=[member]))


def refusal(id: int) -> records.LoggedStep:
    return records.LoggedStep([], SEAT, id, NO)


def test_a_refusal_that_its_own_records_snapshot_holds_already_was_decided_once() -> None:
    log = RoomLog()
    log.resume(a_table_that_answered(5))
    log.take(refusal(5))
    assert log.twice == []


def test_a_move_that_a_later_record_decides_again_was_decided_twice() -> None:
    log = RoomLog()
    log.resume(a_table_that_answered(5))
    log.told_by_snapshot.clear()  # the snapshot's record is over
    log.take(refusal(5))
    assert log.twice == [(SEAT, TAB, 5)]


def test_a_move_that_two_records_decide_was_decided_twice() -> None:
    log = RoomLog()
    log.resume(a_table_that_answered(4))
    log.take(refusal(5))
    log.take(refusal(5))
    assert log.twice == [(SEAT, TAB, 5)]
