"""NATS restarts, and what the services had for it is lost: never believed, sent again, or made good."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from servicekit.bus import Bus
from simulate.phone import Phone
from tests.e2e.inprocess import Stack
from tests.e2e.party import Party, must, until, within
from wire import client_in

pytestmark = pytest.mark.timeout(180)


def buses(stack: Stack) -> list[Bus]:
    """Every service's connection."""
    found: list[Any] = [s._bus for s in stack.engines]
    found += [s._nc for s in stack.rooms]
    found += [s._nc for s in stack.bots]
    found += [s.upstream.nc for s in stack.gateways if s.upstream is not None]
    found += [s.upstream.nc for s in stack.watches if s.upstream is not None]
    return found


def wipe(bus: Bus) -> bytes:
    """What waited in the client to be written, gone."""
    lost = b"".join(bus._pending)
    bus._pending.clear()
    bus._pending_data_size = 0
    return lost


def cut_at(stack: Stack, bus: Bus, prefix: str) -> asyncio.Future[bytes]:
    """At the next publish to such a subject NATS dies, before a byte of it is written.  Told: all that was lost."""
    lost: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    publish: Callable[..., Awaitable[None]] = bus.publish

    async def cutting(subject: str, *args: Any, **more: Any) -> None:
        if subject.startswith(prefix) and not lost.done():
            bus._pending.append(f"PUB {subject} 0\r\n\r\n".encode())  # as publish would, but it may flush at once
            lost.set_result(b"".join(wipe(b) for b in buses(stack)))
            stack.nats.stop()
            return
        await publish(subject, *args, **more)

    setattr(bus, "publish", cutting)  # noqa: B010 - of this one connection
    return lost


@pytest.mark.parametrize("prefix", ["f.", "log."], ids=["frames", "records"])
async def test_a_nats_that_restarts_with_the_clients_buffers_wiped_loses_and_doubles_nothing(
    stack: Stack, people: Party, prefix: str
) -> None:
    """`frames`: acknowledged, told to nobody.  `records`: sent, never arrived: the same bytes go again."""
    ann, bo = await people.host("Ann"), await people.join("Bo")
    await within(ann.act(client_in.AddBot("hard")))
    await people.start(ann)
    await must(ann, client_in.Deal())
    await people.live()
    tv = await people.tv()
    await until(tv, lambda t: t.screen.live)
    playing = asyncio.create_task(people.play(ann, bo, speed=10))
    try:
        await until(ann, lambda p: people.found.done >= 10)
        lost = cut_at(stack, buses(stack)[0], prefix)
        assert f"PUB {prefix}".encode() in await within(lost)
        for bus in buses(stack):
            wipe(bus)
        await asyncio.to_thread(stack.nats.start)
        await playing
    finally:
        playing.cancel()
    for phone in (ann, bo):
        await until(phone, lambda p: p.screen.phase() in ("scores", "standings"))
    await until(tv, lambda t: t.screen.seq == ann.screen.seq)
    assert tv.screen.view.result == ann.screen.view.result
    await as_the_engine_has_it(people, ann, bo)


async def as_the_engine_has_it(people: Party, *phones: Phone) -> None:
    """A page opened now shows the same, and every move that was sent got its one answer."""
    for phone in phones:
        second = people.tab(phone.token)
        await until(second, lambda p: p.screen.table is not None)
        assert second.screen.view == phone.screen.view
        assert second.screen.seq == phone.screen.seq
        assert sorted(phone.told) == list(range(1, phone.sent + 1))
    assert people.found.moves == people.found.done + sum(people.found.refused.values())
