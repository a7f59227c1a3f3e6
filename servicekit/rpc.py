"""gRPC between services: what both ends must agree on.

grpc.aio's keepalive is off at the client and strict at the server: both lists belong
together.  Make no channel before a fork, and one event loop a process.
"""

from __future__ import annotations

from typing import Any

import grpc

CALLER = "snatch-caller"
"""Metadata of Attach: the process whose socket the player is on, as in `callers.beat`."""

MAX_MESSAGE = 8 * 1024 * 1024

CHANNEL_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.keepalive_time_ms", 2000),
    ("grpc.keepalive_timeout_ms", 1500),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
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
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    ("grpc.so_reuseport", 0),
]


def channel(address: str) -> grpc.aio.Channel:
    """A channel to `host:port`; connects at its first call.  A name with several addresses is asked round robin."""
    return grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS)


def server() -> grpc.aio.Server:
    """A server that lets our clients ping; add servicers and a port, then start."""
    return grpc.aio.server(options=SERVER_OPTIONS)
