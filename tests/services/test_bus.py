"""The connection to NATS ends in peace, whatever has become of NATS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import nats.errors
import pytest
import structlog
import uvloop

from servicekit import bus
from tests.servers import NatsServer

New = Callable[[], NatsServer]


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_bus_is_closed_while_nats_is_away_and_words_wait_for_it(
    new_nats: New, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    nats = new_nats()

    async def speak_and_close() -> None:
        away = asyncio.Event()

        async def note() -> None:
            away.set()

        nc = await bus.connect(nats.url, "test", on_disconnect=note)
        nats.stop()
        await away.wait()
        await nc.publish("a.word", b"never heard")
        await nc.close()
        assert nc.is_closed

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(speak_and_close())


async def test_an_outage_is_said_once_however_often_nats_is_tried(new_nats: New) -> None:
    nats = new_nats()
    refused = 0
    enough = asyncio.Event()

    async def count(error: Exception) -> None:
        nonlocal refused
        refused += isinstance(error, ConnectionRefusedError)
        if refused == 3:
            enough.set()

    with structlog.testing.capture_logs() as said:
        nc = await bus.connect(nats.url, "test", on_error=count)
        nats.stop()
        await enough.wait()
        await nc.close()
    assert sum("ConnectionRefused" in line.get("error", "") for line in said) == 1


async def test_of_several_servers_one_that_dies_is_left_for_another_with_all_subscriptions(new_nats: New) -> None:
    servers = [new_nats(), new_nats()]
    back = asyncio.Event()

    async def note() -> None:
        back.set()

    nc = await bus.connect(",".join(s.url for s in servers), "test", on_reconnect=note)
    heard = await nc.subscribe("a.word")
    [dying] = [s for s in servers if nc.connected_url and s.url.endswith(f":{nc.connected_url.port}")]
    dying.stop()
    async with asyncio.timeout(10):
        await back.wait()
        await nc.publish("a.word", b"at the other")
        assert (await heard.next_msg(timeout=5)).data == b"at the other"
    await nc.close()


async def test_who_connects_to_several_servers_does_not_always_begin_at_the_same(new_nats: New) -> None:
    url = ",".join(s.url for s in (new_nats(), new_nats()))
    ports = set()
    for _ in range(40):  # all at one of two: once in 500 billion runs
        nc = await bus.connect(url, "test")
        ports.add(nc.connected_url.port if nc.connected_url else None)
        await nc.close()
    assert len(ports) == 2


async def test_who_listens_hears_in_order_among_those_who_subscribe_and_on_the_next_server_too(new_nats: New) -> None:
    servers = [new_nats(), new_nats()]
    back, all_heard = asyncio.Event(), asyncio.Event()
    heard: list[tuple[str, bytes]] = []

    async def note() -> None:
        back.set()

    def hear(subject: str, data: bytes) -> None:
        heard.append((subject, data))
        if data == b"last":
            all_heard.set()

    nc = await bus.connect(",".join(s.url for s in servers), "test", on_reconnect=note)
    subscription = await nc.listen("a.*", hear)
    beside = await nc.subscribe("b.word")
    large = b"x" * 500_000
    for number in range(100):
        await nc.publish(f"a.{number}", large if number == 50 else b"%d" % number)
        await nc.publish("b.word", b"%d" % number)
    assert [(await beside.next_msg(timeout=5)).data for _ in range(100)] == [b"%d" % n for n in range(100)]
    assert heard == [(f"a.{n}", large if n == 50 else b"%d" % n) for n in range(100)]
    [dying] = [s for s in servers if nc.connected_url and s.url.endswith(f":{nc.connected_url.port}")]
    dying.stop()
    async with asyncio.timeout(10):
        await back.wait()
        await nc.publish("a.word", b"last")
        await all_heard.wait()
    await nc.unlisten(subscription)
    await nc.publish("a.word", b"unheard")
    await bus.barrier(nc)
    assert heard[-1] == ("a.word", b"last")
    await nc.close()


async def test_whoever_gives_up_waiting_for_a_flush_makes_nobody_deaf(nc: bus.Bus) -> None:
    heard = await nc.subscribe("a.word")
    await bus.barrier(nc)
    flush = asyncio.create_task(nc.flush(5))
    await asyncio.wait([flush], timeout=0)
    assert nc._pongs, "it has asked"
    flush.cancel()
    await asyncio.wait([flush])
    assert flush.cancelled()
    await nc.publish("a.word", b"after it")
    assert (await heard.next_msg(timeout=5)).data == b"after it"
    assert nc.counts.disconnects == 0


async def test_a_subject_or_a_header_that_would_end_its_line_is_not_published(nc: bus.Bus) -> None:
    for subject in ("", "a b", "a\r\nPUB b 0", "a\tb"):
        with pytest.raises(nats.errors.BadSubjectError):
            await nc.publish(subject, b"")
    with pytest.raises(nats.errors.BadSubjectError):
        await nc.publish("a", b"", reply="b c")
    with pytest.raises(nats.errors.BadHeaderError):
        await nc.publish("a", b"", headers={"Name": "value\r\nOther: value"})
    heard = await nc.subscribe("a")
    await nc.publish("a", b"", headers={"Name": "value"})
    assert (await heard.next_msg(timeout=5)).headers == {"Name": "value"}
