"""Rules broken on purpose, one at a time: a model that doesn't find them proves nothing.

Each patches the real code for as long as a world runs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import msgspec

from model.planted_tables import (
    answers_not_replayed,
    frames_before_commit,
    gaps_taken,
    late_attach_wins,
    late_close_detaches,
    never_sent_again,
    old_tabs_play,
    questions_forgotten,
    snapshot_ahead,
    tab_counts_anew,
    unlogged_refusal,
    view_before_commit,
)
from model.planting import Original, Plant, put
from servicekit import feed
from services.engine import lease
from services.engine import records as r
from services.engine import table_store as store
from services.engine.batch import Batch
from services.engine.beacons import Beacons
from services.engine.board import Board
from services.engine.lease import Silence
from services.engine.ledger import Ledger
from services.engine.log import BACKOFF, Log
from services.engine.owner import Owner
from services.engine.partition import Last, Partition, Phase, Slot, Verdict
from services.engine.stream import EXPECTED, SLOT_ID, Stream, StreamAway
from wire import subjects


class _Busy(Exception):
    """10164."""


def busy_is_deposed(stack: contextlib.ExitStack) -> None:
    """10164 is taken for “another engine writes”."""

    async def append(
        self: Stream, subject: str, body: bytes, expected: int, id: str = "", needed: int = 0
    ) -> int | None:
        headers = {EXPECTED: str(expected)} | ({SLOT_ID: id} if id else {})
        answer = await self._asker.ask(subject, body, headers)
        ack = msgspec.json.decode(answer) if answer is not None else {}
        if ack.get("error", {}).get("err_code") == 10164 and subject.startswith("log."):
            raise _Busy
        sequence: int = ack.get("seq", 0)
        return sequence or None

    def until_busy(original: Original) -> Any:
        async def append(self: Log, partition: Partition, slot: Slot) -> Verdict:
            try:
                verdict: Verdict = await original(self, partition, slot)
                return verdict
            except _Busy:
                partition.deposed()
                return Verdict.DEPOSED

        return append

    put(stack, Stream, "append", lambda _: append)
    put(stack, Log, "append", until_busy)


def bytes_changed(stack: contextlib.ExitStack) -> None:
    """A retry makes its record anew, with the time of day of the retry."""

    async def append(self: Log, partition: Partition, slot: Slot) -> Verdict:
        subject, tries = subjects.log(partition.number), 0
        while True:
            sequence = await self._stream.append(subject, slot.body, slot.expected, slot.id)
            if sequence is not None:
                return partition.acked(sequence)
            try:
                verdict = partition.judge(await self.last(partition.number))
            except StreamAway:
                verdict = Verdict.AGAIN
            if verdict is Verdict.NEW_FENCE:
                slot = partition.fence_again()
            elif verdict is not Verdict.AGAIN:
                return verdict
            record = r.decode(slot.body)
            record.now += 1
            slot = slot._replace(body=r.encode(record))
            await asyncio.sleep(BACKOFF[min(tries, len(BACKOFF) - 1)])
            tries += 1

    put(stack, Log, "append", lambda _: append)


def unfenced_checkpoint(stack: contextlib.ExitStack) -> None:
    """Snapshots go into the log by themselves, behind whatever is its end: an old owner's too."""

    def with_checkpoint(original: Original) -> Any:
        async def commit(self: Owner, batch: Batch, began: float) -> None:
            await original(self, batch, began)
            if self.ledger._records % 4 or not self.ledger.rooms:
                return
            partition, log = self.partition, self._floor.log
            rooms = [r.RoomSnapshot(name, store.dump(room.table)) for name, room in self.ledger.rooms.items()]
            record = r.Record(r.VERSION, self.number, partition.epoch, "data", batch.now, rooms)
            done: int | None = None
            while done is None:
                with contextlib.suppress(StreamAway):
                    last = await log.last(self.number)
                    id = f"{self.number}:{partition.epoch}:c{self.ledger._records}:{partition.nonce}"
                    if last.id == id:
                        done = last.sequence
                        break
                    body = r.encode(record)
                    done = await log._stream.append(subjects.log(self.number), body, last.sequence, id)
                await asyncio.sleep(0.05)
            partition.last = done
            self.ledger.committed(record, done)

        return commit

    put(stack, Owner, "_commit", with_checkpoint)


def read_before_fence(stack: contextlib.ExitStack) -> None:
    """The log is read as it was before the claim record: what came between is missed."""
    before: dict[int, int] = {}

    def noting(original: Original) -> Any:
        def won(self: Partition, body: bytes) -> Slot:
            before[self.number] = self.last
            slot: Slot = original(self, body)
            return slot

        return won

    def blind(original: Original) -> Any:
        async def read(self: Log, partition: int, fence: int, *rest: Any) -> AsyncIterator[tuple[int, r.Record]]:
            async for sequence, record in original(self, partition, fence, *rest):
                if sequence <= before.get(partition, 0) or sequence == fence:
                    yield sequence, record

        return read

    put(stack, Partition, "won", noting)
    put(stack, Log, "read", blind)


