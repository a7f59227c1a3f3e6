"""A seat whose sampled moves are traced, from their socket to the frame that answers them there; and its attaching."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.feed import Feeds
from servicekit.seat import SeatSession, SeatSink
from servicekit.tracing_spans import NOWHERE, Span, SpanKind, Traces, a_move, failed, named, now, traceparent, within
from wire.frames import Frame


class _Move(NamedTuple):
    id: int
    span: Span


class TracedSeat(SeatSession):
    """Each sampled move has a span of its own, the root of its trace, until it is answered."""

    def __init__(
        self,
        traces: Traces,
        feeds: Feeds,
        request: pb.AttachRequest,
        sink: SeatSink,
        *,
        timed: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(feeds, request, sink, timed=timed)
        self._traces = traces
        self._moves: list[_Move] = []
        """Those without an answer, by id."""

    async def attach(self, timeout: float | None = None) -> None:
        if not self._traces.sampled():
            await super().attach(timeout)
            return
        with self._traces.asking("attach", {"room": self.room}) as span:
            await super().attach(timeout)
            span.set_attributes(named({"seat": self.seat, "session": self.session}))

    def _put(self, command: pb.Command) -> None:
        # What was answered before is asked about, not moved.  What is sent again is the same command, and its trace.
        if command.id > self.answered and self._traces.sampled():
            span = self._traces.begin("move", NOWHERE, SpanKind.SERVER, now(), a_move(command))
            command.traceparent = traceparent(span)
            self._moves.append(_Move(command.id, span))
        super()._put(command)

    def on_frame(self, frame: Frame) -> None:
        began = now() if self._moves else 0
        super().on_frame(frame)
        if self._moves:
            self._answered("frame", began)

    def on_reply(self, reply: pb.Reply) -> None:
        began = now() if self._moves else 0
        super().on_reply(reply)
        if self._moves:
            self._answered("reply", began)

    def on_snapshot(self, snapshot: pb.Snapshot) -> None:
        began = now() if self._moves else 0
        super().on_snapshot(snapshot)
        if self._moves:
            self._answered("snapshot", began)

    def close(self, *, detach: bool = True) -> None:
        super().close(detach=detach)
        moves, self._moves = self._moves, []
        for move in moves:
            failed(move.span, "the seat was left before the answer came")

    def _answered(self, by: str, began: int) -> None:
        """`began`: when the socket was given what answers them."""
        kept = []
        for move in self._moves:
            if self.answered < move.id <= self.last:
                kept.append(move)
            elif move.id > self.last:
                failed(move.span, "its id is free again")
            else:
                ended = now()
                heard = self._traces.hearing.get(move.span.get_span_context().trace_id, move.span)
                self._traces.tell("socket", within(heard), began, ended, {"by": by})
                move.span.end(ended)
        self._moves = kept
