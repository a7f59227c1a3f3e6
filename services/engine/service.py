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
from services.engine.items import Call, CallRefused, CommandItem, MakeCommand, NotOwner
from services.engine.metrics import EngineMetrics
from services.engine.owner import Owner
from services.engine.replies import CommandReplies
from wire.places import partition_of

CALL_WITHIN = 5.0

Context = grpc.aio.ServicerContext[Any, Any]


class EngineService(EngineServiceServicer):
    """Errors are as the proto says; whatever is sent, the rooms are unharmed."""

    def __init__(self, hall: Hall, metrics: EngineMetrics, item: MakeCommand = CommandItem) -> None:
        self._hall, self._metrics, self._item = hall, metrics, item
        self.commands_port = 0
        """Where `CommandDoor` serves the same; 0: nowhere."""
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
        stream = CommandReplies()
        reader = asyncio.create_task(self._read(requests, stream), name="commands")
        try:
            async for batch in stream.batches():
                yield batch
        finally:
            reader.cancel()

    async def CommandsAt(  # noqa: N802
        self, request: pb.CommandsAtRequest, context: Context
    ) -> pb.CommandsAtResponse:
        return pb.CommandsAtResponse(port=self.commands_port)

    def take(self, command: pb.Command, replies: CommandReplies) -> None:
        """Queue a command for the owner of its room."""
        item = self._item(command, replies)
        owner = self._hall.owner_of(command.room)
        if owner is None:
            item.fail()
        else:
            owner.submit(item)

    async def _read(self, requests: AsyncIterator[pb.CommandsRequest], stream: CommandReplies) -> None:
        try:
            async for request in requests:
                await stream.room()
                for command in request.commands:
                    self.take(command, stream)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._log.info("a command stream broke", error=repr(error))
        finally:
            stream.end()

    def _call_of(self, request: Any, context: Context) -> Call:
        return Call(request, asyncio.get_running_loop().create_future(), _caller(context))

    async def _call(self, method: str, room: str, request: Any, context: Context) -> Any:
        owner = self._hall.owner_of(room)
        status, detail = "FAILED_PRECONDITION", "not_owner"
        if owner is not None:
            call = self._call_of(request, context)
            owner.submit(call)
            try:
                async with asyncio.timeout(CALL_WITHIN):
                    answer = await call.future
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
