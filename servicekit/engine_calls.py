"""Questions to engines: unary calls that find the owner by placement and ask again until they are answered."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import grpc

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.engine_link import EngineLink, Links
from servicekit.placement import Placement
from wire.places import PARTITIONS, partition_of

TRY_TIMEOUT = 2.0
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.4
"""Seconds before a question is asked again: hundreds wait for the same owner.  News of one ends the pause."""

R = TypeVar("R")


class EngineAway(Exception):
    """Nobody could be asked in time: no owner, or it doesn't answer."""


class EngineRefusal(Exception):
    """The owner said no.  `detail`: `no_table`, `taken_over`, the id of a live table, …"""

    def __init__(self, code: grpc.StatusCode, detail: str) -> None:
        super().__init__(f"{code.name}: {detail}")
        self.code = code
        self.detail = detail


class Listing(NamedTuple):
    """Tables that are live.  `whole`: every partition's owner was heard; else there may be more."""

    tables: list[pb.TableSummary]
    whole: bool


class EngineCalls:
    """Asks the owner of a room, whoever that is by now."""

    def __init__(self, placement: Placement, links: Links) -> None:
        self._placement = placement
        self._links = links
        self._waiters: defaultdict[int, dict[asyncio.Future[None], None]] = defaultdict(dict)
        """In the order of their asking: a set's would be another one in each process."""
        self._log = logs.logger(__name__)

    def on_placement(self, partition: int) -> None:
        """There is news of a partition: whoever waits for it asks at once."""
        for future in self._waiters.get(partition, ()):
            if not future.done():
                future.set_result(None)

    async def listing(self, timeout: float = TRY_TIMEOUT) -> Listing:
        """Every live table of every engine that answers, and whether that is all there are."""
        answers = [a for a in (await self._list(timeout)).values() if a is not None]
        served = {partition for answer in answers for partition in answer.partitions}
        return Listing([t for answer in answers for t in answer.tables], len(served) == PARTITIONS)

    async def silent(self, timeout: float = 1.0) -> list[str]:
        """The owners of partitions that don't answer a call just now."""
        return [engine for engine, answer in (await self._list(timeout)).items() if answer is None]

    async def _list(self, timeout: float) -> dict[str, pb.TablesResponse | None]:
        addresses = await self._placement.addresses()

        async def ask(address: str) -> pb.TablesResponse | None:
            try:
                return await self._links.to(address).stub.Tables(pb.TablesRequest(), timeout=timeout)
            except grpc.aio.AioRpcError as error:
                self._links.counts.failures[error.code().name] += 1
                self._log.warning("an engine did not list its tables", engine=address, code=str(error.code()))
                return None

        answers = await asyncio.gather(*(ask(address) for address in addresses.values()))
        return dict(zip(addresses, answers, strict=True))

    async def ask(self, room: str, call: Callable[[EngineLink, float], Awaitable[R]], timeout: float) -> R:
        """`call(link, timeout)` on the owner of the room's partition.  Raises EngineRefusal or EngineAway."""
        loop = asyncio.get_running_loop()
        partition = partition_of(room)
        deadline = loop.time() + timeout
        last = "no engine owns the room's partition"
        pause = FIRST_PAUSE
        while True:
            owner = await self._placement.find(partition)
            left = deadline - loop.time()
            if left <= 0:
                raise EngineAway(last)
            if owner is None:
                await self._change(partition, min(pause, left))
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            try:
                return await self._ask_owner(partition, owner.addr, call, min(left, TRY_TIMEOUT))
            except _Moved:
                last = f"{owner.addr}: another engine has the partition by now"
            except grpc.aio.AioRpcError as error:
                code, detail = error.code(), error.details() or ""
                if not _ask_again(code, detail):
                    raise EngineRefusal(code, detail) from None
                self._links.counts.failures[code.name] += 1
                last = f"{owner.addr}: {code.name} {detail}"
                self._placement.doubt(partition, owner.addr)
                await self._change(partition, min(pause, max(0.0, deadline - loop.time())))
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _ask_owner(
        self, partition: int, address: str, call: Callable[[EngineLink, float], Awaitable[R]], timeout: float
    ) -> R:
        """Ends at once when another engine has the partition: this one may be stopped.  Raises `_Moved`."""
        asked: asyncio.Future[R] = asyncio.ensure_future(call(self._links.to(address), timeout))
        try:
            while not asked.done():
                with self._news(partition) as news:
                    waiting: set[asyncio.Future[Any]] = {asked, news}
                    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                owner = self._placement.known(partition)
                if not asked.done() and owner is not None and owner.addr != address:
                    raise _Moved
            return asked.result()
        finally:
            asked.cancel()

    async def _change(self, partition: int, timeout: float) -> None:
        """Wait for news of a partition, but not long."""
        with self._news(partition) as news:
            await asyncio.wait({news}, timeout=timeout)

    @contextmanager
    def _news(self, partition: int) -> Iterator[asyncio.Future[None]]:
        """A future that news of a partition ends."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[partition][future] = None
        try:
            yield future
        finally:
            self._waiters[partition].pop(future, None)


class _Moved(Exception):
    """The partition has another owner than the one that is being asked."""


def _ask_again(code: grpc.StatusCode, detail: str) -> bool:
    return code in (
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
    ) or (code is grpc.StatusCode.FAILED_PRECONDITION and detail == "not_owner")
