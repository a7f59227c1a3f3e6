"""What is committed: every record of the log at the moment it is in, replayed by the engine's own code.

This is the omniscient observer's memory.  Whatever anybody is told is held to it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from model.game import GAME, LADDER, Climbed, Drew, LadderEvent
from services.engine import records as r
from services.engine import table_store as store
from services.engine.ledger import Ledger
from services.engine.partition import epoch_of
from services.engine.stream import EXPECTED, SLOT_ID
from services.engine.table import AnyGame, Table

GAMES: Mapping[str, AnyGame] = {LADDER: GAME}

Violate = Callable[[str, str], None]
"""Told the name of an invariant that is broken, and how."""

_event = msgspec.msgpack.Decoder(LadderEvent)


class Decided(NamedTuple):
    """What the log says of a move id.  `mark` None: the log doesn't show which move it was."""

    no: r.Refused | None
    mark: int | None


class Reign:
    """One tab's times on a seat: its ids count up from 1, and go on when it comes back."""

    def __init__(self, tab: int) -> None:
        self.tab = tab
        self.decided: dict[int, Decided] = {}
        self.last = 0


class Frames(NamedTuple):
    """The frames that a record made: their numbers, and what they may answer: seat, id."""

    epoch: int
    sequence: int
    answers: frozenset[tuple[int, int]]


class RoomTruth:
    """One room, as committed."""

    def __init__(self) -> None:
        self.table_frames: dict[int, Frames] = {}
        self.seat_frames: dict[tuple[int, int], Frames] = {}
        self.table_number = 0
        self.seat_number: dict[int, int] = {}
        self.reigns: dict[int, list[Reign]] = {}
        """By seat, the newest last."""
        self.reign_of: dict[tuple[int, int], Reign] = {}
        """By seat and session."""
        self.session: dict[int, int] = {}
        self.latest_hello: dict[int, int] = {}
        """By seat: of all that ever attached; one that said hello earlier may have come to an empty seat after it."""
        self.held: dict[int, int] = {}
        """By seat that is attached: when its socket said hello."""
        self.closed = False
        self.positions: dict[int, int] = {0: 0}
        """By the game's digest: how many of its events are in it."""
        self.base = 0
        """The newest record that the room can be replayed from."""
        self.hashes: list[tuple[int, int]] = []
        """Each record about it, and the table after that."""

    def hash_at(self, sequence: int) -> int | None:
        """The table as of a record."""
        return next((hash for at, hash in reversed(self.hashes) if at <= sequence), None)


class TruthLedger(Ledger):
    """The observer's own: a fault planted in the engines' ledgers must not touch it."""


class PartitionTruth:
    """One partition's log."""

    def __init__(self) -> None:
        self.ledger = TruthLedger(GAMES)
        self.last = 0
        self.epoch = 0
        self.epochs: dict[int, int] = {}
        """By epoch: the sequence of its fence."""
        self.slots: dict[str, int] = {}
        self.rooms: dict[str, RoomTruth] = {}
        self.placed_epoch = 0
        """The highest ever placed."""


def table_hash(table: Table) -> int:
    """Equal tables, equal hashes."""
    return zlib.crc32(store.dump(table))


