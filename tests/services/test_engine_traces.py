"""What an engine makes of commands that come with a trace, and of those that don't."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.settings import Settings
from servicekit.tracing_spans import Traces
from services.engine.items import CommandItem
from services.engine.tracing import TracedCommand, TracedItems

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Caller:
    def __init__(self) -> None:
        self.replies: list[pb.Reply] = []

    def reply(self, reply: pb.Reply) -> None:
        self.replies.append(reply)


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def items(spans: InMemorySpanExporter) -> TracedItems:
    return TracedItems(Traces("engine", Settings(trace_ratio=0.5), SimpleSpanProcessor(spans)))


def command(traceparent: str = f"00-{TRACE}-{PARENT}-01") -> pb.Command:
    return pb.Command(room="BCDFG", seat=1, session=2, id=17, kind=pb.COMMAND_KIND_MOVE, traceparent=traceparent)


def only(spans: InMemorySpanExporter) -> ReadableSpan:
    (span,) = spans.get_finished_spans()
    return span


def test_a_command_without_a_trace_is_a_plain_item(items: TracedItems) -> None:
    assert type(items(command(""), Caller())) is CommandItem


@pytest.mark.parametrize("traceparent", ["x", f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{'0' * 16}-01", "é" * 55])
def test_what_is_no_trace_is_passed_over_and_the_command_is_taken(items: TracedItems, traceparent: str) -> None:
    assert type(items(command(traceparent), Caller())) is CommandItem


def test_a_command_that_is_not_decided_here_is_a_failure_under_the_gateways_span(
    items: TracedItems, spans: InMemorySpanExporter
) -> None:
    caller = Caller()
    item = items(command(), caller)
    assert isinstance(item, TracedCommand)
    assert spans.get_finished_spans() == (), "it goes on until it is told"
    item.fail()
    span = only(spans)
    assert span.context is not None
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE, PARENT)
    assert (span.name, span.status.status_code) == ("command", StatusCode.ERROR)
    assert dict(span.attributes or {}) == {
        "snatch.room": "BCDFG",
        "snatch.seat": 1,
        "snatch.session": 2,
        "snatch.move": 17,
    }
    assert [reply.kind for reply in caller.replies] == [pb.REPLY_KIND_NOT_OWNER]


def test_a_command_that_a_full_queue_does_not_take_is_a_failure_too(
    items: TracedItems, spans: InMemorySpanExporter
) -> None:
    caller = Caller()
    item = items(command(), caller)
    assert isinstance(item, TracedCommand)
    item.busy()
    assert only(spans).status.description == "busy"
    assert [reply.kind for reply in caller.replies] == [pb.REPLY_KIND_BUSY]
