"""Callers who know servers by one name find new ones: their connections end by themselves, and nobody notices."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc

from servicekit import rpc

LAST = 0.2


async def test_a_connection_is_made_anew_again_and_again_and_no_call_fails() -> None:
    peers: set[str] = set()

    async def answer(request: bytes, context: Any) -> bytes:
        peers.add(context.peer())
        await asyncio.sleep(LAST / 20)
        return request

    server = rpc.server(connections_last=LAST)
    methods = {"Ask": grpc.unary_unary_rpc_method_handler(answer, bytes, bytes)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    channel = rpc.channel(f"127.0.0.1:{port}")
    ask: Any = channel.unary_unary("/test.Echo/Ask", request_serializer=bytes, response_deserializer=bytes)

    async def go_on_asking() -> None:
        while len(peers) < 4:
            await ask(b"?", timeout=10)  # raises if the end of a connection is felt

    async with asyncio.timeout(60):
        await asyncio.gather(*(go_on_asking() for _ in range(4)))
    await channel.close()
    await server.stop(0)
