"""What is trimmed of a log, and when: a committed record alone says what isn't needed."""

from __future__ import annotations

import asyncio

from services.engine.log import Log
from services.engine.trimming import Trimming
from tests.services.test_engine_append import TwinStream


class SlowStream(TwinStream):
    """Purges when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.purged: list[int] = []
        self.asked: asyncio.Queue[int] = asyncio.Queue()
        self.let: asyncio.Queue[bool] = asyncio.Queue()

    async def purge_below(self, subject: str, sequence: int) -> bool:
        self.asked.put_nowait(sequence)
        done = await self.let.get()
        if done:
            self.purged.append(sequence)
        return done


async def test_a_purge_goes_as_far_as_was_told_and_the_next_one_follows_it() -> None:
    stream = SlowStream()
    trimming = Trimming(Log(stream, lambda _: None), 5, 0.0)
    trimming.to(7)
    assert await stream.asked.get() == 7
    trimming.to(9)
    trimming.to(12)
    stream.let.put_nowait(True)
    assert await stream.asked.get() == 12
    assert trimming.reached == 7
    trimming.stop()
    assert stream.purged == [7]


async def test_a_purge_that_is_not_certain_is_tried_again_with_the_next_record() -> None:
    stream = SlowStream()
    trimming = Trimming(Log(stream, lambda _: None), 5, 0.0)
    trimming.to(7)
    assert await stream.asked.get() == 7
    stream.let.put_nowait(False)
    for _ in range(3):
        await asyncio.sleep(0)
    assert (trimming.reached, stream.asked.qsize()) == (0, 0)
    trimming.to(7)
    assert await stream.asked.get() == 7
    trimming.stop()
