"""One partition at this engine: its queue, its single writer, its commit loop.

All that arrived while an append was under way forms the next record.  Nothing leaves
(frame, reply, View, news) before the record that it depends on is committed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

import msgspec
import nats.errors

from servicekit import logs
from services.engine import records as r
from services.engine.batch import Batch
from services.engine.bell import Bell
from services.engine.claims import Placed
from services.engine.floor import Floor
from services.engine.items import Call, CommandItem, Item
from services.engine.ledger import Inconsistent, Ledger
from services.engine.partition import Partition, Phase, Verdict
from services.engine.placing import entry, say_halted, step_back
from services.engine.replay import Replay
from services.engine.sitting import Fault
from services.engine.stream import StreamAway
from services.engine.trimming import Trimming
from wire import subjects
from wire.news import Entry, TableNews

MAX_ITEMS = 256
MAX_QUEUED = 8192
MAX_RECORD = 900 * 1024
PROOF_S = 0.75
"""Nothing is said without a record when the last proof of the ownership began longer ago: then a record proves it."""
TICK_MS, FINE_TICK_MS, FINE_WITHIN_MS = 10_000, 1_000, 20_000
"""Room time is recorded so often while a clock runs, more often when it soon ends: a new owner goes on from there."""
SOONEST = 0.01
RETRY = 0.1


class Lost(Exception):
    """The partition is not this engine's any more."""


MakeBatch = Callable[[Ledger, int, int, int], Batch]


class MakeOwner(Protocol):
    """As Owner is made."""

    def __call__(self, number: int, floor: Floor, *, lose: bool = False) -> Owner: ...


