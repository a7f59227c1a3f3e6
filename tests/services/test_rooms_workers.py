"""Several rooms workers, as a gateway asks them: one that hangs, dies or ends costs nobody an act."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from generated.snatch.rooms.v1 import rooms_pb2 as pb
from servicekit import bus
from servicekit.rooms_client import LobbyAway, RoomsClient
from stack.ports import free_ports
from tests.servers import NatsServer, RedisServer
from tests.services.rooms_client import SECRET
from tests.services.twin_engine import TwinEngine, TwinTables
from tests.services.twin_rooms import TwinRooms
from tests.waiting import reach
from wire import client_in as ask
from wire import client_out

ROOT = Path(__file__).resolve().parents[2]


class HangingRooms(TwinRooms):
    """Counts what it is asked; answers nothing while it hangs."""

    def __init__(self, nc: bus.Bus) -> None:
        super().__init__(nc)
        self.hangs = False
        self.asked = 0
        self.looked_at = asyncio.Event()

    async def GetLobby(self, request: pb.GetLobbyRequest, context: Any) -> pb.GetLobbyResponse:  # noqa: N802
        self.asked += 1
        if self.hangs:
            await asyncio.Event().wait()
        return await super().GetLobby(request, context)

    async def Ready(self, request: pb.ReadyRequest, context: Any) -> pb.ReadyResponse:  # noqa: N802
        self.looked_at.set()
        if self.hangs:
            await asyncio.Event().wait()
        return await super().Ready(request, context)


@asynccontextmanager
async def two_twins(nc: bus.Bus) -> AsyncIterator[tuple[HangingRooms, HangingRooms, RoomsClient]]:
    twins = HangingRooms(nc), HangingRooms(nc)
    for twin in twins:
        await twin.start()
        twin.room("BCDFG", "ann")
    client = RoomsClient(",".join(twin.addr for twin in twins))
    client.start()
    try:
        yield *twins, client
    finally:
        await client.stop()
        for twin in twins:
            await twin.stop()


async def test_a_worker_that_hangs_is_asked_once_and_then_passed_over_until_it_answers(nc: bus.Bus) -> None:
    async with two_twins(nc) as (one, two, client):
        one.hangs = True
        for _ in range(20):
            assert (await client.lobby("BCDFG")).lobby
        assert (one.asked, two.asked) == (1, 20)
        one.hangs = False
        one.looked_at.clear()
        async with asyncio.timeout(20):
            while one.asked == 1:
                await client.lobby("BCDFG")
        for _ in range(10):
            await client.lobby("BCDFG")
        assert one.asked > 5, "in turn again"


async def test_calls_to_two_workers_that_hang_end_in_time_and_work_again_when_they_do(nc: bus.Bus) -> None:
    async with two_twins(nc) as (one, two, client):
        one.hangs = two.hangs = True
        with pytest.raises(LobbyAway):
            await client.lobby("BCDFG")
        one.hangs = two.hangs = False
        assert (await client.lobby("BCDFG")).lobby


async def test_a_slow_answer_is_no_silence(nc: bus.Bus) -> None:
    """As a start that waits for an engine: both workers are slow, neither is given up."""

    class Slow(HangingRooms):
        async def GetLobby(self, request: pb.GetLobbyRequest, context: Any) -> pb.GetLobbyResponse:  # noqa: N802
            self.asked += 1
            await self.looked_at.wait()
            return await TwinRooms.GetLobby(self, request, context)

    slow = Slow(nc)
    await slow.start()
    slow.room("BCDFG", "ann")
    client = RoomsClient(slow.addr)
    client.start()
    assert (await client.lobby("BCDFG")).lobby
    assert slow.asked <= 2
    await client.stop()
    await slow.stop()


@dataclass
class Deployment:
    """Two rooms processes and a gateway's client of them."""

    client: RoomsClient
    workers: list[asyncio.subprocess.Process]
    start: Callable[[int], Any]

    def signal(self, which: signal.Signals) -> None:
        self.workers[0].send_signal(which)


