"""A partition's log in JetStream: append until resolved, and read with the chain checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import msgspec

from services.engine import records as r
from services.engine.ledger import Inconsistent
from services.engine.partition import EMPTY, Last, Partition, Slot, Verdict, epoch_of
from services.engine.stream import EXPECTED, NEEDED, SLOT_ID, Message, StreamAway
from wire import subjects

BACKOFF = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Seconds between tries of the same bytes; the last one repeats."""


class LogStream(Protocol):
    """What a log needs of its stream (see `stream.Stream`).

    `append` and `last` must speak to the leader; `read` may be behind, but never out of order.
    """

    async def append(self, subject: str, body: bytes, expected: int, id: str = "", needed: int = 0) -> int | None: ...

    async def last(self, subject: str) -> Message | None: ...

    async def read(self, subject: str, sequence: int) -> list[Message]: ...

    async def purge_below(self, subject: str, sequence: int) -> bool: ...


class Log:
    """All partitions' logs.  `doubted` hears of each append that was not plainly acknowledged."""

    def __init__(self, stream: LogStream, doubted: Callable[[Verdict], None]) -> None:
        self._stream = stream
        self._doubted = doubted
        self._began: dict[int, float] = {}

    def waited(self) -> float:
        """Seconds that the oldest append under way has been that; 0: none is."""
        now = asyncio.get_running_loop().time()
        return max((now - at for at in self._began.values()), default=0.0)

    async def last(self, partition: int) -> Last:
        """The last record's place, from the leader.  Raises StreamAway."""
        message = await self._stream.last(subjects.log(partition))
        if message is None:
            return EMPTY
        id = message.headers.get(SLOT_ID, "")
        said = message.headers.get(NEEDED, "")
        needed = int(said) if said.isdigit() and int(said) <= message.sequence else 0
        return Last(message.sequence, id, epoch_of(id), r.version_of(message.data), needed)

    async def append(self, partition: Partition, slot: Slot) -> Verdict:
        """Send a slot until it is resolved, however long that takes.  NEW_FENCE is followed here."""
        self._began[partition.number] = asyncio.get_running_loop().time()
        subject = subjects.log(partition.number)
        try:
            sequence = await self._stream.append(subject, slot.body, slot.expected, slot.id, slot.needed)
            return await self._resolve(partition, slot) if sequence is None else partition.acked(sequence)
        finally:
            self._began.pop(partition.number, None)

    async def _resolve(self, partition: Partition, slot: Slot) -> Verdict:
        """What became of a slot that was not plainly acknowledged: sent again until that is known."""
        subject = subjects.log(partition.number)
        tries = 0
        while True:
            try:
                verdict = partition.judge(await self.last(partition.number))
            except StreamAway:
                verdict = Verdict.AGAIN
            self._doubted(verdict)
            if verdict is Verdict.NEW_FENCE:
                slot = partition.fence_again()
            elif verdict is not Verdict.AGAIN:
                return verdict
            await asyncio.sleep(BACKOFF[min(tries, len(BACKOFF) - 1)])
            tries += 1
            sequence = await self._stream.append(subject, slot.body, slot.expected, slot.id, slot.needed)
            if sequence is not None:
                return partition.acked(sequence)

    async def read(
        self, partition: int, fence: int, gap: Callable[[str], None] | None = None, needed: int = 0
    ) -> AsyncIterator[tuple[int, r.Record]]:
        """All records from the oldest `needed` up to the fence, in order, each the follower of the one before it.

        With `gap`, which an operator asks for, what is missing or can't be read is told
        there and passed over.

        Only the first may follow one that is trimmed away.  Raises Inconsistent for a
        chain that can't be, `Trimmed` when records went away meanwhile (start again),
        StreamAway.
        """
        at, previous, epoch = max(0, needed - 1), 0, 0
        while at < fence:
            batch = await self._stream.read(subjects.log(partition), at + 1)
            if not batch:
                await asyncio.sleep(BACKOFF[2])  # A replica that is behind: ask again.
                continue
            for message in batch:
                if message.sequence > fence:
                    raise Trimmed  # The fence itself is gone: a later owner writes, and trims.
                expected = int(message.headers.get(EXPECTED, "-1"))
                if previous and expected != previous:
                    if gap is not None:
                        gap(f"records between {previous} and {message.sequence} are missing")
                    elif expected > previous:
                        raise Trimmed
                    else:
                        raise Inconsistent(f"record {message.sequence} follows {expected}, not {previous}")
                before, epoch = epoch, epoch_of(message.headers.get(SLOT_ID, ""))
                if epoch < before and gap is None:
                    raise Inconsistent(f"record {message.sequence} is of epoch {epoch}, after {before}")
                previous = at = message.sequence
                try:
                    record = r.decode(message.data)
                except msgspec.DecodeError as error:
                    if gap is None:
                        raise
                    gap(f"record {message.sequence} can't be read: {error}")
                else:
                    yield message.sequence, record
                if at == fence:
                    return

    async def trim(self, partition: int, oldest: int) -> bool:
        """Remove what lies below the oldest record needed; that one, and so the last, stays."""
        return await self._stream.purge_below(subjects.log(partition), oldest)


class Trimmed(Exception):
    """Records were trimmed while they were read."""
