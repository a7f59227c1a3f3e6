"""Reads the partitions' log while players play, so that what they were told can be judged by it.

It reads by batches of direct gets, never by a consumer, which a NATS fault may leave deaf;
and faster than the log is trimmed.  What it read is checked link by link (`log_chain`) and
replayed by the engine's own ledger, from events alone: snapshots in the log are not
believed but compared.
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import datetime
from typing import Any

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from games.registry import GAMES
from servicekit import bus
from services.engine import records, table_store
from services.engine.ledger import Ledger
from services.engine.records import Record
from services.engine.stream import EXPECTED, SLOT_ID
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
_ANSWER_WITHIN = 2.0


class Unread(Exception):
    """The log did not answer."""


class LogWitness:
    """Reads on from now; `stop` when all that was told is asked for.  `faults` go to `found`."""

    def __init__(self, nats_url: str, found: Findings) -> None:
        self._url, self._found = nats_url, found
        self._nc: bus.Bus | None = None
        self._chain = Chain(0)
        self._seen = 0
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
        self._nc = await asyncio.wait_for(bus.connect(self._url, "witness"), 5)
        self._seen = await self._last()
        self._chain = Chain(self._seen)
        self._reading = asyncio.create_task(self._read_on(), name="log witness")

    async def stop(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._nc is not None:
            await self._nc.close()

    async def catch_up(self, patience: float = 10) -> bool:
        """Until all that is in the log now was read; False when that takes too long."""
        try:
            async with asyncio.timeout(patience):
                last = await self._last()
                while self._seen < last:
                    self._moved.clear()
                    await self._moved.wait()
        except (TimeoutError, Unread):
            return False
        return self._chain.missed == 0

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
        heard: asyncio.Queue[Msg] = asyncio.Queue()
        subscription = await self._nc.subscribe(inbox, cb=heard.put)
        count = 0
        try:
            await self._nc.publish(f"$JS.API.DIRECT.GET.{subjects.LOG_STREAM}", payload, reply=inbox)
            while True:
                message = await asyncio.wait_for(heard.get(), _ANSWER_WITHIN)
                headers = message.headers or {}
                if "Status" in headers:
                    if headers["Status"] not in ("204", "404"):
                        raise Unread(str(headers))
                    return count >= BATCH
                count += 1
                self._take(message.data, headers)
        except TimeoutError as error:
            raise Unread("no answer") from error
        finally:
            with contextlib.suppress(NatsError, OSError):
                await subscription.unsubscribe()

    # ---- taking in ----

    def _take(self, data: bytes, headers: dict[str, Any]) -> None:
        sequence = int(headers["Nats-Sequence"])
        if sequence <= self._seen:
            return
        self._seen = sequence
        record = records.decode(data)
        wrong = self._chain.take(sequence, int(headers.get(EXPECTED, -1)), str(headers.get(SLOT_ID, "")), record)
        for words in wrong or [""]:
            self._found.check(CHAIN, not words, words)
        self._replay(record, sequence)
        at = datetime.fromisoformat(str(headers["Nats-Time-Stamp"])[:26].rstrip("Z") + "+00:00").timestamp()
        for chunk in record.chunks:
            room = self.rooms.setdefault(chunk.room, RoomLog())
            for step in chunk.steps:
                room.take(step, at)
                self.decided += step.id is not None

    def _replay(self, record: Record, sequence: int) -> None:
        ledger = self._ledgers.setdefault(record.partition, Ledger(GAMES))
        unknown = []
        for snapshot in record.snapshots:
            table = ledger.table(snapshot.room)
            if table is None:
                unknown.append(snapshot)
                continue
            theirs = table_store.load(snapshot.data, GAMES)
            same = table_store.dump(theirs) == table_store.dump(table)
            words = "" if same else differences(theirs.state, table.state, ("snapshot", "replay")) or "other cards"
            self._found.check(SNAPSHOTS, same, f"{snapshot.room}: {words}")
        stripped = msgspec.structs.replace(record, snapshots=unknown)
        ledger.replay(stripped, sequence)
        for chunk in record.chunks:
            self.rooms.setdefault(chunk.room, RoomLog()).table = ledger.table(chunk.room)


__all__ = ["CHAIN", "LOGGED", "READ", "REPLAYED", "SNAPSHOTS", "LogWitness", "NatsError", "Unread"]
