"""The `own` bucket as an engine uses it: leases and placement, changed by compare-and-set only.

News comes by republish (`own.>`); everything is read again after a reconnect and every few
seconds.  A stale view costs a lost compare-and-set, never safety.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from servicekit.bus import Bus
from services.engine.claims import Placed
from services.engine.stream import Message, Stream, StreamAway
from wire import subjects
from wire.news import Entry
from wire.places import PARTITION_HASH, PARTITIONS

KV = f"$KV.{subjects.OWN_BUCKET}."
KV_STREAM = f"KV_{subjects.OWN_BUCKET}"


LAYOUT_KEY = "layout"
LAYOUT = msgspec.json.encode({"partitions": PARTITIONS, "hash": PARTITION_HASH})
"""How rooms fall on partitions: fixed when the bucket is made, for as long as there are rooms."""


class OtherLayout(Exception):
    """The bucket was made for other partitions: rooms would be looked for in the wrong logs."""


def check_layout(found: bytes) -> None:
    """Raises OtherLayout."""
    if found != LAYOUT:
        raise OtherLayout(f"this cluster is laid out as {found!r}, this release as {LAYOUT!r}")


class Lease(msgspec.Struct, frozen=True):
    """An engine's heartbeat.  `boot` tells a process from another of the same name; `gone`: it ends.

    `reads`: the highest record version that it reads; releases that didn't say so read 1.
    `leaving`: it serves what it has, gives that away, and takes nothing any more.
    """

    n: int
    addr: str
    build: str = ""
    boot: str = ""
    gone: bool = False
    reads: int = 1
    leaving: bool = False


class Board:
    """`placed` and `leases` as last heard; `on_lease`, `on_placed` are told of every change.

    `on_missing` is told of a partition whose placement was there and is no more: somebody
    wiped the bucket, perhaps the log too.
    """

    def __init__(
        self,
        bus: Bus,
        stream: Stream,
        on_lease: Callable[[str, Lease, int], None],
        on_placed: Callable[[int, Placed], None],
        on_missing: Callable[[int], None],
    ) -> None:
        self._bus, self._stream = bus, stream
        self._on_lease, self._on_placed, self._on_missing = on_lease, on_placed, on_missing
        self.placed: dict[int, Placed] = {}
        self.leases: dict[str, tuple[Lease, int]] = {}
        self.epochs: dict[int, int] = {}
        """The highest of each partition ever seen, so that a wiped bucket begins no epoch twice."""
        self._last = 0
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Raises StreamAway when there is no bucket: set-up makes it, never an engine.  Raises OtherLayout."""
        layout = await self._stream.last(KV + LAYOUT_KEY)
        if layout is None:
            raise StreamAway("the bucket is not laid out yet")
        check_layout(layout.data)
        if self._subscription is None:
            self._subscription = await self._bus.subscribe(subjects.OWN_REPUBLISH, cb=self._hear)
        await self.read_all()

    async def stop(self) -> None:
        if self._subscription is not None and not self._bus.is_closed:
            await self._subscription.unsubscribe()

    async def read_all(self) -> None:
        """Every key, from the leader.  Raises StreamAway."""
        known = self._last
        keys, last = await self._stream.subjects(KV + ">")
        if last < known:
            # A new bucket counts from the start again: whatever it says is newer.
            self.placed = {partition: at._replace(revision=0) for partition, at in self.placed.items()}
            self.leases = {engine: (lease, 0) for engine, (lease, _) in self.leases.items()}
            self._last = last
        self._last = max(self._last, last)
        self._drop_missing(set(keys), last)
        for at in range(0, len(keys), 16):
            part = keys[at : at + 16]
            found = await asyncio.gather(*(self._stream.last(key) for key in part))
            for key, message in zip(part, found, strict=True):
                if message is not None:
                    self._take(key.removeprefix(KV), message.data, message.sequence)

    def _drop_missing(self, keys: set[str], last: int) -> None:
        """What was heard of after the bucket was looked at is there."""
        for partition, at in list(self.placed.items()):
            if KV + subjects.placement_key(partition) not in keys and at.revision <= last:
                del self.placed[partition]
                self._on_missing(partition)
        for engine, (_, revision) in list(self.leases.items()):
            if KV + subjects.lease_key(engine) not in keys and 0 < revision <= last:
                del self.leases[engine]

    async def forget(self, engine: str) -> bool:
        """Remove the lease of an engine that is gone for good, unless it has renewed it meanwhile."""
        _, revision = self.leases.get(engine, (None, 0))
        if revision and not await self._stream.purge_below(KV + subjects.lease_key(engine), revision + 1):
            return False
        if self.leases.get(engine, (None, 0))[1] == revision:
            self.leases.pop(engine, None)
        return True

    async def entry(self, partition: int) -> Placed | None:
        """A partition's placement, from the leader.  Raises StreamAway."""
        message = await self._stream.last(KV + subjects.placement_key(partition))
        if message is None:
            self.placed.pop(partition, None)
            return None
        return self._placed(partition, message)

    async def place(self, partition: int, entry: Entry, revision: int) -> int | None:
        """Compare and set; the new revision, or None when another was faster.  Raises StreamAway."""
        key = KV + subjects.placement_key(partition)
        data = msgspec.json.encode(entry)
        done = await self._stream.append(key, data, revision)
        if done is None:
            # Perhaps lost, perhaps done: the leader knows.
            message = await self._stream.last(key)
            if message is None or message.data != data or message.sequence <= revision:
                if message is not None:
                    self._placed(partition, message)
                return None
            done = message.sequence
        self._take(subjects.placement_key(partition), data, done)
        return done

    async def renew(self, engine: str, lease: Lease, revision: int) -> int | None:
        """Compare and set the own lease; None: not renewed."""
        return await self._stream.append(KV + subjects.lease_key(engine), msgspec.json.encode(lease), revision)

    async def lease(self, engine: str) -> tuple[Lease | None, int]:
        """A lease and its revision, from the leader.  Raises StreamAway."""
        message = await self._stream.last(KV + subjects.lease_key(engine))
        if message is None:
            return None, 0
        try:
            return msgspec.json.decode(message.data, type=Lease), message.sequence
        except msgspec.DecodeError:
            return None, message.sequence

    def complete(self, live: set[str], partitions: Sequence[int]) -> bool:
        """Every one of these partitions is open at a living owner."""
        found = [self.placed.get(partition) for partition in partitions]
        return all(at is not None and at.entry.state == "open" and at.entry.owner in live for at in found)

    async def _hear(self, message: Msg) -> None:
        key = message.subject.removeprefix(subjects.OWN_BUCKET + ".")
        self._take(key, message.data, int((message.headers or {}).get("Nats-Sequence", "0")))

    def _placed(self, partition: int, message: Message) -> Placed | None:
        self._take(subjects.placement_key(partition), message.data, message.sequence)
        return self.placed.get(partition)

    def _take(self, key: str, data: bytes, revision: int) -> None:
        kind, _, name = key.partition(".")
        try:
            if kind == "e":
                lease = msgspec.json.decode(data, type=Lease)
                if revision > self.leases.get(name, (lease, 0))[1]:
                    self.leases[name] = (lease, revision)
                    self._on_lease(name, lease, revision)
            elif kind == "p" and name.isdigit() and int(name) < PARTITIONS:
                entry = msgspec.json.decode(data, type=Entry)
                before = self.placed.get(int(name))
                self._last = max(self._last, revision)
                self.epochs[int(name)] = max(self.epochs.get(int(name), 0), entry.epoch)
                if before is None or revision > before.revision:
                    self.placed[int(name)] = placed = Placed(entry, revision)
                    self._on_placed(int(name), placed)
        except msgspec.DecodeError:
            return  # Not of our making: never judged by.


__all__ = ["Board", "Lease", "StreamAway"]
