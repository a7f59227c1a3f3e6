"""What the log says of a load run, held against what its players were told.

It is read by direct get once all is over, as far back as it goes; records that were trimmed
meanwhile are covered by the rooms' snapshots, which say of each seat up to which move it
was answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from simulate.findings import Findings
from simulate.load_ending import state_hash
from simulate.load_orders import Ledger, RoomEnd
from simulate.log_witness import CHAIN, SNAPSHOTS, LogWitness, NatsError, Unread
from simulate.room_log import RoomLog
from wire import client_out as out

PATIENCE = 120.0
"""Seconds of reading at most."""


@dataclass
class Judged:
    """What was compared, and what was amiss."""

    lost: int = 0
    doubled: int = 0
    word_for_word: int = 0
    by_snapshot: int = 0
    hashes: Counter[str] = field(default_factory=Counter)
    how: str = ""
    told: list[str] = field(default_factory=list)


async def judge(nats_url: str, rooms: Iterable[RoomEnd]) -> Judged:
    """Read the log and hold every ledger and every page against it."""
    judged, found = Judged(), Findings()
    witness = LogWitness(nats_url, found, from_first=True)
    try:
        await witness.start()
    except (OSError, NatsError, TimeoutError, Unread) as error:
        judged.how = f"it could not be read: {error!r}"
        judged.hashes["log unread"] += 1
        return judged
    try:
        whole = await witness.catch_up(PATIENCE)
    finally:
        await witness.stop()
    for room in rooms:
        judge_room(room, witness.rooms.get(room.room), judged)
    broken = found.broken[CHAIN] + found.broken[SNAPSHOTS]
    judged.told += found.told
    judged.doubled += broken
    kept = "all of it" if whole and not judged.by_snapshot else "its end, the rest was trimmed"
    judged.how = f"{witness.records:,} records by direct get after the run: {kept}"
    return judged


def judge_room(room: RoomEnd, log: RoomLog | None, judged: Judged) -> None:
    """Hold one room against its log; None: the log knows of none."""
    if log is None or log.table is None:
        judged.hashes["not in the log"] += 1
        return
    twice: Counter[int] = Counter(seat for seat, _, _ in log.twice)
    for seat, ledger in room.seats.items():
        lost, words = _judge_seat(seat, ledger, log, judged)
        judged.lost += lost
        judged.doubled += twice[seat]
        if lost or twice[seat]:
            judged.told.append(f"{room.room} seat {seat}: {words or 'moves decided twice'}")
        same = state_hash(log.replayed(seat)) == ledger.view
        judged.hashes["log"] += 1
        judged.hashes["unequal"] += not same
        if not same:
            judged.told.append(f"{room.room} seat {seat}: the log, replayed, shows another table")
    judged.hashes["public"] += 1
    if state_hash(log.replayed(None)) != room.public:
        judged.hashes["unequal"] += 1
        judged.told.append(f"{room.room}: the log, replayed, shows spectators another table")


def _judge_seat(seat: int, ledger: Ledger, log: RoomLog, judged: Judged) -> tuple[int, str]:
    """How many acknowledged moves the log doesn't have as they were told, and the first of them in words."""
    assert log.table is not None
    member = log.table.member(seat)
    answered = member.answered if member is not None and member.tab == ledger.tab else 0
    lost, words = 0, ""
    open_ = set(ledger.open)
    for id in range(1, ledger.told + 1):
        if id in open_:
            continue
        refused = ledger.refused.get(id)
        no = None if refused is None else out.No(*refused)
        key = (seat, ledger.tab, id)
        if key in log.decided:
            same = log.decided[key] == no
            judged.word_for_word += same
        else:
            same = log.resumed and id <= answered
            judged.by_snapshot += same
        if not same:
            lost += 1
            words = words or f"was told {no} of move {id}; the log: {log.decided.get(key, 'nothing')}"
    return lost, words
