"""Commands to engines: batched, and sent again in order until they are answered.

Whoever sends them is a `Talker` that keeps what has no answer yet.  A broken stream, a
“not owner”, half a second of silence or an unknown owner *stalls* a talker: nothing
more of it goes out until the pump has found an owner and sent all it keeps, in order.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.engine_link import EngineLink, Links
from servicekit.placement import Placement
from wire.places import partition_of

ANSWER_WITHIN = 0.5
"""Seconds without an answer after which placement is read again and commands are sent again."""
NOT_OWNER_PAUSE = 0.05
SWEEP = 0.1
DETACH_KEPT = 30.0
"""Seconds in which a detach is told again when the partition has another owner."""


class Talker(Protocol):
    """A session that sends commands."""

    room: str
    partition: int
    seat: int
    session: int
    sent_to: str
    """The address that `outstanding` was last sent to."""
    oldest: float
    """Loop time at which the first of `outstanding` was last sent."""
    stalled: bool

    def outstanding(self) -> Iterable[pb.Command]:
        """What has no answer yet, in order."""
        ...

    def on_reply(self, reply: pb.Reply) -> None:
        """Any kind but NOT_OWNER."""
        ...


class Counts(msgspec.Struct):
    """For metrics."""

    sent: int = 0
    sent_again: int = 0
    not_owner: int = 0
    overdue: int = 0
    queue_full: int = 0
    broken_streams: int = 0


class _Detach(msgspec.Struct):
    command: pb.Command
    until: float
    sent_to: str = ""


class EngineCommands:
    """All talkers of this process, and the pump that sends again what has no answer."""

    def __init__(self, placement: Placement, links: Links) -> None:
        self.counts = Counts()
        self._placement = placement
        self._links = links
        self._talkers: dict[tuple[str, int, int], Talker] = {}
        self._stalled: defaultdict[int, dict[tuple[str, int, int], Talker]] = defaultdict(dict)
        self._detaches: defaultdict[int, list[_Detach]] = defaultdict(list)
        self._hold_until: dict[int, float] = {}
        self._kick = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._pump = asyncio.create_task(self._run(), name="engine-commands")

    async def stop(self) -> None:
        """What is queued goes out first, if an engine takes it within a moment."""
        if self._pump is not None:
            await self._drain(0.5)
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
            self._pump = None

    def register(self, talker: Talker) -> None:
        """Replies to (room, seat, session) go to this talker from now on."""
        self._talkers[_key(talker)] = talker

    def unregister(self, talker: Talker) -> None:
        key = _key(talker)
        if self._talkers.get(key) is talker:
            del self._talkers[key]
        self._stalled[talker.partition].pop(key, None)

    def send(self, talker: Talker, command: pb.Command) -> None:
        """Send a command that is already the last of the talker's `outstanding`."""
        if talker.stalled:
            return
        owner = self._placement.known(talker.partition)
        if owner is None:
            self.stall(talker)
            return
        if talker.sent_to and talker.sent_to != owner.addr:
            # Another owner than the one that has the commands before this: they go first.
            self.stall(talker)
            return
        self._put(talker, owner.addr, command)

    def stall(self, talker: Talker) -> None:
        """Send all of the talker's outstanding commands again as soon as there is an owner to send to."""
        talker.stalled = True
        self._stalled[talker.partition][_key(talker)] = talker
        self._kick.set()

    def detach(self, room: str, seat: int, session: int) -> None:
        """Tell the owner that a session's socket is gone; told again for a while if the owner changes."""
        command = pb.Command(room=room, seat=seat, session=session, kind=pb.COMMAND_KIND_DETACH)
        until = asyncio.get_running_loop().time() + DETACH_KEPT
        self._detaches[partition_of(room)].append(_Detach(command, until))
        self._kick.set()

    def _put(self, talker: Talker, address: str, command: pb.Command) -> bool:
        if not self._links.to(address).send(command):
            self.counts.queue_full += 1
            self.stall(talker)
            return False
        talker.sent_to = address
        self.counts.sent += 1
        return True

    # ---- what happens ----

    def on_placement(self, partition: int) -> None:
        """There is news of a partition: it may have an owner to send to."""
        owner = self._placement.known(partition)
        for detach in self._detaches.get(partition, ()):
            if owner is not None and detach.sent_to != owner.addr:
                detach.sent_to = ""
        self._kick.set()

    def on_reply(self, link: EngineLink, reply: pb.Reply) -> None:
        if reply.kind == pb.REPLY_KIND_NOT_OWNER:
            self.counts.not_owner += 1
            self._placement.doubt(partition_of(reply.room), link.address)
        talker = self._talkers.get((reply.room, reply.seat, reply.session))
        if talker is None:
            return
        if reply.kind != pb.REPLY_KIND_NOT_OWNER:
            talker.on_reply(reply)
        elif talker.sent_to == link.address and not talker.stalled:
            self._hold_until[talker.partition] = asyncio.get_running_loop().time() + NOT_OWNER_PAUSE
            self.stall(talker)

    def on_broken(self, link: EngineLink) -> None:
        self.counts.broken_streams += 1
        for talker in list(self._talkers.values()):
            if talker.sent_to == link.address and not talker.stalled and any(True for _ in talker.outstanding()):
                self.stall(talker)
        for detaches in self._detaches.values():
            for detach in detaches:
                if detach.sent_to == link.address:
                    detach.sent_to = ""
        self._kick.set()

    # ---- the pump: everything that could not be sent at once ----

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            timer = loop.call_later(SWEEP, self._kick.set)
            await self._kick.wait()
            timer.cancel()
            self._kick.clear()
            try:
                self._sweep(loop.time())
                await self._flush(loop.time())
            except Exception:
                self._log.exception("the pump of commands")

    def _sweep(self, now: float) -> None:
        for talker in list(self._talkers.values()):
            if not talker.stalled and now - talker.oldest > ANSWER_WITHIN:
                self.counts.overdue += 1
                self._placement.doubt(talker.partition, talker.sent_to)
                self.stall(talker)
        for partition, detaches in list(self._detaches.items()):
            kept = [d for d in detaches if d.until > now]
            if kept:
                self._detaches[partition] = kept
            else:
                del self._detaches[partition]
        self._links.close_idle(now)

    async def _flush(self, now: float) -> None:
        partitions = {p for p, waiting in self._stalled.items() if waiting}
        partitions |= {p for p, ds in self._detaches.items() if any(not d.sent_to for d in ds)}
        ready = []
        for partition in partitions:
            wait = self._hold_until.get(partition, 0.0) - now
            if wait > 0:
                asyncio.get_running_loop().call_later(wait, self._kick.set)
            else:
                ready.append(partition)
        owners = await asyncio.gather(*(self._placement.find(p) for p in ready))
        for partition, owner in zip(ready, owners, strict=True):
            if owner is not None:
                self._flush_partition(partition, owner.addr)

    def _flush_partition(self, partition: int, address: str) -> None:
        for detach in self._detaches.get(partition, ()):
            if detach.sent_to != address and self._links.to(address).send(detach.command):
                detach.sent_to = address
        now = asyncio.get_running_loop().time()
        waiting, self._stalled[partition] = self._stalled[partition], {}
        for talker in waiting.values():
            talker.stalled = False
            talker.sent_to = address
            talker.oldest = math.inf
            for command in talker.outstanding():
                talker.oldest = now + ANSWER_WITHIN  # the second wait is twice as long: it may only be busy
                self.counts.sent_again += 1
                if not self._put(talker, address, command):
                    break

    async def _drain(self, timeout: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        self._kick.set()
        await asyncio.sleep(0)
        while loop.time() < deadline and self._undelivered():  # noqa: ASYNC110 - a bounded wait at the end of life
            await asyncio.sleep(0.01)

    def _undelivered(self) -> bool:
        return any(link.depth for link in self._links) or any(
            not d.sent_to for detaches in self._detaches.values() for d in detaches
        )


def _key(talker: Talker) -> tuple[str, int, int]:
    return (talker.room, talker.seat, talker.session)
