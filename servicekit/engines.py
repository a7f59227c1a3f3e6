"""The engines, as gateways, bots, rooms and watch ask them: by room, wherever it is played.

Questions are unary calls that find the owner by placement and ask again until they are
answered.  Commands go out in batches; whoever sends them is a `Talker` that keeps what
has no answer yet, so that it can be sent again in order after a broken stream, a
“not owner”, or half a second of silence.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, TypeVar

import grpc
import msgspec
import nats.errors
from nats.aio.client import Client

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs, rpc
from servicekit.engine_link import EngineLink
from servicekit.placement import Placement
from wire import subjects
from wire.places import partition_of

ANSWER_WITHIN = 0.5
"""Seconds without an answer after which placement is read again and commands are sent again."""
TRY_TIMEOUT = 2.0
NOT_OWNER_PAUSE = 0.05
SWEEP = 0.1
DETACH_KEPT = 30.0
BEAT = 1.0
LINK_IDLE = 300.0

R = TypeVar("R")


class EngineAway(Exception):
    """Nobody could be asked in time: no owner, or it doesn't answer."""


class EngineRefusal(Exception):
    """The owner said no.  `detail`: `no_table`, `taken_over`, the id of a live table, …"""

    def __init__(self, code: grpc.StatusCode, detail: str) -> None:
        super().__init__(f"{code.name}: {detail}")
        self.code = code
        self.detail = detail


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


