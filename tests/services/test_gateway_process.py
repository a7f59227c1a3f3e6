"""The gateway as a process: settings checked, ports said plainly, a clean end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.servers import NatsServer
from tests.services.twin_rooms import SECRET

New = Callable[[], NatsServer]
ROOT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def process(**settings: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`python -m services.gateway` with these settings and no others."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SNATCH_", "NATS_", "REDIS_"))}
    env |= {"SNATCH_LOG_FORMAT": "json", **settings}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.gateway", cwd=ROOT, env=env, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def words(child: asyncio.subprocess.Process) -> str:
    assert child.stderr is not None
    return (await child.stderr.read()).decode()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "SNATCH_SECRET"),
        ({"SNATCH_SECRET": "short"}, "SNATCH_SECRET"),
        ({"SNATCH_SECRET": SECRET, "SNATCH_SECRET_ALSO": "short"}, "SNATCH_SECRET_ALSO"),
        ({"SNATCH_SECRET": SECRET, "SNATCH_PORT": "eight"}, "port"),
        ({"SNATCH_SECRET": SECRET, "SNATCH_PUBLIC_URL": "play.example"}, "public_url"),
    ],
)
async def test_a_bad_setting_is_named_and_ends_it_with_2(settings: dict[str, str], said: str) -> None:
    async with process(**settings) as child:
        assert said in await words(child)
        assert await child.wait() == 2


async def test_a_taken_port_is_said_without_a_traceback(new_nats: New) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        async with process(SNATCH_SECRET=SECRET, SNATCH_PORT=port, NATS_URL=new_nats().url) as child:
            text = await words(child)
            assert "could not start" in text
            assert "in use" in text
            assert "Traceback" not in text
            assert await child.wait() == 1


async def test_sigterm_ends_it_cleanly(new_nats: New) -> None:
    async with process(SNATCH_SECRET=SECRET, SNATCH_PORT="0", NATS_URL=new_nats().url) as child:
        assert child.stderr is not None
        while b'"started"' not in (line := await child.stderr.readline()):
            assert line, "it ended before it started"
        child.send_signal(signal.SIGTERM)
        assert '"stopped"' in await words(child)
        assert await child.wait() == 0
