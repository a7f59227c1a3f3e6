"""What an orchestrator asks of a process: whether it lives is one thing, whether it has all that it needs another."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from stack.ports import free_ports
from tests.servers import NatsServer

ROOT = Path(__file__).resolve().parents[2]
New = Callable[[], NatsServer]
SERVICES = ("gateway", "watch", "rooms", "engine", "bots")


@asynccontextmanager
async def process(service: str, ops: int, nats: str) -> AsyncIterator[asyncio.subprocess.Process]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SNATCH_", "NATS_", "REDIS_"))}
    env |= {"SNATCH_SECRET": "a secret for the tests", "SNATCH_OPS_PORT": str(ops), "NATS_URL": nats}
    env |= {"SNATCH_PORT": "0", "SNATCH_WATCH_PORT": "0", "SNATCH_DEAL_WORKERS": "1"}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", f"services.{service}", cwd=ROOT, env=env, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def until_it_listens(client: httpx.AsyncClient, child: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(60):
        while True:
            assert child.returncode is None, "it ended"
            try:
                await client.get("/healthz")
                return
            except httpx.TransportError:
                await asyncio.sleep(0.05)


async def test_without_nats_a_service_lives_says_that_it_lacks_something_and_ends_when_it_is_told() -> None:
    *ops, nobody = free_ports(len(SERVICES) + 1)

    async def one(service: str, port: int) -> None:
        async with (
            process(service, port, f"nats://127.0.0.1:{nobody}") as child,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as client,
        ):
            await until_it_listens(client, child)
            ready = await client.get("/readyz")
            assert (ready.status_code, bool(ready.json()["why"])) == (503, True), service
            assert (await client.get("/healthz")).status_code == 200, service
            child.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(child.wait(), 30) == 0, service

    async with asyncio.TaskGroup() as group:
        for service, port in zip(SERVICES, ops, strict=True):
            group.create_task(one(service, port))


async def test_when_nats_goes_it_lives_on(new_nats: New) -> None:
    nats, (ops,) = new_nats(), free_ports(1)
    async with (
        process("bots", ops, nats.url) as child,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{ops}", timeout=20) as client,
    ):
        await until_it_listens(client, child)
        async with asyncio.timeout(60):
            while (await client.get("/readyz")).status_code != 200:  # noqa: ASYNC110 - it is asked for, not told
                await asyncio.sleep(0.05)
            nats.stop()
            while (await client.get("/readyz")).status_code != 503:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (await client.get("/healthz")).status_code == 200
        nats.start()
        async with asyncio.timeout(60):
            while (await client.get("/readyz")).status_code != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert child.returncode is None
