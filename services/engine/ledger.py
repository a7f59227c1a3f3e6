"""The tables of one partition, as its log tells them: replay, snapshots, and what may be trimmed.

Pure: records in, states out.  A snapshot entry holds a room as it was before the chunks of
its record, so it is made from committed state.  A record is needed for as long as a room's
newest snapshot, or its Open when there is none, lies in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from operator import itemgetter
from typing import NamedTuple

from services.engine import records as r
from services.engine import table_store as store
from services.engine.table import AnyGame, Table

SNAPSHOT_RECORDS = 200
SNAPSHOT_MS = 10_000
SNAPSHOT_BYTES = 128 * 1024
"""Snapshots in one record stop at this size, the oldest having gone first."""
CLOSED_KEPT = 256
UNDONE_KEPT = 1024


class Inconsistent(Exception):
    """A log that no correct writer leaves behind.  The partition stops: an operator must look."""


class Room:
    """`base` is the record to read from for this room; `base_at` its room time; `dirty`: changed since.

    `wakes_at` is the table's, asked once after each change rather than at every record.
    """

    __slots__ = ("base", "base_at", "dirty", "table", "wakes_at")

    def __init__(self, table: Table, base: int, base_at: int) -> None:
        self.table, self.base, self.base_at, self.dirty = table, base, base_at, False
        self.wakes_at: int | None = table.wakes_at()


class Closed(NamedTuple):
    """`session`: the highest of its sessions."""

    table: str
    host: str
    why: str
    session: int
    bots: dict[str, str]


class Ledger:
    """All rooms of a partition.  `now` is the last record's room time."""

    def __init__(self, games: Mapping[str, AnyGame]) -> None:
        self.games = games
        self.rooms: dict[str, Room] = {}
        self.closed: dict[str, Closed] = {}
        """Of late, by room: an Open that comes late must not revive one."""
        self.undone: dict[int, None] = {}
        """Tries to attach that their callers gave up, of late: one that comes after that takes no seat."""
        self.now = 0
        self.last = 0
        """Sequence of the last committed record."""
        self._records = 0
        self._look_at = 0
        self._look_at_record = 0
        self._orphans: set[str] = set()
        self.lost: set[str] = set()
        """Rooms that an operator gave up, since the log doesn't say all of them any more."""
        self._sequences: list[int] = []
        self._wakes: list[tuple[int, str]] = []
        """A heap of the times at which rooms wake; those that a room doesn't say any more are void."""
        self._versions: dict[int, int] = {}
        """The last record of each version."""
        self._highest = 0

    def table(self, room: str) -> Table | None:
        entry = self.rooms.get(room)
        return entry.table if entry is not None else None

    # ---- replay ----

    def replay(self, record: r.Record, sequence: int) -> None:
        """Take a committed record in, from the log.  Raises Inconsistent."""
        for snapshot in record.snapshots:
            self._enter(snapshot.room, Room(store.load(snapshot.data, self.games), sequence, record.now))
            self._orphans.discard(snapshot.room)
            self.lost.discard(snapshot.room)
        for chunk in record.chunks:
            self._replay_chunk(chunk, sequence, record.now)
        self._advance(sequence, record)

    def _replay_chunk(self, chunk: r.Chunk, sequence: int, now: int) -> None:
        events = [event for step in chunk.steps for event in step.events]
        if events and isinstance(events[0], r.Opened):
            table = self.opened(events[0], sequence, now)
        else:
            room = self.rooms.get(chunk.room)
            if room is None:
                # Trimmed away below: well, if the room's end follows.
                if any(isinstance(e, r.TableClosed) for e in events):
                    self._orphans.discard(chunk.room)
                else:
                    self._orphans.add(chunk.room)
                return
            table = room.table
            room.dirty = True
        for step in chunk.steps:
            for event in step.events:
                if not isinstance(event, r.Opened):
                    table.evolve(event, now)
            if step.seat is not None and step.id is not None:
                table.answer(step.seat, step.id, step.no)
        table.state.frames = chunk.table_frames
        for seat, number in chunk.seat_frames.items():
            table.state.members[seat].frames = number
        if table.state.phase == "closed":
            why = next((e.why for e in events if isinstance(e, r.TableClosed)), "")
            self.close(chunk.room, why)

    def gap(self) -> None:
        """Something is missing here: only what is told from the start, or from a snapshot, after it can be believed."""
        self.lost |= set(self.rooms)
        self.rooms.clear()

    def give_up_orphans(self) -> None:
        self.lost |= self._orphans
        self._orphans.clear()

    def replayed(self) -> None:
        """All up to the fence is in.  Raises Inconsistent for a room with events but no beginning."""
        if self._orphans:
            raise Inconsistent(f"no beginning in the log: {sorted(self._orphans)[:5]}")
        self._wakes.clear()
        for name, room in self.rooms.items():
            room.wakes_at = room.table.wakes_at()
            self._enter(name, room)

    # ---- the writer's side ----

    def opened(self, event: r.Opened, sequence: int, now: int) -> Table:
        """A new table, to be committed as `sequence` (0: not known yet, see `committed`)."""
        table = Table.open(self.games[event.game], event, now)
        self._enter(event.room, Room(table, sequence, now))
        self._orphans.discard(event.room)
        self.lost.discard(event.room)
        return table

    def close(self, room: str, why: str) -> None:
        entry = self.rooms.pop(room, None)
        if entry is not None:
            self.closed.pop(room, None)
            s = entry.table.state
            last = max((m.session for m in s.members), default=s.sessions)
            self.closed[room] = Closed(s.table, s.members[s.host].player, why, last, entry.table.bot_levels())
            while len(self.closed) > CLOSED_KEPT:
                del self.closed[next(iter(self.closed))]

    def undo(self, attempt: int) -> None:
        """Nobody waits for this try to attach any more, wherever it is by now."""
        self.undone[attempt] = None
        while len(self.undone) > UNDONE_KEPT:
            del self.undone[next(iter(self.undone))]

    def next_wake(self) -> int | None:
        """The room time at which a table does something by itself."""
        wakes = self._wakes
        while wakes:
            at, name = wakes[0]
            room = self.rooms.get(name)
            if room is not None and room.wakes_at == at:
                return at
            heappop(wakes)
        return None

    def changed(self, name: str) -> None:
        """A room's table did something: when it wakes next may be another time."""
        room = self.rooms[name]
        at = room.table.wakes_at()
        if at != room.wakes_at:
            room.wakes_at = at
            if at is not None:
                heappush(self._wakes, (at, name))

    def _enter(self, name: str, room: Room) -> None:
        self.rooms[name] = room
        if room.wakes_at is not None:
            heappush(self._wakes, (room.wakes_at, name))

    def time_to_look(self, now: int) -> bool:
        """Whether snapshots may be due: asked at every record, true at some."""
        if now < self._look_at and self._records < self._look_at_record:
            return False
        self._look_at, self._look_at_record = now + SNAPSHOT_MS // 10, self._records + SNAPSHOT_RECORDS // 10
        return True

    def due_snapshots(self, now: int, writes: int = r.VERSION) -> list[r.RoomSnapshot]:
        """Rooms to write again, oldest first, from committed state; `committed` notes them."""
        far = max(self.above(writes), self._far())
        due = [
            (room.base, name, room)
            for name, room in self.rooms.items()
            if room.base <= far or (room.dirty and now - room.base_at >= SNAPSHOT_MS)
        ]
        due.sort(key=itemgetter(0))
        found: list[r.RoomSnapshot] = []
        size = 0
        for _, name, room in due:
            data = store.dump(room.table, writes)
            if found and size + len(data) > SNAPSHOT_BYTES:
                break
            size += len(data)
            found.append(r.RoomSnapshot(name, data))
        return found

    def committed(self, record: r.Record, sequence: int) -> None:
        """A record that this engine made, and whose events its tables hold already, is in the log."""
        for snapshot in record.snapshots:
            room = self.rooms.get(snapshot.room)
            if room is not None and room.base:
                room.base, room.base_at, room.dirty = sequence, record.now, False
        for chunk in record.chunks:
            room = self.rooms.get(chunk.room)
            if room is not None:
                room.dirty = True
                room.base = room.base or sequence
        self._advance(sequence, record)

    def oldest_needed(self) -> int:
        """Records below this sequence may be purged; this one, and the last, never."""
        return min((room.base for room in self.rooms.values()), default=self.last)

    def needs(self, trimmed: int) -> int:
        """The version that a reader of the log from `trimmed` on must read."""
        return max((v for v, last in self._versions.items() if last >= trimmed), default=0)

    def above(self, writes: int) -> int:
        """The last record of a version above `writes`; rooms that lie in it or below are to be written again."""
        if self._highest <= writes:
            return 0
        return max((last for v, last in self._versions.items() if v > writes), default=0)

    def _advance(self, sequence: int, record: r.Record) -> None:
        self.now, self.last = max(self.now, record.now), sequence
        self._versions[record.version] = sequence
        if record.version > self._highest:
            self._highest = record.version
        self._records += 1
        self._sequences.append(sequence)
        if len(self._sequences) > 4 * SNAPSHOT_RECORDS:
            del self._sequences[: -2 * SNAPSHOT_RECORDS]

    def _far(self) -> int:
        """The sequence after which this partition has `SNAPSHOT_RECORDS` records, or as far back as is known."""
        known = self._sequences
        if len(known) >= SNAPSHOT_RECORDS:
            return known[-SNAPSHOT_RECORDS] - 1
        return known[0] - 1 if known else self.last
