"""Reads the partitions' log while players play, so that what they were told can be judged by it.

It reads by batches of direct gets, never by a consumer, which a NATS fault may leave deaf;
and faster than the log is trimmed.  What it read is checked link by link (`log_chain`) and
replayed by the engine's own ledger, from events alone: snapshots in the log are not
believed but compared.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from datetime import datetime
from typing import Any

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from games.registry import GAMES
from servicekit import bus
from servicekit.settings import Credentials
from services.engine import records, table_store
from services.engine.ledger import Ledger
from services.engine.records import Record
from services.engine.stream import EXPECTED, SLOT_ID
from services.engine.table import Table
from simulate.differences import differences
from simulate.findings import Findings
from simulate.log_chain import Chain
from simulate.room_log import LOGGED, REPLAYED, RoomLog
from wire import subjects

CHAIN = "the log is one chain"
READ = "the log can be read"
SNAPSHOTS = "snapshots in the log equal its replay"

POLL_EVERY = 0.1
BATCH = 512
AT_ONCE = 0.01
"""Seconds of reading before players get their turn."""
_ANSWER_WITHIN = 2.0


class Unread(Exception):
    """The log did not answer."""


def _unlike(data: bytes, table: Table) -> str:
    """What a snapshot has that a table hasn't, or the reverse; empty when it is but written in another version."""
    theirs = table_store.load(data, GAMES)
    if table_store.dump(theirs) == table_store.dump(table):
        return ""
    return differences(theirs.state, table.state, ("snapshot", "replay")) or "other cards"


class _Batch:
    """The messages of one direct get as they come, and the status that ends them."""

    def __init__(self) -> None:
        self.messages: list[Msg] = []
        self.status: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def hear(self, message: Msg) -> None:
        status = (message.headers or {}).get("Status")
        if status is None:
            self.messages.append(message)
        elif not self.status.done():
            self.status.set_result(str(status))


