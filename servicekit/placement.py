"""Which engine owns which partition: a cache of the `own` bucket.

News comes by republish to `own.p.*` (a KV watcher is deaf for up to 18 s after a NATS
fault); on a miss or in doubt the entry is read from the stream's leader, never from a
replica.  A wrong entry costs a round trip, never safety: the engine says "not owner".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.api import RawStreamMsg

from servicekit import logs
from servicekit.bus import Bus
from wire import subjects
from wire.news import Entry
from wire.places import PARTITIONS

READ_TIMEOUT = 1.0
READ_AGAIN, READ_AGAIN_MOST = 0.05, 1.0
"""Seconds after a reading until the leader is asked for the same partition again, doubled while that finds the same.

News of it ends the wait: this is for news that was lost.  Hundreds who wait for an owner, in every process,
would else keep its heir from claiming by their questions.
"""


class Owner(msgspec.Struct, frozen=True):
    """Who has a partition, as last heard; `open`: it serves."""

    engine: str
    addr: str
    epoch: int
    open: bool
    revision: int


class _Reading(msgspec.Struct):
    """The last time that the leader was asked for a partition, and what it said."""

    at: float
    pause: float
    said: tuple[int, int]
    """Epoch and revision."""


class Placement:
    """`changed` is called with a partition whenever another owner, address, epoch or state is seen."""

    def __init__(self, nc: Client, changed: Callable[[int], None]) -> None:
        self._nc = nc
        self._js = nc.jetstream(timeout=READ_TIMEOUT)
        self._changed = changed
        self._owners: dict[int, Owner] = {}
        self._doubted: set[int] = set()
        """Whose owner doesn't serve it any more, as far as was seen."""
        self._readings: dict[int, _Reading] = {}
        self._reading: dict[int, asyncio.Task[Owner | None]] = {}
        self._sub: Subscription | None = None
        self._log = logs.logger(__name__)

    async def start(self) -> None:
        self._sub = await self._nc.subscribe(f"{subjects.OWN_BUCKET}.p.*", cb=self._on_news)
        if isinstance(self._nc, Bus):
            self._nc.reconnect_listeners.append(self.forget_all)

    async def stop(self) -> None:
        if isinstance(self._nc, Bus) and self.forget_all in self._nc.reconnect_listeners:
            self._nc.reconnect_listeners.remove(self.forget_all)
        for task in self._reading.values():
            task.cancel()
        if self._sub is not None and not self._nc.is_closed:
            await self._sub.unsubscribe()
        self._sub = None

    def known(self, partition: int) -> Owner | None:
        """The open owner as last heard, without asking."""
        owner = self._owners.get(partition)
        return owner if owner is not None and owner.open and partition not in self._doubted else None

    def owner(self, partition: int) -> str | None:
        """The engine that serves it, as far as is known."""
        known = self.known(partition)
        return known.engine if known is not None else None

    def doubt(self, partition: int, address: str) -> None:
        """That address doesn't serve it any more: the leader is asked, unless another is known already."""
        owner = self._owners.get(partition)
        if owner is not None and owner.addr == address:
            self._doubted.add(partition)

    def forget_all(self) -> None:
        """News may have been missed."""
        self._owners.clear()
        self._doubted.clear()
        self._readings.clear()

    async def find(self, partition: int) -> Owner | None:
        """The open owner, read from the leader if it isn't known; not asked again so soon for what it just said."""
        owner = self.known(partition)
        if owner is not None:
            return owner
        last = self._readings.get(partition)
        if last is not None and asyncio.get_running_loop().time() - last.at < last.pause:
            return None
        return await self.read(partition)

    async def read(self, partition: int) -> Owner | None:
        """The open owner as the leader has it; None when there is none or NATS doesn't answer.

        Readers of the same partition at the same time share one request.
        """
        task = self._reading.get(partition)
        if task is None:
            task = asyncio.create_task(self._read(partition))
            self._reading[partition] = task
            task.add_done_callback(lambda _: self._reading.pop(partition, None))
        return await asyncio.shield(task)

    async def addresses(self) -> dict[str, str]:
        """Engine → address, of all that own something, as read now where unknown."""
        found = await asyncio.gather(*(self.find(p) for p in range(PARTITIONS)))
        return {owner.engine: owner.addr for owner in found if owner is not None}

    async def without_owner(self) -> list[int]:
        """The partitions that nobody serves now."""
        found = await asyncio.gather(*(self.find(p) for p in range(PARTITIONS)))
        return [p for p, owner in enumerate(found) if owner is None]

    async def _read(self, partition: int) -> Owner | None:
        key = f"$KV.{subjects.OWN_BUCKET}.{subjects.placement_key(partition)}"
        try:
            message = await self._js.get_last_msg(f"KV_{subjects.OWN_BUCKET}", key)
        except nats.js.errors.NotFoundError:
            self._owners.pop(partition, None)
            self._has_read(partition, (0, 0))
            return None
        except (nats.errors.Error, nats.js.errors.Error, TimeoutError, OSError) as error:
            self._log.warning("placement could not be read", partition=partition, error=repr(error))
            return None
        if message.data:
            if self.known(partition) is None:
                self._revise(partition, message)
            self._take(partition, message.data, message.seq or 0)
        owner = self._owners.get(partition)
        self._has_read(partition, (owner.epoch, owner.revision) if owner is not None else (0, 0))
        return self.known(partition)

    def _revise(self, partition: int, message: RawStreamMsg) -> None:
        """What the leader has counts more than one who doesn't serve, whatever its number: the bucket may be new."""
        owner = self._owners.get(partition)
        if owner is not None and owner.revision != message.seq:
            del self._owners[partition]

    def _has_read(self, partition: int, said: tuple[int, int]) -> None:
        now, pause = asyncio.get_running_loop().time(), READ_AGAIN
        last = self._readings.get(partition)
        if last is not None and last.said == said and now - last.at < 2 * READ_AGAIN_MOST:
            pause = min(2 * last.pause, READ_AGAIN_MOST)
        self._readings[partition] = _Reading(now, pause, said)
        self._doubted.discard(partition)

    async def _on_news(self, message: Msg) -> None:
        name = message.subject.rpartition(".")[2]
        if not name.isdigit() or not message.data:
            return
        sequence = (message.headers or {}).get("Nats-Sequence", "0")
        self._take(int(name), message.data, int(sequence))

    def _take(self, partition: int, data: bytes, revision: int) -> None:
        try:
            entry = msgspec.json.decode(data, type=Entry)
        except msgspec.DecodeError:
            self._log.error("placement can't be understood", partition=partition)
            return
        before = self._owners.get(partition)
        if before is not None and (before.epoch, before.revision) > (entry.epoch, revision):
            return
        owner = Owner(entry.owner, entry.addr, entry.epoch, entry.state == "open", revision)
        self._owners[partition] = owner
        if before is None or (before.addr, before.epoch, before.open) != (owner.addr, owner.epoch, owner.open):
            self._doubted.discard(partition)
            self._readings.pop(partition, None)
            self._changed(partition)
