"""A gateway asks rooms of another release: what they don't know is no fault."""

from __future__ import annotations

import grpc

from servicekit.rooms_client import RoomsClient


async def test_rooms_that_can_t_be_asked_whether_they_are_ready_are_ready_when_they_answer() -> None:
    server = grpc.aio.server()  # which knows no method at all: UNIMPLEMENTED
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    client = RoomsClient(f"127.0.0.1:{port}")
    client.start()
    try:
        assert await client.ready() is None
        await server.stop(0)
        assert await client.ready() is not None
    finally:
        await client.stop()
        await server.stop(0)
