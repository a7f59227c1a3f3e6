"""gRPC between services: what both ends must agree on.

grpc.aio's keepalive is off at the client and strict at the server: both lists belong
together.  Make no channel before a fork, and one event loop a process.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import grpc
from google.protobuf.message import DecodeError

CALLER = "snatch-caller"
"""Metadata of Attach: the process whose socket the player is on, as in `callers.beat`."""

MAX_MESSAGE = 8 * 1024 * 1024
_LONGEST_REQUEST = "grpc.max_receive_message_length"

_NO_PROBES = ("grpc.http2.bdp_probe", 0)
"""Else each batch of commands is followed by a ping that measures the path: a tenth of what a batch costs.
A stream's window stays at 64 KB, plenty between machines that stand side by side."""

_LAST_CALLS = ("grpc.max_connection_age_grace_ms", 10_000)

CHANNEL_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.keepalive_time_ms", 2000),
    ("grpc.keepalive_timeout_ms", 1500),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 1000),
    (_LONGEST_REQUEST, MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    _NO_PROBES,
    # Each service's channels are its own: a dead one must not be found again by another's address.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.lb_policy_name", "round_robin"),
    ("grpc.dns_min_time_between_resolutions_ms", 1000),
]

SERVER_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 1000),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.keepalive_time_ms", 5000),
    ("grpc.keepalive_timeout_ms", 2000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.max_concurrent_streams", 10000),
    (_LONGEST_REQUEST, MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    ("grpc.so_reuseport", 0),
    _NO_PROBES,
]


def channel(address: str) -> grpc.aio.Channel:
    """A channel to `host:port`; connects at its first call.  A name with several addresses is asked round robin."""
    return grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS)


def server(max_message: int = MAX_MESSAGE, connections_last: float = 0.0) -> grpc.aio.Server:
    """A server that lets our clients ping; add servicers and a port, then start.

    `max_message`: bytes; a longer request is refused unread, with RESOURCE_EXHAUSTED.
    `connections_last`: seconds, more or less, until a caller is asked to connect anew, calls under way
    unharmed; 0: for ever.  Callers that know servers by one name look it up only then, and so find new ones.
    """
    options = [(name, max_message if name == _LONGEST_REQUEST else value) for name, value in SERVER_OPTIONS]
    if connections_last:
        options += [("grpc.max_connection_age_ms", round(connections_last * 1000)), _LAST_CALLS]
    return grpc.aio.server(options=options, interceptors=[_BadMessages()])


class _Bad:
    """Stands for bytes that are no message of their method."""


class _BadMessages(grpc.aio.ServerInterceptor):
    """Bytes that are no protobuf are their sender's fault: INVALID_ARGUMENT "bad_message", and nothing in the log.

    A stream ends so once what came before has been answered.
    """

    async def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        handler = await continuation(handler_call_details)
        if handler is None:  # no such method
            return None
        if handler.request_streaming != handler.response_streaming:
            raise NotImplementedError("a stream one way alone: no service here has one")
        decode, encode = _decoder(handler.request_deserializer), handler.response_serializer
        if handler.request_streaming:
            return grpc.stream_stream_rpc_method_handler(_stream(handler.stream_stream), decode, encode)
        return grpc.unary_unary_rpc_method_handler(_unary(handler.unary_unary), decode, encode)


def _decoder(decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def decoded(data: bytes) -> Any:
        try:
            return decode(data)
        except DecodeError:
            return _Bad()

    return decoded


def _unary(answer: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
    async def answered(request: Any, context: Any) -> Any:
        if isinstance(request, _Bad):
            await _refuse(context)
        return await answer(request, context)

    return answered


def _stream(answers: Callable[[Any, Any], AsyncGenerator[Any, None]]) -> Callable[[Any, Any], AsyncIterator[Any]]:
    async def answered(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        bad = False

        async def good() -> AsyncIterator[Any]:
            nonlocal bad
            async for request in requests:
                if isinstance(request, _Bad):
                    bad = True
                    return
                yield request

        async with aclosing(answers(good(), context)) as given:
            async for answer in given:
                yield answer
        if bad:
            await _refuse(context)

    return answered


async def _refuse(context: Any) -> None:
    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "bad_message")