class Truth:
    """`record` is called with every message of the log at its commit, in order."""

    def __init__(self, violate: Violate) -> None:
        self._violate = violate
        self.partitions: dict[int, PartitionTruth] = {}
        self.rooms: dict[str, RoomTruth] = {}
        self.accepted: dict[int, int] = {}
        """By mark: the record."""
        self.refused: set[int] = set()
        """Marks that a phone was told a refusal of."""
        self.counts: dict[str, int] = {}

    def partition(self, number: int) -> PartitionTruth:
        found = self.partitions.get(number)
        if found is None:
            found = self.partitions[number] = PartitionTruth()
        return found

    def count(self, what: str, more: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + more

    # ---- the log ----

    def record(self, number: int, sequence: int, headers: Mapping[str, str], body: bytes) -> None:
        at = self.partition(number)
        expected = int(headers.get(EXPECTED, "-1"))
        id = headers.get(SLOT_ID, "")
        if expected != at.last:
            self._violate("one order", f"log.{number}: {id} at {sequence} follows {expected}, not {at.last}")
        if id in at.slots:
            self._violate("one order", f"log.{number}: {id} is at {at.slots[id]} and at {sequence}")
        at.slots[id] = sequence
        record = r.decode(body)
        if record.epoch < at.epoch or record.epoch != epoch_of(id):
            self._violate("one order", f"log.{number}: {id} of epoch {record.epoch} after epoch {at.epoch}")
        if record.kind == "claim":
            self.count("claims")
            if record.epoch == at.epoch and at.last:
                self._violate("one order", f"log.{number}: epoch {record.epoch} is claimed twice")
            at.epochs[record.epoch] = sequence
        elif record.epoch not in at.epochs:
            self._violate("one order", f"log.{number}: epoch {record.epoch} writes without a claim")
        self.count("releases", record.kind == "release")
        self.count("late landings", record.epoch < at.placed_epoch)
        at.last, at.epoch = sequence, max(at.epoch, record.epoch)
        try:
            at.ledger.replay(record, sequence)
        except Exception as error:
            self._violate("one order", f"log.{number}: {id} at {sequence} can't be replayed: {error!r}")
            return
        for snapshot in record.snapshots:
            self.count("snapshots")
            self._room(at, snapshot.room).base = sequence
        for chunk in record.chunks:
            self._chunk(at, chunk, record.epoch, sequence)

    def _room(self, at: PartitionTruth, name: str) -> RoomTruth:
        found = self.rooms.get(name)
        if found is None:
            found = self.rooms[name] = at.rooms[name] = RoomTruth()
        return found

    def _chunk(self, at: PartitionTruth, chunk: r.Chunk, epoch: int, sequence: int) -> None:
        room = self._room(at, chunk.room)
        answers = []
        for step in chunk.steps:
            mark = None
            for event in step.events:
                mark = self._event(room, event, sequence) or mark
            if step.seat is not None and step.id is not None:
                self._decided(chunk.room, room, step.seat, step.id, Decided(step.no, mark))
                answers.append((step.seat, step.id))
        told = Frames(epoch, sequence, frozenset(answers))
        if chunk.table_frames != room.table_number:
            if room.table_number and chunk.table_frames != room.table_number + 1:
                self._violate("one order", f"{chunk.room}: frame {chunk.table_frames} after {room.table_number}")
            room.table_number = chunk.table_frames
            room.table_frames[chunk.table_frames] = told
        for seat, number in chunk.seat_frames.items():
            if seat in room.seat_number and number != room.seat_number[seat] + 1:
                self._violate(
                    "one order", f"{chunk.room}: frame {number} of seat {seat} after {room.seat_number[seat]}"
                )
            room.seat_number[seat] = number
            room.seat_frames[seat, number] = told
        table = at.ledger.table(chunk.room)
        if table is not None:
            room.hashes.append((sequence, table_hash(table)))
            if table.cards is not None:
                room.positions.setdefault(table.cards.digest, table.cards.seq)

    def _event(self, room: RoomTruth, event: Any, sequence: int) -> int | None:
        """The mark of the move that it shows."""
        if isinstance(event, r.Played):
            played = _event.decode(event.event)
            if isinstance(played, Climbed | Drew):
                self._accepted(played.mark, sequence)
                return played.mark
        elif isinstance(event, r.Opened):
            room.base, room.closed = sequence, False
            room.latest_hello.clear()
            room.held.clear()
        elif isinstance(event, r.Detached | r.LeftTable):
            room.held.pop(event.seat, None)
        elif isinstance(event, r.TableClosed):
            self.count("tables closed")
            room.closed = True
        elif isinstance(event, r.Attached):
            self.count("attaches")
            if event.session <= room.session.get(event.seat, 0):
                self._violate("ids in order", f"seat {event.seat}: session {event.session} comes again")
            room.session[event.seat] = event.session
            if event.hello_at < room.held.get(event.seat, 0):
                self._violate(
                    "no two writers are believed", f"{event} takes the seat of a socket that said hello later"
                )
            room.held[event.seat] = event.hello_at
            room.latest_hello[event.seat] = max(event.hello_at, room.latest_hello.get(event.seat, 0))
            reigns = room.reigns.setdefault(event.seat, [])
            if not reigns or reigns[-1].tab != event.tab:
                self.count("takeovers", bool(reigns))
                before = next((r for r in reversed(reigns) if event.back and r.tab == event.tab), None)
                if before is not None:
                    self.count("old tabs back")
                    reigns.remove(before)
                reigns.append(before or Reign(event.tab))
            room.reign_of[event.seat, event.session] = reigns[-1]
        return None

    def _accepted(self, mark: int, sequence: int) -> None:
        if mark in self.accepted:
            self._violate("nothing doubled", f"move {mark} is in records {self.accepted[mark]} and {sequence}")
        if mark in self.refused:
            self._violate("nothing doubled", f"move {mark} was told refused, and is accepted in record {sequence}")
        self.accepted[mark] = sequence
        self.count("accepted")

    def _decided(self, name: str, room: RoomTruth, seat: int, id: int, decided: Decided) -> None:
        self.count("refused", decided.no is not None)
        reigns = room.reigns.get(seat)
        if not reigns:
            self._violate("ids in order", f"{name}: seat {seat} moves before it is attached")
            return
        reign = reigns[-1]
        if id != reign.last + 1:
            self._violate("ids in order", f"{name}: seat {seat} tab {reign.tab}: {id} is decided after {reign.last}")
        reign.last = max(reign.last, id)
        reign.decided[id] = decided

    # ---- what may be removed ----

    def purged(self, number: int, below: int) -> None:
        """Records of a partition below a sequence are removed."""
        at = self.partition(number)
        self.count("trims")
        if below > at.last:
            self._violate("the log keeps what is needed", f"log.{number}: {at.last}, its last record, is removed")
        for name, room in at.rooms.items():
            if not room.closed and name in at.ledger.rooms and room.base < below:
                self._violate(
                    "the log keeps what is needed",
                    f"log.{number}: removed below {below}, but {name} is to be replayed from {room.base}",
                )

    def placed(self, number: int, epoch: int) -> None:
        """A placement was committed."""
        at = self.partition(number)
        at.placed_epoch = max(at.placed_epoch, epoch)