def elapsed_expiry(stack: contextlib.ExitStack) -> None:
    """A peer is dead when it was not heard of for a second, whatever happened to oneself meanwhile."""

    def alive(self: Silence) -> set[str]:
        now = asyncio.get_running_loop().time()
        gone = {peer for peer, silence in self._silence.items() if silence >= lease.DEAD_AFTER}
        return {peer for peer, at in self._changed.items() if now - at < lease.DEAD_AFTER} - gone

    def renewed(original: Original) -> Any:
        def renewed(self: Silence, now: float) -> None:
            before = dict(self._silence)
            original(self, now)
            self._silence = before

        return renewed

    put(stack, Silence, "alive", lambda _: alive)
    put(stack, Silence, "renewed", renewed)


def trim_past_snapshot(stack: contextlib.ExitStack) -> None:
    """The log is trimmed up to the newest snapshot of any room, not the oldest."""

    def oldest_needed(self: Ledger) -> int:
        return max((room.base for room in self.rooms.values()), default=self.last) + 1

    put(stack, Ledger, "oldest_needed", lambda _: oldest_needed)


def no_beacons(stack: contextlib.ExitStack) -> None:
    """Nobody says what the last frame was, and nobody asks."""

    async def tick(self: Beacons) -> None:
        return None

    put(stack, Beacons, "tick", lambda _: tick)
    put(stack, feed, "SILENCE", lambda _: 1e9)
    put(stack, feed.Feeds, "_check_all", lambda _: lambda self: None)


def trim_ahead_of_the_log(stack: contextlib.ExitStack) -> None:
    """The log is trimmed by what the tables need now, a table's end that is not in yet included."""

    def ahead(original: Original) -> Any:
        async def commit(self: Owner, batch: Batch, began: float) -> None:
            self._trimming.to(self.ledger.oldest_needed())
            await original(self, batch, began)

        return commit

    put(stack, Owner, "_commit", ahead)


def placement_taken_unheard(stack: contextlib.ExitStack) -> None:
    """A placement that was not acknowledged counts as taken."""

    def hopeful(original: Original) -> Any:
        async def place(self: Board, partition: int, entry: Any, revision: int) -> int | None:
            done: int | None = await original(self, partition, entry, revision)
            return revision + 1 if done is None else done

        return place

    put(stack, Board, "place", hopeful)


def no_claim_record(stack: contextlib.ExitStack) -> None:
    """The placement is enough: nothing fences the log."""

    def unfenced(original: Original) -> Any:
        async def append(self: Log, partition: Partition, slot: Slot) -> Verdict:
            if partition.phase is Phase.FENCING:
                partition.phase, partition.slot, partition.fence = Phase.REPLAYING, None, partition.last
                return Verdict.COMMITTED
            verdict: Verdict = await original(self, partition, slot)
            return verdict

        return append

    put(stack, Log, "append", unfenced)


def epoch_kept(stack: contextlib.ExitStack) -> None:
    """A claim goes on with the highest epoch there is."""

    def kept(original: Original) -> Any:
        def claim(self: Partition, last: Last, placed_epoch: int) -> int:
            original(self, last, placed_epoch)
            self.epoch = max(1, self.epoch - 1)
            return self.epoch

        return claim

    put(stack, Partition, "claim", kept)


def append_without_fence(stack: contextlib.ExitStack) -> None:
    """The lease is trusted: appends don't say what they follow."""

    def trusting(original: Original) -> Any:
        async def append(
            self: Stream, subject: str, body: bytes, expected: int, id: str = "", needed: int = 0
        ) -> int | None:
            if not subject.startswith("log."):
                done: int | None = await original(self, subject, body, expected, id)
                return done
            answer = await self._asker.ask(subject, body, {SLOT_ID: id})
            ack = msgspec.json.decode(answer) if answer is not None else {}
            sequence: int = ack.get("seq", 0)
            return sequence or None

        return append

    put(stack, Stream, "append", trusting)


def needed_ahead(stack: contextlib.ExitStack) -> None:
    """A record says that none before it is needed, whatever was written again."""

    def ahead(original: Original) -> Any:
        def below(self: Owner, oldest: int) -> None:
            original(self, oldest)
            self.partition.needed = self.partition.last

        return below

    put(stack, Owner, "_not_needed_below", ahead)


PLANTED: Mapping[str, Plant] = {
    plant.__name__: plant
    for plant in (
        busy_is_deposed,
        bytes_changed,
        unfenced_checkpoint,
        read_before_fence,
        unlogged_refusal,
        elapsed_expiry,
        trim_past_snapshot,
        trim_ahead_of_the_log,
        no_beacons,
        placement_taken_unheard,
        no_claim_record,
        epoch_kept,
        view_before_commit,
        frames_before_commit,
        answers_not_replayed,
        snapshot_ahead,
        old_tabs_play,
        late_close_detaches,
        gaps_taken,
        never_sent_again,
        questions_forgotten,
        append_without_fence,
        late_attach_wins,
        tab_counts_anew,
        needed_ahead,
    )
}


@contextlib.contextmanager
def planted(name: str) -> Iterator[None]:
    """With this rule broken; "" breaks none.  Raises KeyError for a name that is none."""
    with contextlib.ExitStack() as stack:
        if name:
            PLANTED[name](stack)
        yield
