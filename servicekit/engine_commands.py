"""Commands to engines: batched, and sent again in order until they are answered.

Whoever sends them is a `Talker` that keeps what has no answer yet.  A broken stream, a
“not owner”, another owner, half a second of silence or an unknown owner *stalls* a
talker: nothing more of it goes out until the pump has found an owner and sent all it
keeps, in order.  Maps by partition never hold more than there are partitions.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
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
BUSY_PAUSE = 0.1
QUEUE_FULL_PAUSE = 0.02
SWEEP = 0.1
LOOK_AGAIN = 0.25
"""Seconds between questions for the same partition's owner: news of one comes by itself."""
AWAY_PAUSE, AWAY_PAUSE_MOST = 0.05, 0.4
"""Seconds before an address whose stream broke is tried again, twice as many after each time."""
DETACH_AGAIN, DETACH_AGAIN_MOST = 1.0, 30.0
DETACH_KEPT = 3600.0
"""Seconds in which a detach that no engine has confirmed is told again, more and more seldom."""
MAX_DETACHES = 50_000
LAST_WORDS = 0.5
"""Seconds at the end in which what is queued still goes out and engines confirm who has gone."""


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
    busy: int = 0


_Key = tuple[str, int, int]


class _Detach(msgspec.Struct):
    command: pb.Command
    until: float
    sent_to: str = ""
    again_at: float = 0.0
    pause: float = DETACH_AGAIN


class _Away(msgspec.Struct):
    """An address whose stream broke, and when it is tried again."""

    until: float
    pause: float