class Engines:
    """Start it after NATS is connected, stop it before NATS is closed.  `name` is for logs."""

    def __init__(self, nc: Client, name: str, *, timeout: float = 5.0) -> None:
        self.timeout = timeout
        self.caller = f"{name[:40]}-{secrets.token_hex(4)}"
        """Under this name players are attached, until it is silent for long."""
        self._nc = nc
        self._beat_at = math.inf
        self.counts = Counts()
        self.placement = Placement(nc, self._on_placement)
        self._links: dict[str, EngineLink] = {}
        self._talkers: dict[tuple[str, int, int], Talker] = {}
        self._stalled: defaultdict[int, dict[tuple[str, int, int], Talker]] = defaultdict(dict)
        self._detaches: defaultdict[int, list[_Detach]] = defaultdict(list)
        self._hold_until: dict[int, float] = {}
        self._waiters: defaultdict[int, set[asyncio.Future[None]]] = defaultdict(set)
        self._kick = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__).bind(client=name)

    async def start(self) -> None:
        await self.placement.start()
        self._pump = asyncio.create_task(self._run(), name="engines-pump")

    async def stop(self) -> None:
        """What is queued goes out first, if an engine takes it within a moment."""
        if self._pump is not None:
            await self._drain(0.5)
            if self._beat_at < math.inf:
                await self._beat(gone=True)
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
            self._pump = None
        await asyncio.gather(*(link.close() for link in self._links.values()), return_exceptions=True)
        self._links.clear()
        await self.placement.stop()

    # ---- questions ----

    async def open_table(self, request: pb.OpenRequest, timeout: float | None = None) -> pb.OpenResponse:
        """Raises EngineRefusal (ALREADY_EXISTS: another table is live, its id is the detail) or EngineAway."""
        return await self._ask(request.room, lambda link, t: link.stub.Open(request, timeout=t), timeout)

    async def close_table(self, request: pb.CloseRequest, timeout: float | None = None) -> pb.CloseResponse:
        """Raises EngineRefusal or EngineAway."""
        return await self._ask(request.room, lambda link, t: link.stub.Close(request, timeout=t), timeout)

    async def attach(self, request: pb.AttachRequest, timeout: float | None = None) -> pb.AttachResponse:
        """Asked again, it grows the session again: only the last answer counts.  Raises EngineRefusal or EngineAway."""
        self._beat_at = min(self._beat_at, 0.0)
        return await self._ask(
            request.room,
            lambda link, t: link.stub.Attach(request, timeout=t, metadata=((rpc.CALLER, self.caller),)),
            timeout,
        )

    async def view(self, request: pb.ViewRequest, timeout: float | None = None) -> pb.ViewResponse:
        """Raises EngineRefusal (`no_table`, `taken_over`) or EngineAway."""
        return await self._ask(request.room, lambda link, t: link.stub.View(request, timeout=t), timeout)

    async def tables(self, timeout: float = TRY_TIMEOUT) -> list[pb.TableSummary]:
        """Every live table of every engine that answers."""
        answers = await self._list(timeout)
        return [table for answer in answers.values() if answer is not None for table in answer.tables]

    async def silent(self, timeout: float = 1.0) -> list[str]:
        """The owners of partitions that don't answer a call just now."""
        return [engine for engine, answer in (await self._list(timeout)).items() if answer is None]

    async def _list(self, timeout: float) -> dict[str, pb.TablesResponse | None]:
        addresses = await self.placement.addresses()

        async def ask(address: str) -> pb.TablesResponse | None:
            try:
                return await self._link(address).stub.Tables(pb.TablesRequest(), timeout=timeout)
            except grpc.aio.AioRpcError as error:
                self._log.warning("an engine did not list its tables", engine=address, code=str(error.code()))
                return None

        answers = await asyncio.gather(*(ask(address) for address in addresses.values()))
        return dict(zip(addresses, answers, strict=True))

    async def _ask(self, room: str, call: Callable[[EngineLink, float], Awaitable[R]], timeout: float | None) -> R:
        loop = asyncio.get_running_loop()
        partition = partition_of(room)
        deadline = loop.time() + (self.timeout if timeout is None else timeout)
        last = "no engine owns the room's partition"
        while True:
            owner = await self.placement.find(partition)
            left = deadline - loop.time()
            if left <= 0:
                raise EngineAway(last)
            if owner is None:
                await self._change(partition, min(0.1, left))
                continue
            link = self._link(owner.addr)
            try:
                return await call(link, min(left, TRY_TIMEOUT))
            except grpc.aio.AioRpcError as error:
                code, detail = error.code(), error.details() or ""
                if not _ask_again(code, detail):
                    raise EngineRefusal(code, detail) from None
                last = f"{owner.addr}: {code.name} {detail}"
                self._doubt(partition, owner.addr)
                await self._change(partition, min(NOT_OWNER_PAUSE, max(0.0, deadline - loop.time())))

    async def _change(self, partition: int, timeout: float) -> None:
        """Wait for news of a partition, but not long."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[partition].add(future)
        try:
            await asyncio.wait({future}, timeout=timeout)
        finally:
            self._waiters[partition].discard(future)

    # ---- commands ----

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
        owner = self.placement.known(talker.partition)
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
        if not self._link(address).send(command):
            self.counts.queue_full += 1
            self.stall(talker)
            return False
        talker.sent_to = address
        self.counts.sent += 1
        return True

    # ---- what happens ----

    def _on_placement(self, partition: int) -> None:
        for future in self._waiters.get(partition, ()):
            if not future.done():
                future.set_result(None)
        owner = self.placement.known(partition)
        for detach in self._detaches.get(partition, ()):
            if owner is not None and detach.sent_to != owner.addr:
                detach.sent_to = ""
        self._kick.set()

    def _on_reply(self, link: EngineLink, reply: pb.Reply) -> None:
        if reply.kind == pb.REPLY_KIND_NOT_OWNER:
            self.counts.not_owner += 1
            self._doubt(partition_of(reply.room), link.address)
        talker = self._talkers.get((reply.room, reply.seat, reply.session))
        if talker is None:
            return
        if reply.kind != pb.REPLY_KIND_NOT_OWNER:
            talker.on_reply(reply)
        elif talker.sent_to == link.address and not talker.stalled:
            self._hold_until[talker.partition] = asyncio.get_running_loop().time() + NOT_OWNER_PAUSE
            self.stall(talker)

    def _on_broken(self, link: EngineLink) -> None:
        self.counts.broken_streams += 1
        for talker in list(self._talkers.values()):
            if talker.sent_to == link.address and not talker.stalled and any(True for _ in talker.outstanding()):
                self.stall(talker)
        for detaches in self._detaches.values():
            for detach in detaches:
                if detach.sent_to == link.address:
                    detach.sent_to = ""
        self._kick.set()

    def _doubt(self, partition: int, address: str) -> None:
        owner = self.placement.known(partition)
        if owner is not None and owner.addr == address:
            self.placement.forget(partition)

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
                if loop.time() >= self._beat_at:
                    self._beat_at = loop.time() + BEAT
                    await self._beat()
            except Exception:
                self._log.exception("engines pump")

    async def _beat(self, *, gone: bool = False) -> None:
        if not self._nc.is_connected:
            return
        try:
            await self._nc.publish(subjects.CALLERS_BEAT, msgspec.json.encode({"caller": self.caller, "gone": gone}))
        except nats.errors.Error:
            return

    def _sweep(self, now: float) -> None:
        for talker in list(self._talkers.values()):
            if not talker.stalled and now - talker.oldest > ANSWER_WITHIN:
                self.counts.overdue += 1
                self._doubt(talker.partition, talker.sent_to)
                self.stall(talker)
        for partition, detaches in list(self._detaches.items()):
            kept = [d for d in detaches if d.until > now]
            if kept:
                self._detaches[partition] = kept
            else:
                del self._detaches[partition]
        for address, link in list(self._links.items()):
            if now - link.used_at > LINK_IDLE:
                del self._links[address]
                _background(link.close())

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
        owners = await asyncio.gather(*(self.placement.find(p) for p in ready))
        for partition, owner in zip(ready, owners, strict=True):
            if owner is not None:
                self._flush_partition(partition, owner.addr)

    def _flush_partition(self, partition: int, address: str) -> None:
        for detach in self._detaches.get(partition, ()):
            if detach.sent_to != address and self._link(address).send(detach.command):
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
        return any(link.depth for link in self._links.values()) or any(
            not d.sent_to for detaches in self._detaches.values() for d in detaches
        )

    def _link(self, address: str) -> EngineLink:
        link = self._links.get(address)
        if link is None:
            link = self._links[address] = EngineLink(address, self._on_reply, self._on_broken)
        link.used_at = asyncio.get_running_loop().time()
        return link


def _key(talker: Talker) -> tuple[str, int, int]:
    return (talker.room, talker.seat, talker.session)


def _ask_again(code: grpc.StatusCode, detail: str) -> bool:
    return code in (
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
    ) or (code is grpc.StatusCode.FAILED_PRECONDITION and detail == "not_owner")


_tasks: set[asyncio.Task[None]] = set()


def _background(work: Awaitable[None]) -> None:
    async def run() -> None:
        await work

    task = asyncio.create_task(run())
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
