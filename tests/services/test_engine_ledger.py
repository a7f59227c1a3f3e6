"""Replay, snapshots and trimming: what is left of the log is always enough."""

from __future__ import annotations

import msgspec
import pytest

from services.engine import ledger as ledger_module
from services.engine import records as r
from services.engine import table_store as store
from services.engine.ledger import SNAPSHOT_MS, SNAPSHOT_RECORDS, Inconsistent, Ledger
from services.engine.records import UnknownVersion
from tests.services.engine_table import GAMES_HERE, ROOM, Play


def replayed(play: Play, oldest: int = 0) -> Ledger:
    """A new owner's ledger, of the records that trimming below `oldest` left."""
    found = Ledger(GAMES_HERE)
    for at, body in enumerate(play.log):
        if (sequence := (at + 1) * 3) >= oldest:
            found.replay(r.decode(body), sequence)
    found.replayed()
    return found


def busy(play: Play, records: int, later: int = 20) -> None:
    ann = play.phones[0]
    for _ in range(records):
        play.do(ann.command({"t": "peek"}), later=later)


def test_a_room_is_written_again_after_200_records_and_the_log_below_may_go() -> None:
    play = Play().start()
    busy(play, SNAPSHOT_RECORDS + 5)
    oldest = play.ledger.oldest_needed()
    assert oldest > 3
    rest = replayed(play, oldest)
    assert store.dump(rest.rooms[ROOM].table) == store.dump(play.table)
    assert rest.now == play.ledger.now


def test_a_changed_room_is_written_again_after_10_s_and_an_unchanged_one_is_not() -> None:
    play = Play()
    play.phones[0].attach()
    assert play.ledger.due_snapshots(play.now + SNAPSHOT_MS - 10) == []
    assert [s.room for s in play.ledger.due_snapshots(play.now + SNAPSHOT_MS)] == [ROOM]
    play.do(later=SNAPSHOT_MS)
    assert r.decode(play.log[-1]).snapshots[0].room == ROOM
    assert play.ledger.due_snapshots(play.now + 10 * SNAPSHOT_MS) == []


def test_any_cut_at_or_below_the_oldest_needed_record_replays_to_the_same_bytes() -> None:
    play = Play().start()
    busy(play, 450, later=100)
    oldest = play.ledger.oldest_needed()
    assert oldest > 600
    for cut in (0, 3, 300, oldest - 3, oldest):
        assert store.dump(replayed(play, cut).rooms[ROOM].table) == store.dump(play.table)


def test_a_log_cut_above_what_is_needed_is_noticed() -> None:
    play = Play().start()
    busy(play, 10)
    with pytest.raises(Inconsistent):
        replayed(play, 30)


def test_the_rest_of_a_closed_table_whose_beginning_is_trimmed_is_no_fault() -> None:
    play = Play().start()
    busy(play, 3)
    play.phones[0].move("leave")
    assert play.ledger.oldest_needed() == play.ledger.last
    assert replayed(play, 30).rooms == {}


def test_snapshots_of_a_record_are_bounded_and_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "SNAPSHOT_BYTES", 1)
    play = Play()
    play.phones[0].attach()
    other = store.load(store.dump(play.table), GAMES_HERE)
    play.ledger.rooms["ZZZZZ"] = ledger_module.Room(other, 1, 0)
    play.ledger.rooms["ZZZZZ"].dirty = True
    assert [s.room for s in play.ledger.due_snapshots(play.now + SNAPSHOT_MS)] == ["ZZZZZ"]


def test_a_whole_game_replays_from_its_log_to_the_same_bytes() -> None:
    play = Play("snatch_solitaire", bots=1).start()
    ann, bo = play.phones
    play.do(*[ann.command({"t": "turn"}) for _ in range(30)], *[bo.command({"t": "turn"}) for _ in range(20)])
    ann.move("undo")
    ann.move("end_hand")
    assert store.dump(replayed(play).rooms[ROOM].table) == store.dump(play.table)


def test_a_snapshot_of_a_table_is_the_table_again() -> None:
    play = Play("snatch_solitaire", bots=1).start()
    play.phones[0].move("turn")
    data = store.dump(play.table)
    assert store.dump(store.load(data, GAMES_HERE)) == data


def test_records_of_a_later_release_are_refused_and_never_guessed_at() -> None:
    record = r.Record(r.VERSION + 1, 0, 1, "data", 5)
    with pytest.raises(UnknownVersion):
        r.decode(r.encode(record))
    with pytest.raises(UnknownVersion):
        r.decode(msgspec.msgpack.encode([r.VERSION + 1, "another", "shape"]))
    with pytest.raises(msgspec.DecodeError):
        r.decode(b"garbage")


def test_the_next_wake_is_always_the_earliest_that_a_table_asks_for() -> None:
    play = Play().start()
    ann, ben = play.phones

    def asked() -> int | None:
        return min(
            (at for room in play.ledger.rooms.values() if (at := room.table.wakes_at()) is not None), default=None
        )

    wakes = set()
    for round_ in range(40):
        for act in (lambda: play.do(ann.command({"t": "peek"})), ben.drop, ben.attach, lambda: play.wait(400)):
            act()
            assert play.ledger.next_wake() == asked(), f"round {round_}"
            wakes.add(play.ledger.next_wake())
    assert len(wakes) > 10, "the clocks were set again and again"
    assert replayed(play).next_wake() == play.ledger.next_wake()


def test_a_closed_room_wakes_nobody_any_more() -> None:
    play = Play().start()
    assert play.ledger.next_wake() is not None
    play.phones[0].move("leave")
    assert play.phase == "closed" or ROOM not in play.ledger.rooms
    assert play.ledger.next_wake() is None
