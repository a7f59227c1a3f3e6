"""A stack that is gone is noticed; a part of it that restarts is no end."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from simulate import vigil
from simulate.vigil import Stack, ended, until_gone

OURS: Stack = {"url": "http://127.0.0.1:1", "data": "/data", "pid": 7}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vigil, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(vigil, "UNHEARD", 0.05)


@pytest.mark.parametrize(("now", "over"), [(OURS, False), ({**OURS, "pid": 8}, True), (None, True)])
def test_a_stack_has_ended_when_its_folder_has_none_or_another(now: Stack | None, over: bool) -> None:
    def running(data: Path | None) -> Stack | None:
        assert data == Path("/data")
        return now

    assert ended(OURS, running) is over


async def test_a_stack_with_a_folder_is_there_until_its_folder_has_none_whoever_listens() -> None:
    looks: list[Stack | None] = [OURS] * 20
    async with asyncio.timeout(10):
        await until_gone(OURS, lambda _: looks.pop() if looks else None)
    assert looks == []


async def test_an_address_is_gone_when_nobody_has_listened_for_a_while() -> None:
    async def say_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set()
        with contextlib.suppress(OSError):
            writer.close()

    heard = asyncio.Event()
    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    watching = asyncio.create_task(until_gone({"url": url}, lambda _: None))
    async with asyncio.timeout(10):
        for _ in range(8):
            heard.clear()
            await heard.wait()
        assert not watching.done()
        server.close()
        await watching
