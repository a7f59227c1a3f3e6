"""Spans, as OpenTelemetry has them.  Loaded only where something is traced.

A move is sampled where it comes in, once, by `SNATCH_TRACE_RATIO`; whoever is told its trace
makes spans of it, and nobody makes spans of any other.  Times are ns since 1970: a span
may be made when what it tells of is over, so that nothing is made before it is needed.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from random import random

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider, sampling
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.settings import Settings

TRACEPARENT = "traceparent"
"""The header of a frame on NATS: W3C's; of a frame that answers several traced moves, separated by commas."""
END_WITHIN = 1.0
"""Seconds that the last spans have to reach the collector when the process ends."""

Said = Mapping[str, str | int]
"""What a span says beside its times."""
NOTHING: Said = {}
NOWHERE = Context()
now = time.time_ns
_w3c = TraceContextTextMapPropagator()

__all__ = [
    "NOTHING",
    "NOWHERE",
    "TRACEPARENT",
    "Context",
    "Said",
    "Span",
    "SpanKind",
    "Traces",
    "a_move",
    "carried",
    "failed",
    "inside",
    "named",
    "now",
    "to_collector",
    "traceparent",
    "within",
]


def to_collector() -> SpanProcessor:
    """Sends spans by OTLP over HTTP, in batches, from a thread: OTEL_EXPORTER_OTLP_ENDPOINT and its like say where to.

    Raises OSError when another protocol is asked for.
    """
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if (asked := os.environ.get(name, "")) not in ("", "http/protobuf"):
            raise OSError(f"{name}={asked}: traces are sent by http/protobuf alone; leave it out, and name port 4318")
    return BatchSpanProcessor(OTLPSpanExporter())


class Traces:
    """One service's.  `processor` is where its spans go; `chance` gives numbers from 0 to 1."""

    def __init__(
        self, service: str, settings: Settings, processor: SpanProcessor, chance: Callable[[], float] = random
    ) -> None:
        self.hearing: dict[int, Span] = {}
        """The span of each trace whose frame is being heard just now."""
        self._ratio, self._chance = settings.trace_ratio, chance
        own = {
            "service.name": f"snatch-{service}",
            "service.instance.id": settings.instance,
            "service.version": settings.build,
        }
        # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes before what we know ourselves.
        resource = Resource.create(dict(own)).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(sampling.ALWAYS_ON, resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("snatch", settings.build)

    async def stop(self) -> None:
        """The last spans are sent; a collector that takes none holds nobody up."""
        loop, sent = asyncio.get_running_loop(), asyncio.Event()

        def end() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # the loop is closed: nobody waited for so long
                loop.call_soon_threadsafe(sent.set)

        threading.Thread(target=end, name="last-spans", daemon=True).start()
        try:
            async with asyncio.timeout(END_WITHIN):
                await sent.wait()
        except TimeoutError:
            return

    # ---- spans ----

    @contextmanager
    def asking(self, name: str, said: Said) -> Iterator[Span]:
        """A root within which questions to engines are told of (`tracing_calls`); an exception makes it a failure."""
        span = self.begin(name, NOWHERE, SpanKind.SERVER, now(), said)
        with trace.use_span(span, end_on_exit=True, record_exception=False):
            yield span

    def sampled(self) -> bool:
        """Whether a move, or a seat's attaching, that begins now is traced."""
        return self._chance() < self._ratio

    def begin(self, name: str, parent: Context, kind: SpanKind, began: int, said: Said) -> Span:
        """A span that goes on; whoever made it ends it.  Inside an empty context it is the root of a trace."""
        return self._tracer.start_span(name, parent, kind, named(said), start_time=began)

    def tell(
        self, name: str, parent: Context, began: int, ended: int, said: Said, kind: SpanKind = SpanKind.INTERNAL
    ) -> None:
        """A span that is over."""
        self._tracer.start_span(name, parent, kind, named(said), start_time=began).end(ended)

    @contextmanager
    def heard(self, subject: str, headers: bytes) -> Iterator[None]:
        """While a frame that answers traced moves is handed to its readers here; see `Listeners.within`."""
        began = now()
        said = {"subject": subject}
        parents = [parent for parent in map(inside, _traceparents(headers)) if parent is not None]
        spans = [self.begin("hear", parent, SpanKind.CONSUMER, began, said) for parent in parents]
        self.hearing = {span.get_span_context().trace_id: span for span in spans}
        try:
            yield
        finally:
            self.hearing = {}
            for span in spans:
                span.end()


def a_move(command: pb.Command) -> Said:
    """Whose, and which: as it is in the logs."""
    return {"room": command.room, "seat": command.seat, "session": command.session, "move": command.id}


def within(span: Span) -> Context:
    """What a span's children have as their parent."""
    return trace.set_span_in_context(span, Context())


def inside(parent: str) -> Context | None:
    """The same of a span of another process, by its `traceparent`; None: that is none."""
    found = _w3c.extract({TRACEPARENT: parent}, Context())
    return found if trace.get_current_span(found).get_span_context().is_valid else None


def traceparent(span: Span) -> str:
    """A span as other processes are told of it."""
    carrier: dict[str, str] = {}
    _w3c.inject(carrier, within(span))
    return carrier[TRACEPARENT]


def carried(spans: Sequence[Span]) -> dict[str, str]:
    """The headers of a frame that answers the moves of several traces."""
    return {TRACEPARENT: ",".join(map(traceparent, spans))}


def failed(span: Span, why: str) -> None:
    """What it tells of did not come to its end; it ends here."""
    span.set_status(StatusCode.ERROR, why)
    span.end()


def _traceparents(headers: bytes) -> list[str]:
    for line in headers.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == TRACEPARENT:
            return [one.strip() for one in value.split(",")]
    return []


def named(said: Said) -> dict[str, str | int]:
    """Attributes of a span, under this project's names."""
    return {f"snatch.{name}": value for name, value in said.items()}
