"""A traced move in the engine: it waits, is decided, its record is appended, its frames go out.

Both classes stand in for the plain ones, where traces are made.  A record without a traced
move goes the plain way.
"""

from __future__ import annotations

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.tracing_spans import (
    NOTHING,
    Said,
    Span,
    SpanKind,
    Traces,
    a_move,
    carried_all,
    failed,
    inside,
    named,
    now,
    within,
)
from services.engine.batch import Batch
from services.engine.floor import Floor
from services.engine.frames import Outgoing
from services.engine.items import CommandItem, Item, Replies
from services.engine.owner import Owner
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


class TracedOwner(Owner):
    """Tells of the traced moves of each record."""

    def __init__(self, traces: Traces, number: int, floor: Floor, *, lose: bool = False) -> None:
        super().__init__(number, floor, lose=lose)
        self._traces = traces
        self._traced: list[TracedCommand] = []
        """Of the record under way."""

    def _decide(self, batch: Batch, taken: list[Item]) -> None:
        self._traced = [item for item in taken if isinstance(item, TracedCommand)]
        if not self._traced:
            super()._decide(batch, taken)
            return
        for item in taken:
            began = now()
            batch.take(item)
            if not isinstance(item, TracedCommand):
                continue
            self._traces.tell("queue", within(item.span), item.queued_at, began, NOTHING)
            if item in batch.deferred:
                item.queued_at = now()
                self._traced.remove(item)
            else:
                self._traces.tell("decide", within(item.span), began, now(), _outcome(batch, item.command))

    async def _commit(self, batch: Batch, began: float) -> None:
        said = {"partition": self.number, "epoch": self.partition.epoch, "rooms": len(batch.chunks)}
        at = now()
        spans = [self._traces.begin("append", within(item.span), SpanKind.CLIENT, at, said) for item in self._traced]
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
        if not self._traced:
            await super()._tell(batch)
            return
        began, told = now(), []
        for at, outgoing in enumerate(batch.outgoing):
            spans = [
                self._traces.begin("frame", within(item.span), SpanKind.PRODUCER, began, {"subject": outgoing.subject})
                for item in self._answered(outgoing)
            ]
            if spans:
                batch.outgoing[at] = Outgoing(outgoing.subject, outgoing.data, carried_all(spans))
                told += spans
        await super()._tell(batch)
        for span in told:
            span.end()
        for item in self._traced:
            if item.span.is_recording():  # else a fault in its room has ended it
                item.span.end()
        self._traced = []

    def _answered(self, outgoing: Outgoing) -> list[TracedCommand]:
        """The traced moves that a frame answers."""
        answered = set(frames.unpack(outgoing.data).answered)
        return [item for item in self._traced if _to_room(outgoing, item.command) and _key(item.command) in answered]


def _to_room(outgoing: Outgoing, command: pb.Command) -> bool:
    return outgoing.subject in (subjects.table(command.room), subjects.seat(command.room, command.seat))


def _key(command: pb.Command) -> tuple[int, int, int]:
    return command.seat, command.session, command.id


def _outcome(batch: Batch, command: pb.Command) -> Said:
    """What became of the move that was taken last; nothing of one that wasn't decided now."""
    sitting = batch.sittings.get(command.room)
    step = sitting.steps[-1] if sitting is not None and sitting.steps else None
    if step is None or (step.seat, step.id) != (command.seat, command.id):
        return NOTHING
    return {"result": "ok" if step.no is None else step.no.code}
