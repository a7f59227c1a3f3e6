"""What is traced in the engine: it waits, is decided, its record is appended, its frames go out.

These classes stand in for the plain ones, where traces are made.  A record without anything
traced goes the plain way.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import nats.errors

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.tracing_calls import asked_within
from servicekit.tracing_spans import (
    NOTHING,
    Said,
    Span,
    SpanKind,
    Traces,
    a_move,
    carried,
    failed,
    inside,
    named,
    now,
    within,
)
from services.engine.batch import Batch
from services.engine.floor import Floor
from services.engine.frames import Outgoing
from services.engine.hall import Hall
from services.engine.items import Call, CallRefused, CommandItem, Item, Replies
from services.engine.ledger import Ledger
from services.engine.metrics import EngineMetrics
from services.engine.owner import Owner
from services.engine.service import Context, EngineService
from wire import frames, subjects


class TracedCommand(CommandItem):
    """A command that came with its trace.  `span` goes on until all that it led to has been told."""

    __slots__ = ("queued_at", "span")

    def __init__(self, command: pb.Command, replies: Replies, span: Span, at: int) -> None:
        super().__init__(command, replies)
        self.span, self.queued_at = span, at

    def fail(self) -> None:
        super().fail()
        failed(self.span, "not decided here")

    def busy(self) -> None:
        super().busy()
        failed(self.span, "busy")


class TracedCall(Call):
    """A call that came with its trace.  `span` goes on until it is answered."""

    __slots__ = ("queued_at", "span")

    def __init__(self, request: Any, future: asyncio.Future[Any], via: str, span: Span, at: int) -> None:
        super().__init__(request, future, via)
        self.span, self.queued_at = span, at

    def refuse(self, error: Exception) -> None:
        super().refuse(error)
        if isinstance(error, CallRefused):
            self.span.set_attributes(named({"result": error.detail}))
            self.span.end()
        else:
            failed(self.span, "not decided here")

    def answer(self, response: Any) -> None:
        super().answer(response)
        self.span.end()


TracedItem = TracedCommand | TracedCall


class TracedItems:
    """Makes what waits in queues of the commands that come."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    def __call__(self, command: pb.Command, replies: Replies) -> CommandItem:
        parent = inside(command.traceparent) if command.traceparent else None
        if parent is None:
            return CommandItem(command, replies)
        at = now()
        span = self._traces.begin("command", parent, SpanKind.SERVER, at, a_move(command))
        return TracedCommand(command, replies, span, at)


class TracedService(EngineService):
    """Unary calls that come with their trace are told of, too."""

    def __init__(self, traces: Traces, hall: Hall, metrics: EngineMetrics) -> None:
        super().__init__(hall, metrics, TracedItems(traces))
        self._traces = traces

    def _call_of(self, request: Any, context: Context) -> Call:
        parent = asked_within(context)
        call = super()._call_of(request, context)
        if parent is None:
            return call
        at = now()
        said = {"method": type(request).__name__.removesuffix("Request"), "room": request.room}
        span = self._traces.begin("call", parent, SpanKind.SERVER, at, said)
        return TracedCall(request, call.future, call.via, span, at)


class TracedBatch(Batch):
    """Times what it takes that is traced."""

    def __init__(self, traces: Traces, ledger: Ledger, epoch: int, now: int, writes: int) -> None:
        super().__init__(ledger, epoch, now, writes)
        self._traces = traces
        self.traced: list[TracedItem] = []

    def take(self, item: Item) -> None:
        if not isinstance(item, TracedItem):
            super().take(item)
            return
        began = now()
        super().take(item)
        ended = now()
        self._traces.tell("queue", within(item.span), item.queued_at, began, NOTHING)
        if item in self.deferred:
            item.queued_at = ended
            return
        said = _outcome(self, item.command) if isinstance(item, TracedCommand) else NOTHING
        self._traces.tell("decide", within(item.span), began, ended, said)
        self.traced.append(item)


class TracedOwner(Owner):
    """Tells of what is traced in each record."""

    def __init__(self, traces: Traces, number: int, floor: Floor, *, lose: bool = False) -> None:
        super().__init__(number, floor, lose=lose)
        self._traces = traces
        self._batch = partial(TracedBatch, traces)

    async def _commit(self, batch: Batch, began: float) -> None:
        said = {"partition": self.number, "epoch": self.partition.epoch, "rooms": len(batch.chunks)}
        at = now()
        spans = [self._traces.begin("append", within(i.span), SpanKind.CLIENT, at, said) for i in _traced(batch)]
        try:
            await super()._commit(batch, began)
        except BaseException as error:
            for span in spans:
                failed(span, type(error).__name__)
            raise
        for span in spans:
            span.set_attributes(named({"sequence": self.partition.last}))
            span.end()

    async def _tell(self, batch: Batch) -> None:
        if not (traced := [item for item in _traced(batch) if isinstance(item, TracedCommand)]):
            await super()._tell(batch)
            return
        outgoing, batch.outgoing = batch.outgoing, []
        try:
            for frame in outgoing:
                await self._publish(frame, [item for item in traced if _answers(frame, item.command)])
        except nats.errors.Error as error:
            self._log.warning("frames were not sent", error=repr(error))
        await super()._tell(batch)  # the news
        batch.outgoing = outgoing
        for item in traced:
            if item.span.is_recording():  # else a fault in its room has ended it
                item.span.end()

    async def _publish(self, frame: Outgoing, answered: list[TracedCommand]) -> None:
        began = now()
        said: Said = {"subject": frame.subject, "bytes": len(frame.data)}
        spans = [self._traces.begin("frame", within(item.span), SpanKind.PRODUCER, began, said) for item in answered]
        await self._floor.bus.publish(frame.subject, frame.data, headers=carried(spans) if spans else None)
        for span in spans:
            span.end()


def _traced(batch: Batch) -> list[TracedItem]:
    return batch.traced if isinstance(batch, TracedBatch) else []


def _answers(outgoing: Outgoing, command: pb.Command) -> bool:
    if outgoing.subject not in (subjects.table(command.room), subjects.seat(command.room, command.seat)):
        return False
    return (command.seat, command.session, command.id) in frames.unpack(outgoing.data).answered


def _outcome(batch: Batch, command: pb.Command) -> Said:
    """What became of the move that was taken last; nothing of one that wasn't decided now."""
    sitting = batch.sittings.get(command.room)
    step = sitting.steps[-1] if sitting is not None and sitting.steps else None
    if step is None or (step.seat, step.id) != (command.seat, command.id):
        return NOTHING
    return {"result": "ok" if step.no is None else step.no.code}
