"""The stream of commands to an engine, where moves are traced."""

from __future__ import annotations

from generated.snatch.engine.v1.engine_pb2 import CommandsRequest
from servicekit.command_stream import CommandStream
from servicekit.tracing_spans import Said, SpanKind, Traces, inside, now


class TracedStream(CommandStream):
    """Tells of each traced command how long its batch took to be written."""

    def __init__(self, traces: Traces, address: str) -> None:
        super().__init__(address)
        self._traces = traces

    async def write(self, request: CommandsRequest) -> None:
        began = now()
        await super().write(request)
        ended = now()
        for command in request.commands:
            if command.traceparent and (parent := inside(command.traceparent)) is not None:
                said: Said = {"engine": self._address, "batch": len(request.commands)}
                self._traces.tell("send", parent, began, ended, said, SpanKind.CLIENT)
