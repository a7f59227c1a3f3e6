"""A View is asked once for all who want one, and its failure is told to whoever still waits."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import grpc

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.engines import EngineRefusal
from servicekit.feed import FeedCounts, RoomFeed


async def test_a_view_that_fails_when_all_who_asked_are_gone_is_no_fault() -> None:
    cries: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: cries.append(context))
    asked, answer = asyncio.Event(), asyncio.Event()

    async def refuse() -> pb.Snapshot:
        asked.set()
        await answer.wait()
        raise EngineRefusal(grpc.StatusCode.NOT_FOUND, "no_table")

    tv = asyncio.create_task(RoomFeed("BCDFG", FeedCounts()).shared_view("t1", refuse))
    await asked.wait()
    tv.cancel()
    await asyncio.wait({tv})
    left = asyncio.all_tasks() - {asyncio.current_task()}
    answer.set()
    await asyncio.wait(left)
    assert len(left) == 1
    left.clear()
    del tv
    gc.collect()
    await asyncio.sleep(0)
    assert cries == []
