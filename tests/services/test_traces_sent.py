"""Spans on their way out of a process, by OTLP, where OpenTelemetry's variables say; never at the cost of play."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans
from opentelemetry.sdk.trace import SpanProcessor

from servicekit import tracing
from servicekit.settings import Settings
from servicekit.tracing_spans import NOTHING, NOWHERE, Traces, now

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


class Collector:
    """A collector's twin: keeps what it is sent."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.got: list[ResourceSpans] = []
        twin = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") is None:
                    twin.got += ExportTraceServiceRequest.FromString(body).resource_spans
                twin.paths.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    twin = Collector()
    twin.start()
    monkeypatch.setenv(ENDPOINT, twin.url)
    yield twin
    twin.stop()


def settings(ratio: float = 1.0) -> Settings:
    return Settings(trace_ratio=ratio, instance="gateway-1", build="1.2.3")


@asynccontextmanager
async def made(ratio: float = 1.0) -> AsyncIterator[Traces]:
    traces = tracing.traces("gateway", settings(ratio))
    assert traces is not None
    try:
        yield traces
    finally:
        await traces.stop()


def tell(traces: Traces, name: str) -> None:
    traces.tell(name, NOWHERE, now(), now(), NOTHING)


async def test_the_last_spans_reach_the_collector_when_the_process_ends_and_say_of_which_it_was(
    collector: Collector,
) -> None:
    async with made() as traces:
        tell(traces, "move")
    assert collector.paths == ["/v1/traces"]
    (resource,) = collector.got
    said = {a.key: a.value.string_value for a in resource.resource.attributes}
    own = {"service.name": "snatch-gateway", "service.instance.id": "gateway-1", "service.version": "1.2.3"}
    assert own.items() <= said.items()
    assert [span.name for scope in resource.scope_spans for span in scope.spans] == ["move"]


async def test_what_an_operator_says_of_the_resource_comes_before_what_we_say(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=cell-3,service.version=mine")
    async with made() as traces:
        tell(traces, "move")
    said = {a.key: a.value.string_value for a in collector.got[0].resource.attributes}
    assert (said["deployment.environment"], said["service.version"]) == ("cell-3", "mine")
    assert said["service.name"] == "snatch-gateway"


async def test_a_collector_that_answers_nothing_holds_up_nobody_s_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{deaf.getsockname()[1]}")
        async with asyncio.timeout(20):  # of the 30 s that the SDK's own end may take
            async with made() as traces:
                tell(traces, "move")


async def test_a_protocol_that_we_cannot_speak_is_refused_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with pytest.raises(OSError, match="http/protobuf") as refused:
        tracing.traces("gateway", settings())
    assert "4318" in str(refused.value)


async def test_the_ratio_is_the_share_of_moves_that_are_sampled() -> None:
    assert tracing.traces("gateway", settings(0)) is None
    chances = iter([0.0, 0.24, 0.25, 0.99])
    traces = Traces("gateway", settings(0.25), SpanProcessor(), lambda: next(chances))
    assert [traces.sampled() for _ in range(4)] == [True, True, False, False]


async def test_opentelemetrys_own_switch_turns_them_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tracing.SWITCH, "true")
    assert tracing.traces("gateway", settings()) is None


async def test_a_header_that_is_no_trace_is_passed_over_and_the_frame_is_heard() -> None:
    traces = Traces("gateway", settings(), SpanProcessor())
    for value in ("", "no trace", "00-0-0-01,,", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "\xff"):
        with traces.heard("f.ABCDE.table", b"NATS/1.0\r\ntraceparent: " + value.encode("latin-1") + b"\r\n\r\n"):
            assert traces.hearing == {}