class Owner:
    """Made to claim; `run` ends when the partition is handed over, lost or halted."""

    def __init__(self, number: int, floor: Floor, *, lose: bool = False) -> None:
        """`lose`: an operator gives up what of the log can't be read."""
        self.partition = Partition(number, floor.boot)
        self.number = number
        self.ledger = Ledger(floor.games)
        self.proved_at = 0.0
        self._floor = floor
        self._batch: MakeBatch = Batch
        self._queue: deque[Item] = deque()
        self._bell = Bell()
        self._revision = 0
        self._hand_to: tuple[str, str] | None = None
        self._superseded = False
        self._unplaced = False
        self._lose = lose
        self.told = asyncio.Event()
        """It is open, or over."""
        self._room_time = 0.0
        self._loop = asyncio.get_running_loop()  # asked once: each question is a system call
        self._trimming = Trimming(floor.log, number, floor.trim_after)
        self._faulty = False
        self.served_at: float | None = None
        """When it opened here, in seconds of the loop's clock; None: it never did."""
        self.faulted = False
        """It ended by a fault of this engine's own."""
        self.busy = False
        """A record is under way: the tables are ahead of what is committed."""
        self._log = logs.logger(__name__).bind(partition=number)

    # ---- from outside ----

    @property
    def open(self) -> bool:
        return self.partition.phase is Phase.OPEN

    @property
    def leaving(self) -> bool:
        return self._hand_to is not None

    @property
    def depth(self) -> int:
        return len(self._queue)

    def submit(self, item: Item) -> None:
        """Queue an item; one that can't be served here fails at once."""
        if self.partition.phase is not Phase.OPEN or self._superseded:
            item.fail()
            return
        if len(self._queue) >= MAX_QUEUED and isinstance(item, CommandItem | Call):
            item.busy()  # Its sender comes again; the stream that it came by goes on for other partitions.
            self._floor.metrics.sent_back()
            return
        if isinstance(item, CommandItem):
            item.at = self._loop.time()
        self._queue.append(item)
        self._bell.ring()

    def hand_to(self, engine: str, addr: str) -> None:
        """Give the partition away as soon as what is under way is resolved; an empty name: to anybody."""
        self._hand_to = (engine, addr)
        self._bell.ring()

    @property
    def needs(self) -> int:
        """The record version that an heir must read."""
        return max(1, self.ledger.needs(self._trimming.reached))

    def rewrite(self) -> None:
        """An older engine is there: what lies in the log in a newer version is written again for it."""
        if self._to_rewrite(self._floor.writes):
            self._bell.ring()

    def _to_rewrite(self, writes: int) -> bool:
        above = self.ledger.above(writes)
        return above > 0 and above >= self._trimming.reached

    def placed(self, at: Placed) -> None:
        """News of the own placement: a higher epoch ends this owner."""
        if at.entry.epoch > self.partition.epoch > 0:
            self._superseded = True
            self._bell.ring()

    def unplaced(self) -> None:
        """Its placement is gone from the bucket.  If the log is still there, it is put back."""
        self._unplaced = True
        self._bell.ring()

    def room_now(self) -> int:
        """Room time in ms: goes on from the last record's, while this engine has the partition."""
        return self.ledger.now + int((self._loop.time() - self._room_time) * 1000)

    # ---- the life of it ----

    async def run(self) -> None:
        """Claim, replay, serve.  Returns when it is over; the partition's phase says how."""
        try:
            if await self._claim():
                await self._serve()
        except Lost as lost:
            self._floor.metrics.partition_lost()
            self._log.warning("partition lost", why=str(lost) or self.partition.why)
        except Inconsistent as error:
            self.partition.halt(str(error))
        except Exception:
            self.faulted = True
            self._floor.metrics.partition_lost()
            self._log.exception("a fault; the partition is dropped, to be claimed and replayed again")
        finally:
            if self.partition.phase is Phase.HALTED:
                self._floor.metrics.halted()
                self._log.error("PARTITION HALTED: an operator must look", why=self.partition.why)
                await say_halted(self._floor, self.partition)
            self.partition.dropped()
            self.told.set()
            while self._queue:
                self._queue.popleft().fail()
            for room in self.ledger.rooms:
                self._floor.forgotten(room)
            self._trimming.stop()
            self._bell.stop()

    async def _claim(self) -> bool:
        floor, partition = self._floor, self.partition
        began = self._loop.time()
        try:
            last, at = await asyncio.gather(floor.log.last(self.number), floor.board.entry(self.number))
        except StreamAway:
            return False
        if last.version > r.VERSION:
            epoch = max(last.epoch, at.entry.epoch if at is not None else 0)
            await step_back(floor, self.number, last.version, epoch, at.revision if at is not None else 0)
            return False
        seen = floor.board.epochs.get(self.number, 0)
        epoch = partition.claim(last, max(seen, at.entry.epoch if at is not None else 0))
        try:
            revision = await floor.board.place(
                self.number, entry(floor, partition, "opening"), at.revision if at else 0
            )
        except StreamAway:
            revision = None
        if revision is None:
            partition.claim_lost()
            floor.metrics.claim_lost()
            return False
        self._revision = revision
        body = r.encode(r.Record(r.BEFORE, self.number, epoch, "claim", 0))
        if await floor.log.append(partition, partition.won(body)) is not Verdict.COMMITTED:
            raise Lost
        try:
            await self._replay()
        except r.UnknownVersion as unknown:
            await step_back(floor, self.number, unknown.version, epoch, revision)
            return False
        partition.replayed()
        self.proved_at = self._room_time = self._loop.time()
        await self._announce()
        self.served_at = self._loop.time()
        self.told.set()
        floor.metrics.claimed(self.proved_at - began)
        floor.serving(self)
        self._not_needed_below(self.ledger.oldest_needed())
        self._log.debug("partition open", epoch=epoch, rooms=len(self.ledger.rooms))
        for table in [room.table for room in self.ledger.rooms.values()]:
            floor.opened(self, table)
        for room, closed in self.ledger.closed.items():
            news = TableNews(room, closed.table, "closed", closed.host, closed.why, closed.bots)
            await floor.bus.publish(subjects.TABLE_NEWS, msgspec.json.encode(news))
        return True

    async def _replay(self) -> None:
        floor, needed = self._floor, self.partition.needed
        replay = Replay(
            floor.log, floor.games, self.number, lose=self._lose, wanted=lambda: not self._superseded, needed=needed
        )
        ledger = await replay.run(self.partition.fence)
        if ledger is None:
            raise Lost("another engine claimed it during the replay")
        self.ledger = ledger

    async def _announce(self, *, wiped: bool = False) -> None:
        """The placement says open; whoever changed it meanwhile has a higher epoch.  `wiped`: there may be none."""
        while True:
            try:
                revision = await self._floor.board.place(
                    self.number, entry(self._floor, self.partition, "open"), self._revision
                )
                if revision is not None:
                    self._revision = revision
                    return
                at = await self._floor.board.entry(self.number)
                if at is None and not wiped:
                    await self._look_at_the_log()
                    wiped = True
            except StreamAway:
                await asyncio.sleep(RETRY)
                continue
            if at is None:
                self._revision = 0
                continue
            if (at.entry.owner, at.entry.epoch) != (self._floor.name, self.partition.epoch):
                raise Lost("its placement was changed by another engine")
            self._revision = at.revision
            await asyncio.sleep(RETRY)

    async def _look_at_the_log(self) -> None:
        """The bucket was wiped as this partition was being opened; the log too?  Then what was read is not there.

        Raises Lost, and halts when tables would be gone with it; raises StreamAway.
        """
        partition = self.partition
        last = await self._floor.log.last(self.number)
        if (last.sequence, last.epoch) == (partition.last, partition.epoch):
            return
        if self.ledger.rooms and last.epoch <= partition.epoch:
            partition.halt(f"the log ends with {last.id or 'nothing'} at {last.sequence}, after {partition.last}")
        raise Lost("its placement is gone, and the log is another")

    # ---- serving ----

    async def _serve(self) -> None:
        self._bell.ring()
        while True:
            await self._wait()
            if self._superseded:
                self.partition.deposed()
                raise Lost("another engine has a higher epoch")
            if self._hand_to is not None:
                await self._hand_over(*self._hand_to)
                return
            unplaced = self._unplaced
            self.busy = True
            await self._turn()
            self.busy = False
            if unplaced:
                self._unplaced = False
                await self._announce(wiped=True)

    async def _wait(self) -> None:
        if self._queue or self._hand_to is not None or self._superseded or self._unplaced:
            return
        self._bell.hush()
        wake = self._next_wake()
        if wake is not None:
            delay = (wake - self.room_now()) / 1000
            self._bell.ring_in(max(1.0 if self._faulty else SOONEST, delay), not_before=self._faulty)
        await self._bell.wait()

    def _next_wake(self) -> int | None:
        at = self.ledger.next_wake()
        return None if at is None else min(at, self.ledger.now + self._tick_ms(at))

    def _tick_ms(self, wakes_at: int | None) -> int:
        """How old the last record may be while a clock runs."""
        soon = wakes_at is not None and wakes_at - self.ledger.now < FINE_WITHIN_MS
        return FINE_TICK_MS if soon else TICK_MS

    async def _turn(self) -> None:
        """One batch: decide, commit, tell."""
        began = self._loop.time()
        now = self.ledger.now + int((began - self._room_time) * 1000)
        batch = self._batch(self.ledger, self.partition.epoch, now, self._floor.writes)
        batch.wake()
        queue = self._queue
        taken = [queue.popleft() for _ in range(min(MAX_ITEMS, len(queue)))]
        try:
            for item in taken:
                batch.take(item)
            batch.finish()
            self._note_faults(batch.faults)
            if not batch.empty or self._must_record(batch, began):
                await self._commit(batch, began)
            committed = self._loop.time()
        except BaseException:
            for item in taken:
                item.fail()
            raise
        self._queue.extendleft(reversed(batch.deferred))
        for after in batch.afterwards:
            after()
        await self._tell(batch)
        metrics, told = self._floor.metrics, self._loop.time()
        metrics.turn(len(taken), batch.decided, len(batch.outgoing), told - began)
        metrics.moves_answered(batch.arrived, committed, told)
        for name, sitting in batch.sittings.items():
            if sitting.hand_end:
                metrics.hand_ended(sitting.table.state.game, sitting.hand_end)
            if not sitting.changed:
                self._floor.told(name, began)
            elif sitting.table.state.phase == "closed":
                self._floor.forgotten(name)
            else:
                self._floor.touched(self, sitting.table)

    def _must_record(self, batch: Batch, began: float) -> bool:
        """Whether a record is due though nothing happened: what is told without one, or time, or an older reader."""
        if self._unplaced or self._to_rewrite(batch.writes):
            return True
        if batch.unrecorded:
            proved_at = max(self.proved_at, self._floor.lease_proof(self.proved_at))
            if began - proved_at > PROOF_S:
                return True
        return batch.now - self.ledger.now >= self._tick_ms(self.ledger.next_wake())

    async def _tell(self, batch: Batch) -> None:
        """Frames and news.  While NATS is away they are dropped at last: beacons tell readers of the gap."""
        bus = self._floor.bus
        try:
            for outgoing in batch.outgoing:
                await bus.publish(outgoing.subject, outgoing.data)
            for news in batch.news:
                await bus.publish(subjects.TABLE_NEWS, msgspec.json.encode(news))
        except nats.errors.Error as error:
            self._log.warning("frames were not sent", error=repr(error))

    async def _commit(self, batch: Batch, began: float) -> None:
        record = r.Record(
            batch.writes, self.number, self.partition.epoch, "data", batch.now, batch.snapshots, batch.chunks
        )
        body = r.encode(record)
        if len(body) > MAX_RECORD:
            self.partition.halt(f"a record of {len(body)} bytes")
            raise Lost
        if await self._floor.log.append(self.partition, self.partition.stage(body)) is not Verdict.COMMITTED:
            raise Lost
        self._floor.metrics.appended(self._loop.time() - began, len(body))
        self.proved_at = began
        # Room time runs on from the moment for which the record was made.
        self._room_time = began
        self.ledger.committed(record, self.partition.last)
        if batch.snapshots or not self.ledger.rooms or self._to_rewrite(batch.writes):
            self._not_needed_below(self.ledger.oldest_needed())

    def _not_needed_below(self, oldest: int) -> None:
        self.partition.needed = oldest
        self._trimming.to(oldest)

    def _note_faults(self, faults: list[Fault]) -> None:
        self._faulty = bool(faults)
        for fault in faults:
            self._floor.metrics.faulted()
            log = self._log.bind(room=fault.room, seat=fault.seat)
            log.error("a fault in a room; it goes on without this command", exc_info=fault.error)

    async def _hand_over(self, engine: str, addr: str) -> None:
        partition = self.partition
        partition.hand()
        now = self.room_now()
        body = r.encode(r.Record(r.BEFORE, self.number, partition.epoch, "release", now, to=engine))
        if await self._floor.log.append(partition, partition.stage(body)) is not Verdict.COMMITTED:
            raise Lost
        offered = False
        try:
            offer = Entry(engine, addr, partition.epoch + 1, "offer", self.needs)
            offered = await self._floor.board.place(self.number, offer, self._revision) is not None
            if not offered:
                self._log.warning("the offer was not taken: the placement had changed")
        except StreamAway:
            self._log.warning("the offer could not be made; others will find this engine gone")
        self._floor.metrics.handed_over(offered=offered)
        self._log.debug("partition handed over", to=engine or "anybody")
