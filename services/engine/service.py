"""The engine's gRPC door: unary calls and streams of commands, by the queue of the room's partition."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from generated.snatch.engine.v1 import engine_pb2 as pb
from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceServicer
from servicekit import logs, rpc
from services.engine.hall import Hall
from services.engine.items import Call, CallRefused, CommandItem, NotOwner
from services.engine.metrics import EngineMetrics
from services.engine.owner import Owner
from wire.places import partition_of

CALL_WITHIN = 5.0
MAX_REPLIES = 16384
"""Replies that may wait for their caller: of one that doesn't read, nothing more is read here."""

Context = grpc.aio.ServicerContext[Any, Any]


class CommandStream:
    """One caller's stream: replies gather while the last batch of them is on its way."""

    def __init__(self) -> None:
        self._replies: list[pb.Reply] = []
        self._some = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._over = False

    @property
    def waiting(self) -> int:
        return len(self._replies)

    def reply(self, reply: pb.Reply) -> None:
        if self._over:
            return
        self._replies.append(reply)
        self._some.set()
        if len(self._replies) >= MAX_REPLIES:
            self._room.clear()

    async def room(self) -> None:
        """Wait while the caller doesn't read what it is told: it is asked no more meanwhile."""
        await self._room.wait()

    def end(self) -> None:
        self._over = True
        self._some.set()

    async def batches(self) -> AsyncIterator[pb.CommandsResponse]:
        while True:
            await self._some.wait()
            self._some.clear()
            replies, self._replies = self._replies, []
            self._room.set()
            if replies:
                yield pb.CommandsResponse(replies=replies)
            if self._over:
                return


class EngineService(EngineServiceServicer):
    """Errors are as the proto says; whatever is sent, the rooms are unharmed."""

    def __init__(self, hall: Hall, metrics: EngineMetrics) -> None:
        self._hall, self._metrics = hall, metrics
        self._log = logs.logger(__name__)

    async def Open(self, request: pb.OpenRequest, context: Context) -> pb.OpenResponse:  # noqa: N802
        answer: pb.OpenResponse = await self._call("Open", request.room, request, context)
        return answer

    async def Close(self, request: pb.CloseRequest, context: Context) -> pb.CloseResponse:  # noqa: N802
        answer: pb.CloseResponse = await self._call("Close", request.room, request, context)
        return answer

    async def Attach(self, request: pb.AttachRequest, context: Context) -> pb.AttachResponse:  # noqa: N802
        answer: pb.AttachResponse = await self._call("Attach", request.room, request, context)
        return answer

    async def View(self, request: pb.ViewRequest, context: Context) -> pb.ViewResponse:  # noqa: N802
        answer: pb.ViewResponse = await self._call("View", request.room, request, context)
        return answer

    async def Tables(self, request: pb.TablesRequest, context: Context) -> pb.TablesResponse:  # noqa: N802
        answer = pb.TablesResponse()
        owners = self._hall.owners()
        for owner, tables in zip(owners, await asyncio.gather(*map(self._tables_of, owners)), strict=True):
            if tables is not None:
                answer.tables.extend(tables)
                answer.partitions.append(owner.number)
        return answer

    async def _tables_of(self, owner: Owner) -> list[pb.TableSummary] | None:
        """None of a partition that doesn't answer: it must not hide the others."""
        if not owner.ledger.rooms:
            return []
        call = Call(pb.TablesRequest(), asyncio.get_running_loop().create_future())
        owner.submit(call)
        try:
            async with asyncio.timeout(CALL_WITHIN):
                tables: list[pb.TableSummary] = await call.future
                return tables
        except (NotOwner, TimeoutError):
            return None

    async def Commands(  # noqa: N802
        self, requests: AsyncIterator[pb.CommandsRequest], context: Context
    ) -> AsyncIterator[pb.CommandsResponse]:
        stream = CommandStream()
        reader = asyncio.create_task(self._read(requests, stream), name="commands")
        try:
            async for batch in stream.batches():
                yield batch
        finally:
            reader.cancel()

    async def _read(self, requests: AsyncIterator[pb.CommandsRequest], stream: CommandStream) -> None:
        try:
            async for request in requests:
                await stream.room()
                for command in request.commands:
                    item = CommandItem(command, stream)
                    owner = self._hall.owner_of(command.room)
                    if owner is None:
                        item.fail()
                        continue
                    owner.submit(item)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._log.info("a command stream broke", error=repr(error))
        finally:
            stream.end()

    async def _call(self, method: str, room: str, request: Any, context: Context) -> Any:
        owner = self._hall.owner_of(room)
        status, detail = "FAILED_PRECONDITION", "not_owner"
        if owner is not None:
            call = Call(request, asyncio.get_running_loop().create_future(), _caller(context))
            owner.submit(call)
            try:
                answer = await asyncio.wait_for(call.future, CALL_WITHIN)
                self._metrics.called(method, "OK")
                return answer
            except NotOwner:
                pass
            except CallRefused as refused:
                status, detail = refused.status, refused.detail
            except TimeoutError:
                status, detail = "UNAVAILABLE", f"partition {partition_of(room)} does not answer"
        self._metrics.called(method, status)
        await context.abort(grpc.StatusCode[status], detail)
        raise AssertionError("abort raises")


def _caller(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == rpc.CALLER and isinstance(value, str):
            return value[:64]
    return ""
