"""Questions to engines, where they are traced: gRPC's metadata carries the trace.

Whoever asks within a span (`Traces.asking`) has each try told of; other questions go as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
from opentelemetry import trace

from servicekit import rpc
from servicekit.tracing_spans import NOTHING, TRACEPARENT, Context, SpanKind, Traces, inside, now, traceparent, within

Ask = Callable[[grpc.aio.ClientCallDetails, Any], Any]


class _Telling(grpc.aio.UnaryUnaryClientInterceptor):
    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    async def intercept_unary_unary(
        self, continuation: Ask, client_call_details: grpc.aio.ClientCallDetails, request: Any
    ) -> Any:
        asking = trace.get_current_span()
        if not asking.is_recording():
            return await continuation(client_call_details, request)
        span = self._traces.begin("ask", within(asking), SpanKind.CLIENT, now(), NOTHING)
        metadata = grpc.aio.Metadata(*(client_call_details.metadata or ()))
        metadata.add(TRACEPARENT, traceparent(span))
        of = client_call_details
        details = grpc.aio.ClientCallDetails(of.method, of.timeout, metadata, of.credentials, of.wait_for_ready)
        call = await continuation(details, request)
        call.add_done_callback(lambda _: span.end())
        return call


def dialling(traces: Traces) -> Callable[[str], grpc.aio.Channel]:
    """As `rpc.channel`."""

    def channel(address: str) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(address, options=rpc.CHANNEL_OPTIONS, interceptors=[_Telling(traces)])

    return channel


def asked_within(context: grpc.aio.ServicerContext[Any, Any]) -> Context | None:
    """The span of who asks; None: it isn't traced."""
    for key, value in context.invocation_metadata() or ():
        if key == TRACEPARENT and isinstance(value, str):
            return inside(value)
    return None