@pytest.fixture
async def deployment(
    new_nats: Callable[[], NatsServer], new_redis: Callable[[], RedisServer]
) -> AsyncIterator[Deployment]:
    nats, server = new_nats(), new_redis()
    ports = free_ports(2)
    async with AsyncExitStack() as ending:
        nc = await bus.connect(nats.url, "test")
        ending.push_async_callback(nc.close)
        engine = TwinEngine(nc, TwinTables())
        await engine.start()
        ending.push_async_callback(engine.stop)
        await engine.claim()
        workers: list[asyncio.subprocess.Process] = []

        async def start(number: int) -> asyncio.subprocess.Process:
            env = {k: v for k, v in os.environ.items() if not k.startswith(("SNATCH_", "NATS_", "REDIS_"))}
            env |= {"SNATCH_SECRET": SECRET, "NATS_URL": nats.url, "REDIS_URL": server.url}
            env |= {"SNATCH_ROOMS_PORT": str(ports[number]), "SNATCH_INSTANCE": f"rooms-{number}"}
            return await asyncio.create_subprocess_exec(sys.executable, "-m", "services.rooms", cwd=ROOT, env=env)

        for number in range(2):
            workers.append(await start(number))
        client = RoomsClient(",".join(f"127.0.0.1:{port}" for port in ports))
        client.start()
        ending.push_async_callback(client.stop)
        try:
            for port in ports:
                alone = RoomsClient(f"127.0.0.1:{port}")
                alone.start()
                async with asyncio.timeout(30):
                    while await alone.ready() is not None:  # noqa: ASYNC110 - it is asked for, not told
                        await asyncio.sleep(0.05)
                await alone.stop()
            yield Deployment(client, workers, start)
        finally:
            for worker in workers:
                if worker.returncode is None:
                    worker.kill()
                    await worker.wait()


class Acting:
    """A host who adds a bot and removes it, all the time; no act may fail or be done twice."""

    def __init__(self, client: RoomsClient) -> None:
        self._client = client
        self.took: list[float] = []
        self._over = False

    async def run(self) -> None:
        ann = await self._client.create("Ann", "the room")
        while not self._over:
            lobby = await self._act(ann.token, ask.AddBot())
            assert len(lobby.players) == 2, "one act, one bot"
            lobby = await self._act(ann.token, ask.RemovePlayer(lobby.players[1].player))
            assert len(lobby.players) == 1

    async def _act(self, token: str, do: ask.LobbyAct) -> client_out.Lobby:
        began = time.perf_counter()
        answer = await self._client.act(token, msgspec.json.encode(do))
        self.took.append(time.perf_counter() - began)
        return msgspec.json.decode(answer.lobby, type=client_out.Lobby)

    def end(self) -> None:
        self._over = True

    async def more(self, task: asyncio.Task[None], count: int = 20) -> None:
        """So many acts from now."""
        upto = len(self.took) + count
        await reach(lambda: task.done() or len(self.took) >= upto, "more acts")
        if task.done():
            task.result()


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP], ids=lambda s: s.name)
async def test_no_act_fails_or_is_done_twice_when_one_of_two_workers_goes_and_comes_back(
    deployment: Deployment, fault: signal.Signals
) -> None:
    acting = Acting(deployment.client)
    task = asyncio.create_task(acting.run())
    await acting.more(task)
    deployment.signal(fault)
    await acting.more(task, 100)
    if fault is signal.SIGSTOP:
        deployment.signal(signal.SIGCONT)
    else:
        await deployment.workers[0].wait()
        deployment.workers[0] = await deployment.start(0)
    await acting.more(task, 100)
    acting.end()
    await task
    slow = sorted(acting.took)[-3:]
    sys.stdout.write(f"{fault.name}: {len(acting.took)} acts, the slowest {[f'{s * 1000:.0f} ms' for s in slow]}\n")
