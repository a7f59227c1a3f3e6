"""The peer's players: what they count, against a server that can lose a move or tell one twice."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect

from benchmarks.peers.colyseus import load

pack, unpack = msgspec.msgpack.encode, msgspec.msgpack.decode


class Twin:
    """Seats by HTTP, then rooms of four, each move told to all; `loses` and `repeats`: last digits of ids."""

    def __init__(self, loses: int | None = None, repeats: int | None = None) -> None:
        self.app = FastAPI()
        self._loses, self._repeats = loses, repeats
        self._seats = 0
        self._rooms: dict[str, list[WebSocket]] = {}
        self.app.post("/matchmake/joinOrCreate/race")(self.join)
        self.app.websocket("/{process}/{room}")(self.play)

    async def join(self) -> dict[str, str]:
        self._seats += 1
        return {"processId": "p", "roomId": f"r{(self._seats - 1) // 4}", "sessionId": f"s{self._seats}"}

    async def play(self, phone: WebSocket, process: str, room: str) -> None:
        await phone.accept()
        sockets = self._rooms.setdefault(room, [])
        await phone.send_bytes(bytes([load.JOINED]))
        try:
            assert await phone.receive_bytes() == bytes([load.JOINED])
            sockets.append(phone)
            await phone.send_bytes(bytes([load.STATE]))
            while True:
                said = await phone.receive_bytes()
                assert said.startswith(load.MOVE)
                move = unpack(said[len(load.MOVE) :])
                last = move["id"] % 10
                told = bytes([load.MESSAGE]) + pack("moved") + pack({"id": move["id"], "seat": move["seat"], "rank": 1})
                for _ in range(0 if last == self._loses else 2 if last == self._repeats else 1):
                    for other in list(sockets):
                        await other.send_bytes(told)
        except WebSocketDisconnect:
            sockets.remove(phone)


@asynccontextmanager
async def served(twin: Twin) -> AsyncIterator[int]:
    listening = socket.create_server(("127.0.0.1", 0), backlog=64)
    server = uvicorn.Server(uvicorn.Config(twin.app, log_level="error", ws="websockets-sansio"))
    running = asyncio.create_task(server.serve([listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def played(twin: Twin, rate: float = 40.0) -> load.Played:
    async with served(twin) as port:
        told = argparse.Namespace(port=port, pid=os.getpid(), players=8, rate=rate, seconds=0.8, warm=0.1)
        return await load.play(told)


async def test_every_move_that_its_room_is_told_of_is_one_answer() -> None:
    found = await played(Twin())
    assert (found.lost, found.doubled) == (0, 0)
    assert found.moves_per_s > 0
    assert found.frames_per_s > 2 * found.moves_per_s


async def test_a_move_that_nobody_is_told_of_is_lost() -> None:
    assert (await played(Twin(loses=5))).lost > 0


async def test_a_move_that_is_told_twice_is_doubled() -> None:
    found = await played(Twin(repeats=5))
    assert found.doubled > 0
    assert found.lost == 0


async def test_flat_out_the_next_move_follows_the_frame_of_the_last() -> None:
    found = await played(Twin(), rate=0)
    assert (found.lost, found.doubled, found.void) == (0, 0, False)
    assert found.p50_ms > 0
