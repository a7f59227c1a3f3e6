"""The model's loop: what asyncio promises, virtual time, and nodes that die, sleep and drift."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from model.loop import Endless, SimLoop


@pytest.fixture
def loop() -> Iterator[SimLoop]:
    loop = SimLoop(1)
    yield loop
    loop.close()


def test_time_is_virtual_and_each_node_has_its_own_clock(loop: SimLoop) -> None:
    fast, slow = loop.node("fast", drift=1.25, clock=100.0), loop.node("slow", drift=0.8, clock=7.0)
    told: list[tuple[str, float, float]] = []

    async def sleep(name: str) -> None:
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(10.0)
        told.append((name, asyncio.get_running_loop().time() - began, loop.now))

    fast.spawn(sleep("fast"))
    slow.spawn(sleep("slow"))
    loop.run(100.0)
    assert told == [("fast", 10.0, 8.0), ("slow", 10.0, 12.5)]
    assert loop.now == 100.0


def test_what_services_use_of_asyncio_works(loop: SimLoop) -> None:
    done: list[object] = []

    async def everything() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await asyncio.Event().wait()
        done.append(loop.now)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(asyncio.sleep(9)), 0.25)
        done.append(loop.now)
        done.append(await asyncio.gather(asyncio.sleep(0.1, "a"), asyncio.sleep(0.2, "b")))
        queue: asyncio.Queue[int] = asyncio.Queue()
        getter = asyncio.create_task(queue.get(), name="getter")
        await queue.put(5)
        done.append(await getter)
        finished, waiting = await asyncio.wait(
            {asyncio.create_task(asyncio.sleep(0.1)), asyncio.create_task(asyncio.sleep(5))},
            return_when=asyncio.FIRST_COMPLETED,
        )
        done.append((len(finished), len(waiting)))
        for task in waiting:
            task.cancel()
        done.append([type(r) for r in await asyncio.gather(*waiting, return_exceptions=True)])

    loop.node("a").spawn(everything())
    loop.run(20.0)
    assert done == [0.5, 0.75, ["a", "b"], 5, (1, 1), [asyncio.CancelledError]]
    assert loop.errors == []


def test_callbacks_ready_at_the_same_moment_run_in_the_order_they_were_made(loop: SimLoop) -> None:
    node = loop.node("a")
    order: list[int] = []
    for number in range(5):
        node.at(1.0, order.append, number)
    loop.run(2.0)
    assert order == [0, 1, 2, 3, 4]


def test_nothing_of_a_killed_node_runs_again_not_even_its_clean_up(loop: SimLoop) -> None:
    ran: list[str] = []

    async def work() -> None:
        try:
            ran.append("begun")
            await asyncio.sleep(2.0)
            ran.append("went on")
        finally:
            ran.append("cleaned up")

    node = loop.node("a")
    node.spawn(work())
    loop.root.at(1.0, node.kill)
    loop.run(10.0)
    assert ran == ["begun"]


def test_a_stalled_node_does_everything_later_and_in_order(loop: SimLoop) -> None:
    node, other = loop.node("a"), loop.node("b")
    order: list[tuple[int, float]] = []
    for number in range(3):
        node.at(1.0 + number, lambda number=number: order.append((number, loop.now)))
    other.at(2.0, lambda: order.append((-1, loop.now)))
    loop.root.at(0.5, node.stall, 2.0)
    loop.run(10.0)
    assert order == [(-1, 2.0), (0, 2.5), (1, 2.5), (2, 3.0)]


def test_the_longer_of_two_stalls_counts(loop: SimLoop) -> None:
    node = loop.node("a")
    ran: list[float] = []
    node.at(1.0, lambda: ran.append(loop.now))
    loop.root.at(0.5, node.stall, 3.0)
    loop.root.at(0.6, node.stall, 0.1)
    loop.run(10.0)
    assert ran == [3.5]


def test_a_future_completed_by_one_node_wakes_the_other_in_its_own(loop: SimLoop) -> None:
    """Else what waits would be killed, or go on, with the wrong process."""
    waiter, completer = loop.node("waiter", clock=50.0), loop.node("completer", clock=900.0)
    future: asyncio.Future[None] = loop.create_future()
    woke: list[float] = []

    async def wait() -> None:
        await future
        woke.append(asyncio.get_running_loop().time())

    async def complete() -> None:
        await asyncio.sleep(1.0)
        future.set_result(None)
        completer.kill()

    waiter.spawn(wait())
    completer.spawn(complete())
    loop.run(5.0)
    assert woke == [51.0]


def test_a_callback_that_raises_is_kept_for_the_judges_and_stops_nobody(loop: SimLoop) -> None:
    node = loop.node("a")
    ran: list[float] = []
    node.at(1.0, lambda: 1 / 0)
    node.at(2.0, lambda: ran.append(loop.now))
    loop.run(3.0)
    assert ran == [2.0]
    assert len(loop.errors) == 1
    assert "ZeroDivisionError" in loop.errors[0]


def test_an_async_generator_left_in_the_middle_is_closed(loop: SimLoop) -> None:
    closed: list[float] = []

    async def numbers() -> AsyncIterator[int]:
        try:
            for number in range(10):
                yield number
        finally:
            await asyncio.sleep(0.5)
            closed.append(loop.now)

    async def read() -> None:
        async for number in numbers():
            if number == 2:
                break

    loop.node("a").spawn(read())
    loop.run(3.0)
    assert closed == [0.5]


def test_an_observer_is_asked_between_moments_and_its_complaint_ends_the_run(loop: SimLoop) -> None:
    node = loop.node("a")
    moments: list[float] = []

    def look() -> None:
        moments.append(loop.now)
        if loop.now > 2.0:
            raise AssertionError("too late")

    loop.observe(look)
    for at in (1.0, 1.0, 2.0, 3.0, 4.0):
        node.at(at, lambda: None)
    with pytest.raises(AssertionError, match="too late"):
        loop.run(10.0)
    assert moments == [0.0, 1.0, 2.0, 3.0]


def test_threads_are_refused(loop: SimLoop) -> None:
    failed: list[str] = []

    async def use_a_thread() -> None:
        try:
            await asyncio.to_thread(len, "a")
        except RuntimeError as error:
            failed.append(str(error))

    loop.node("a").spawn(use_a_thread())
    loop.run(1.0)
    assert failed == ["a deterministic world has no threads"]


def test_callbacks_that_only_bring_about_one_another_are_told_of_and_not_waited_for(loop: SimLoop) -> None:
    node = loop.node("busy")

    def again() -> None:
        node.soon(again)

    node.soon(again)
    with pytest.raises(Endless, match="the last one at busy"):
        loop.run(1.0)