class LogWitness:
    """Reads on from now; `stop` when all that was told is asked for.  `faults` go to `found`.

    `from_first`: from the first record that is still there.
    """

    def __init__(
        self, nats_url: str, found: Findings, *, from_first: bool = False, credentials: Credentials | None = None
    ) -> None:
        self._url, self._found, self._from_first, self._credentials = nats_url, found, from_first, credentials
        self._nc: bus.Bus | None = None
        self._chain = Chain(0)
        self._seen = self._missed = 0
        self._ledgers: dict[int, Ledger] = {}
        self._reading: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self.rooms: dict[str, RoomLog] = {}
        self.decided = 0
        """Moves that the log decided, bots' too."""

    @property
    def records(self) -> int:
        return self._chain.records

    async def start(self) -> None:
        """Raises OSError, NatsError, TimeoutError, Unread."""
        self._nc = await asyncio.wait_for(bus.connect(self._url, "witness", credentials=self._credentials), 5)
        self._seen = 0 if self._from_first else await self._last()
        self._chain = Chain(self._seen)
        self._reading = asyncio.create_task(self._read_on(), name="log witness")

    async def stop(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._nc is not None:
            await self._nc.close()

    async def catch_up(self, patience: float = 10) -> bool:
        """Until all that is in the log now was read.

        False when that takes too long, or when records were trimmed away unread since it was asked last.
        """
        try:
            async with asyncio.timeout(patience):
                last = await self._last()
                while self._seen < last:
                    self._moved.clear()
                    await self._moved.wait()
        except (TimeoutError, Unread):
            return False
        missed, self._missed = self._chain.missed - self._missed, self._chain.missed
        return missed == 0

    # ---- reading ----

    async def _last(self) -> int:
        assert self._nc is not None
        try:
            answer = await self._nc.request(f"$JS.API.STREAM.INFO.{subjects.LOG_STREAM}", b"", timeout=_ANSWER_WITHIN)
            return int(msgspec.json.decode(answer.data)["state"]["last_seq"])
        except (nats.errors.Error, TimeoutError, KeyError) as error:
            raise Unread(repr(error)) from error

    async def _read_on(self) -> None:
        while True:
            try:
                full = await self._read_batch()
            except (Unread, NatsError, OSError):
                full = False
            self._moved.set()
            if not full:
                await asyncio.sleep(POLL_EVERY)

    async def _read_batch(self) -> bool:
        """What lies behind what was seen; whether there may be more.  Raises Unread."""
        assert self._nc is not None
        if not self._nc.is_connected:
            raise Unread("disconnected")
        payload = msgspec.json.encode({"seq": self._seen + 1, "next_by_subj": subjects.LOG_SUBJECTS, "batch": BATCH})
        inbox = self._nc.new_inbox()
        batch = _Batch()
        subscription = await self._nc.subscribe(inbox, cb=batch.hear)
        try:
            await self._nc.publish(f"$JS.API.DIRECT.GET.{subjects.LOG_STREAM}", payload, reply=inbox)
            try:
                async with asyncio.timeout(_ANSWER_WITHIN):  # wait_for would keep a cancellation to itself
                    status = await batch.status
            except TimeoutError:
                status = ""  # what has come is in order, and the rest is asked for again
        finally:
            with contextlib.suppress(NatsError, OSError):
                await subscription.unsubscribe()
        began = time.monotonic()
        for message in batch.messages:
            self._take(message.data, message.headers or {})
            if time.monotonic() - began > AT_ONCE:
                await asyncio.sleep(0)
                began = time.monotonic()
        if status not in ("204", "404"):
            raise Unread(status or "no answer")
        return len(batch.messages) >= BATCH

    # ---- taking in ----

    def _take(self, data: bytes, headers: dict[str, Any]) -> None:
        sequence = int(headers["Nats-Sequence"])
        if sequence <= self._seen:
            return
        self._seen = sequence
        record = records.decode(data)
        missed = self._chain.missed
        wrong = self._chain.take(sequence, int(headers.get(EXPECTED, -1)), str(headers.get(SLOT_ID, "")), record)
        for words in wrong or [""]:
            self._found.check(CHAIN, not words, words)
        if self._chain.missed > missed:
            self._start_anew(record.partition)
        self._replay(record, sequence)
        at = datetime.fromisoformat(str(headers["Nats-Time-Stamp"])[:26].rstrip("Z") + "+00:00").timestamp()
        for chunk in record.chunks:
            room = self.rooms.setdefault(chunk.room, RoomLog())
            for step in chunk.steps:
                room.take(step, at)
                self.decided += step.id is not None
        for snapshot in record.snapshots:
            if (known := self.rooms.get(snapshot.room)) is not None:
                known.told_by_snapshot.clear()

    def _start_anew(self, partition: int) -> None:
        """Records went away unread: the rooms of this partition are known again from their next snapshots."""
        ledger = self._ledgers.pop(partition, None)
        for name in ledger.rooms if ledger is not None else ():
            self.rooms[name].table = None

    def _replay(self, record: Record, sequence: int) -> None:
        ledger = self._ledgers.setdefault(record.partition, Ledger(GAMES))
        unknown = []
        for snapshot in record.snapshots:
            table = ledger.table(snapshot.room)
            if table is None:
                unknown.append(snapshot)
                continue
            words = "" if snapshot.data == table_store.dump(table) else _unlike(snapshot.data, table)
            self._found.check(SNAPSHOTS, not words, f"{snapshot.room}: {words}")
        stripped = msgspec.structs.replace(record, snapshots=unknown)
        ledger.replay(stripped, sequence)
        for snapshot in unknown:
            table = ledger.table(snapshot.room)
            if table is not None:
                self.rooms.setdefault(snapshot.room, RoomLog()).resume(table)
        for chunk in record.chunks:
            self.rooms.setdefault(chunk.room, RoomLog()).table = ledger.table(chunk.room)


__all__ = ["CHAIN", "LOGGED", "READ", "REPLAYED", "SNAPSHOTS", "LogWitness", "NatsError", "Unread"]