class EngineCommands:
    """All talkers of this process, and the pump that sends again what has no answer."""

    def __init__(self, placement: Placement, links: Links) -> None:
        self.counts = Counts()
        self._placement = placement
        self._links = links
        self._talkers: defaultdict[int, dict[_Key, Talker]] = defaultdict(dict)
        self._stalled: defaultdict[int, dict[_Key, Talker]] = defaultdict(dict)
        self._detaches: dict[tuple[str, int, int, int], _Detach] = {}
        """By room, seat, session and id."""
        self._hold_until: dict[int, float] = {}
        self._away: dict[str, _Away] = {}
        self._looking: dict[int, asyncio.Task[None]] = {}
        self._looked_at: dict[int, float] = {}
        self._kick = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._pump = asyncio.create_task(self._run(), name="engine-commands")

    async def stop(self) -> None:
        """What is queued goes out first, if an engine takes it within a moment."""
        if self._pump is not None:
            await self._drain(LAST_WORDS)
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
            self._pump = None
        for task in self._looking.values():
            task.cancel()

    def pending(self) -> int:
        """Commands that wait for their answers now."""
        waiting = (t for talkers in self._talkers.values() for t in talkers.values() if t.oldest < math.inf)
        return sum(1 for talker in waiting for _ in talker.outstanding())

    def register(self, talker: Talker) -> None:
        """Replies to (room, seat, session) go to this talker from now on."""
        self._talkers[talker.partition][_key(talker)] = talker

    def unregister(self, talker: Talker) -> None:
        key = _key(talker)
        if self._talkers[talker.partition].get(key) is talker:
            del self._talkers[talker.partition][key]
        if self._stalled[talker.partition].get(key) is talker:
            del self._stalled[talker.partition][key]

    def send(self, talker: Talker, command: pb.Command) -> None:
        """Send a command that is already the last of the talker's `outstanding`."""
        if talker.stalled:
            return
        owner = self._placement.known(talker.partition)
        if owner is None or owner.addr in self._away:
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
        """Tell the owner that a session's socket is gone, until an owner has confirmed it."""
        self._tell(pb.Command(room=room, seat=seat, session=session, kind=pb.COMMAND_KIND_DETACH))

    def detach_attempt(self, room: str, attempt: int) -> None:
        """The same for an Attach whose answer never came."""
        self._tell(pb.Command(room=room, id=attempt, kind=pb.COMMAND_KIND_DETACH))

    def _tell(self, command: pb.Command) -> None:
        if len(self._detaches) >= MAX_DETACHES:
            self._log.warning("no engine confirms detaches; the oldest is given up")
            del self._detaches[next(iter(self._detaches))]
        until = asyncio.get_running_loop().time() + DETACH_KEPT
        self._detaches[_place(command)] = _Detach(command, until)
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
        """There is news of a partition: what went to another owner than this goes out again."""
        owner = self._placement.known(partition)
        address = owner.addr if owner is not None else ""
        for talker in list(self._talkers[partition].values()):
            if talker.sent_to != address and not talker.stalled and _waits(talker):
                self.stall(talker)
        for detach in self._detaches.values():
            if detach.sent_to != address and partition_of(detach.command.room) == partition:
                detach.again_at = 0.0
        if address:
            self._hold_until.pop(partition, None)
            self._away.pop(address, None)
        self._kick.set()

    def on_reply(self, link: EngineLink, reply: pb.Reply) -> None:
        self._away.pop(link.address, None)
        if reply.kind == pb.REPLY_KIND_DETACHED:
            self._detaches.pop(_place(reply), None)
            return
        partition = partition_of(reply.room)
        if reply.kind == pb.REPLY_KIND_NOT_OWNER:
            self.counts.not_owner += 1
            self._placement.doubt(partition, link.address)
        detach = self._detaches.get(_place(reply))
        if detach is not None:
            detach.again_at = 0.0
        talker = self._talkers[partition].get((reply.room, reply.seat, reply.session))
        if reply.kind not in (pb.REPLY_KIND_NOT_OWNER, pb.REPLY_KIND_BUSY):
            if talker is not None:
                talker.on_reply(reply)
            return
        pause = NOT_OWNER_PAUSE
        if reply.kind == pb.REPLY_KIND_BUSY:
            self.counts.busy += 1
            pause = BUSY_PAUSE
        if detach is not None or (talker is not None and talker.sent_to == link.address and not talker.stalled):
            self._hold_until[partition] = asyncio.get_running_loop().time() + pause
        if talker is not None and talker.sent_to == link.address and not talker.stalled:
            self.stall(talker)

    def on_broken(self, link: EngineLink) -> None:
        self.counts.broken_streams += 1
        now = asyncio.get_running_loop().time()
        before = self._away.get(link.address)
        pause = AWAY_PAUSE if before is None else min(2 * before.pause, AWAY_PAUSE_MOST)
        self._away[link.address] = _Away(now + pause, pause)
        for talker in self._all_talkers():
            if talker.sent_to == link.address and not talker.stalled and _waits(talker):
                if before is not None:  # it isn't back: the news of another owner may have been missed
                    self._placement.doubt(talker.partition, link.address)
                self.stall(talker)
        for detach in self._detaches.values():
            if detach.sent_to == link.address:
                if before is not None:
                    self._placement.doubt(partition_of(detach.command.room), link.address)
                detach.again_at = 0.0
        self._kick.set()

    # ---- the pump: everything that could not be sent at once ----

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            timer = loop.call_later(SWEEP, self._kick.set)
            await self._kick.wait()
            timer.cancel()
            self._kick.clear()
            await asyncio.sleep(0)  # never alone on the loop, however often it is kicked
            try:
                self._sweep(loop.time())
                self._flush(loop.time())
            except Exception:
                self._log.exception("the pump of commands")

    def _sweep(self, now: float) -> None:
        limit = now - ANSWER_WITHIN
        talkers = self._talkers.values()  # thousands, ten times a second
        for talker in [t for some in talkers for t in some.values() if t.oldest < limit and not t.stalled]:
            self.counts.overdue += 1
            self._placement.doubt(talker.partition, talker.sent_to)
            self.stall(talker)
        for key in [key for key, detach in self._detaches.items() if detach.until <= now]:
            del self._detaches[key]
        for address in [a for a, away in self._away.items() if now - away.until > AWAY_PAUSE_MOST]:
            del self._away[address]
        self._links.close_idle(now)

    def _flush(self, now: float) -> None:
        due: defaultdict[int, list[_Detach]] = defaultdict(list)
        for detach in self._detaches.values():
            if detach.again_at <= now:
                due[partition_of(detach.command.room)].append(detach)
        for partition in sorted({p for p, waiting in self._stalled.items() if waiting} | set(due)):
            if (wait := self._hold_until.get(partition, 0.0) - now) > 0:
                asyncio.get_running_loop().call_later(wait, self._kick.set)
                continue
            self._hold_until.pop(partition, None)
            owner = self._placement.known(partition)
            if owner is None:
                self._look_up(partition, now)
            elif (away := self._away.get(owner.addr)) is not None and away.until > now:
                asyncio.get_running_loop().call_later(away.until - now, self._kick.set)
            else:
                self._flush_partition(partition, owner.addr, due.get(partition, []))

    def _look_up(self, partition: int, now: float) -> None:
        """Ask the leader who owns a partition, beside everything else."""
        if partition in self._looking or now - self._looked_at.get(partition, -math.inf) < LOOK_AGAIN:
            return
        self._looked_at[partition] = now
        task = self._looking[partition] = asyncio.create_task(self._look(partition))
        task.add_done_callback(lambda _: self._looking.pop(partition, None))

    async def _look(self, partition: int) -> None:
        if await self._placement.find(partition) is not None:
            self._kick.set()

    def _flush_partition(self, partition: int, address: str, detaches: list[_Detach]) -> None:
        now = asyncio.get_running_loop().time()
        for detach in detaches:
            if self._links.to(address).send(detach.command):
                detach.sent_to, detach.again_at = address, now + detach.pause
                detach.pause = min(2 * detach.pause, DETACH_AGAIN_MOST)
        waiting, self._stalled[partition] = self._stalled[partition], {}
        for talker in waiting.values():
            talker.stalled = False
            talker.sent_to = address
            talker.oldest = math.inf
            for command in talker.outstanding():
                talker.oldest = now + ANSWER_WITHIN  # the second wait is twice as long: it may only be busy
                self.counts.sent_again += 1
                if not self._put(talker, address, command):
                    self._hold_until[partition] = now + QUEUE_FULL_PAUSE
                    break

    def _all_talkers(self) -> Iterator[Talker]:
        for talkers in list(self._talkers.values()):
            yield from list(talkers.values())

    async def _drain(self, timeout: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        self._kick.set()
        await asyncio.sleep(0)
        while loop.time() < deadline and self._undelivered():  # noqa: ASYNC110 - a bounded wait at the end of life
            await asyncio.sleep(0.01)

    def _undelivered(self) -> bool:
        return bool(self._detaches) or any(link.depth for link in self._links)


def _key(talker: Talker) -> _Key:
    return (talker.room, talker.seat, talker.session)


def _place(told: pb.Command | pb.Reply) -> tuple[str, int, int, int]:
    return (told.room, told.seat, told.session, told.id)


def _waits(talker: Talker) -> bool:
    return any(True for _ in talker.outstanding())
