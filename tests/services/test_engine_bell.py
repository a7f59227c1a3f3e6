"""The bell that wakes a partition's writer: no ring is lost, and a timer never rings too late."""

from __future__ import annotations

import asyncio

from services.engine.bell import Bell


async def test_a_ring_before_the_wait_ends_it_at_once_until_it_is_hushed() -> None:
    bell = Bell()
    bell.ring()
    await bell.wait()
    await bell.wait()
    bell.hush()
    waiting = asyncio.create_task(bell.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    bell.ring()
    bell.ring()
    await waiting


async def test_a_wait_that_is_given_up_leaves_the_bell_usable() -> None:
    bell = Bell()
    waiting = asyncio.create_task(bell.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    bell.ring()
    await bell.wait()


class Clock:
    """A loop's timers, in its order: what was set, and for when."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.set: list[tuple[float, asyncio.TimerHandle]] = []
        self._call_at = loop.call_at
        loop.call_at = self.call_at  # type: ignore[method-assign,assignment]

    def call_at(self, when: float, callback, *args, context=None):  # type: ignore[no-untyped-def]
        timer = self._call_at(when, callback, *args, context=context)
        self.set.append((when, timer))
        return timer


async def test_waits_that_end_later_and_later_share_a_timer_and_one_that_ends_sooner_gets_its_own() -> None:
    bell = Bell()
    loop = asyncio.get_running_loop()
    clock = Clock(loop)
    for seconds in (50.0, 60.0, 70.0):
        bell.ring_in(seconds)
    assert len(clock.set) == 1
    bell.ring_in(0.01)
    assert len(clock.set) == 2
    assert clock.set[0][1].cancelled()
    await bell.wait()
    bell.ring_in(60.0)
    bell.ring_in(70.0, not_before=True)
    assert [timer.cancelled() for _, timer in clock.set[2:]] == [True, False]
    bell.stop()
    assert all(timer.cancelled() or when <= loop.time() for when, timer in clock.set)
