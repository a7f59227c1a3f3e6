"""The modelled NATS does what measurements on real servers have shown (docs/adr/0004)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

import msgspec
import nats.errors
import nats.js.errors
import pytest
from nats.aio.msg import Msg

from model.bus import SimBus
from model.loop import SimLoop
from model.nats import SimNats, matches
from model.weather import Weather
from servicekit.bus import barrier
from services.engine.board import KV
from services.engine.stream import EXPECTED, SLOT_ID, Asker, Stream, StreamAway


class Site:
    """A modelled NATS, and programs that run on it to their end."""

    def __init__(self, seed: int = 1, replicated: bool = False) -> None:
        self.loop = SimLoop(seed)
        self.nats = SimNats(self.loop, replicated)
        self.names = 0

    def bus(self, on_disconnect: Callable[[], None] | None = None) -> SimBus:
        self.names += 1
        return SimBus(self.nats, self.loop.node(f"client-{self.names}"), f"client-{self.names}", on_disconnect)

    def run(self, bus: SimBus, program: Coroutine[Any, Any, Any], seconds: float = 30.0) -> Any:
        task = bus.node.spawn(program)
        self.loop.run(self.loop.now + seconds)
        assert task.done(), "it still waits"
        assert self.loop.errors == []
        return task.result()

    async def client(self, bus: SimBus) -> Asker:
        await bus.connected()
        asker = Asker(bus)
        bus.on_disconnect = asker.lost
        await asker.start()
        return asker

    def committed(self, subject: str) -> list[bytes]:
        found = self.nats.log.store.subjects.get(subject)
        return [m.data for m in found.history] if found is not None else []


@pytest.fixture(params=[False, True], ids=["single", "replicated"])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    site = Site(replicated=request.param)
    yield site
    site.loop.close()


@pytest.fixture
def single() -> Iterator[Site]:
    site = Site()
    yield site
    site.loop.close()


@pytest.fixture
def three() -> Iterator[Site]:
    site = Site(replicated=True)
    yield site
    site.loop.close()


async def error_code(asker: Asker, subject: str, expected: int, body: bytes = b"x") -> int:
    """What the server says to an append: its error's code, or 0 for an acknowledgement."""
    answer = await asker.ask(subject, body, {EXPECTED: str(expected)})
    assert answer is not None
    found = msgspec.json.decode(answer)
    return int(found["error"]["err_code"]) if "error" in found else 0


# ---- the fence ----


def test_the_fence_is_the_stream_sequence_of_the_subjects_last_message(site: Site) -> None:
    bus = site.bus()

    async def program() -> list[int | None]:
        log = Stream(await site.client(bus), "LOG")
        return [
            await log.append("log.1", b"a", 0),
            await log.append("log.2", b"b", 0),
            await log.append("log.1", b"c", 1),
            await log.append("log.1", b"d", 2),
            await log.append("log.2", b"e", 2),
        ]

    assert site.run(bus, program()) == [1, 2, 3, None, 4]


def test_a_conflict_is_10071(site: Site) -> None:
    bus = site.bus()

    async def program() -> list[int]:
        asker = await site.client(bus)
        return [await error_code(asker, "log.1", expected) for expected in (5, 0, 0)]

    assert site.run(bus, program()) == [10071, 0, 10071]


def test_the_fence_dies_with_the_last_message_and_survives_a_purge_up_to_it(site: Site) -> None:
    bus = site.bus()

    async def program() -> list[Any]:
        asker = await site.client(bus)
        log = Stream(asker, "LOG")
        for expected in range(4):
            await log.append("log.1", b"x", expected)
        await log.purge_below("log.1", 4)
        told: list[Any] = [await error_code(asker, "log.1", 3), await log.append("log.1", b"y", 4)]
        await log.purge_below("log.1", 99)
        return [
            *told,
            await log.last("log.1"),
            await error_code(asker, "log.1", 5),
            await error_code(asker, "log.1", 0),
        ]

    assert site.run(bus, program()) == [10071, 5, None, 10071, 0]


def test_replicated_a_rival_append_is_busy_while_another_is_under_way(three: Site) -> None:
    one, two = three.bus(), three.bus()
    told: list[int] = []

    async def program(bus: SimBus) -> None:
        asker = await three.client(bus)
        for _ in range(60):
            last = three.nats.log.store.fence("log.1")
            told.append(await error_code(asker, "log.1", last))

    two.node.spawn(program(two))
    three.run(one, program(one))
    assert set(told) == {0, 10071, 10164}


def test_replicated_a_sole_correct_writer_is_told_busy_at_times(three: Site) -> None:
    three.nats.weather = Weather(busy=0.5)
    bus = three.bus()

    async def program() -> list[int]:
        asker = await three.client(bus)
        return [await error_code(asker, "log.1", three.nats.log.store.fence("log.1")) for _ in range(200)]

    assert set(three.run(bus, program())) == {0, 10164}


# ---- unknown outcomes ----


def test_an_append_whose_acknowledgement_is_lost_is_in(single: Site) -> None:
    bus = single.bus()

    async def program() -> tuple[int | None, Any]:
        log = Stream(await single.client(bus), "LOG")
        single.nats.weather = Weather(appends=1.0)
        tries = 0
        while True:
            tries += 1
            before = single.nats.log.store.fence("log.1")
            acked = await log.append("log.1", b"x", before, f"1:1:{tries}:a")
            last = await log.last("log.1")
            if acked is None and last is not None and last.headers[SLOT_ID] == f"1:1:{tries}:a":
                return acked, last

    acked, last = single.run(bus, program(), 300.0)
    assert acked is None
    assert last.data == b"x"


def test_not_there_is_never_final(site: Site) -> None:
    """An append that timed out, and that the leader's last message doesn't show, may land later all the same."""
    bus = site.bus()

    async def program() -> bool:
        log = Stream(await site.client(bus), "LOG")
        site.nats.weather = Weather(appends=1.0, late=3.0)
        for turn in range(400):
            before = site.nats.log.store.fence("log.1")
            id = f"1:1:{turn}:a"
            if await log.append("log.1", b"x", before, id) is None:
                last = await log.last("log.1")
                if last is None or last.headers[SLOT_ID] != id:
                    await asyncio.sleep(4.0)
                    last = await log.last("log.1")
                    if last is not None and last.headers[SLOT_ID] == id:
                        return True
        return False

    assert site.run(bus, program(), 3000.0)


def test_without_quorum_an_append_may_land_much_later_or_never_and_the_leader_reads_not_there(three: Site) -> None:
    outcomes = set()
    for turn in range(12):
        bus = three.bus()
        subject = f"log.{turn}"

        async def program(bus: SimBus = bus, subject: str = subject) -> tuple[int | None, Any]:
            log = Stream(await three.client(bus), "LOG")
            three.nats.lose_quorum(2.0)
            return await log.append(subject, b"x", 0), await log.last(subject)

        assert three.run(bus, program(), 2.0) == (None, None)
        three.loop.run(three.loop.now + 8.0)
        outcomes.add(len(three.committed(subject)))
    assert outcomes == {0, 1}


def test_without_a_leader_nothing_is_answered_and_then_all_is_again(three: Site) -> None:
    bus = three.bus()

    async def program() -> tuple[list[int | None], int | None]:
        log = Stream(await three.client(bus), "LOG")
        three.nats.lose_leaders()
        first = await log.append("log.1", b"x", 0)
        await asyncio.sleep(3.0)
        return [first], await log.append("log.1", b"y", three.nats.log.store.fence("log.1"))

    first, later = three.run(bus, program())
    assert first == [None]
    assert later is not None


# ---- reads ----


def test_direct_reads_lag_and_reads_from_the_leader_do_not(three: Site) -> None:
    bus = three.bus()

    async def program() -> tuple[int, int]:
        log = Stream(await three.client(bus), "LOG")
        for expected in range(5):
            await log.append("log.1", b"x", expected)
        three.nats.weather = Weather(reads=0.6)
        behind = wrong = 0
        for _ in range(100):
            with contextlib.suppress(StreamAway):
                behind += len(await log.read("log.1", 1)) < 5
            with contextlib.suppress(StreamAway):
                last = await log.last("log.1")
                wrong += last is None or last.sequence != 5
        return behind, wrong

    behind, wrong = three.run(bus, program(), 3000.0)
    assert behind > 0
    assert wrong == 0


def test_a_direct_read_gives_what_is_there_in_order_with_its_headers(site: Site) -> None:
    bus = site.bus()

    async def program() -> Any:
        log = Stream(await site.client(bus), "LOG")
        for expected, id in ((0, "1:1:0:a"), (1, "1:1:1:a"), (2, "1:1:2:a")):
            await log.append("log.1", id.encode(), expected, id)
        await log.purge_below("log.1", 2)
        return await log.read("log.1", 1), await log.read("log.1", 9)

    found, none = site.run(bus, program())
    assert [(m.sequence, m.headers[SLOT_ID], m.headers[EXPECTED]) for m in found] == [
        (2, "1:1:1:a", "1"),
        (3, "1:1:2:a", "2"),
    ]
    assert none == []


def test_the_bucket_keeps_the_last_of_each_key_and_is_republished_with_its_sequence(site: Site) -> None:
    writer, reader = site.bus(), site.bus()
    heard: list[tuple[str, bytes, str]] = []

    async def hear(message: Msg) -> None:
        heard.append((message.subject, message.data, (message.headers or {})["Nats-Sequence"]))

    async def listen() -> None:
        await reader.connected()
        await reader.subscribe("own.>", cb=hear)

    async def program() -> Any:
        bucket = Stream(await site.client(writer), "KV_own")
        revision = await bucket.append(KV + "p.7", b"1", 0)
        assert revision is not None
        await bucket.append(KV + "p.7", b"2", revision)
        await bucket.append(KV + "p.7", b"3", revision)
        found = await writer.jetstream(timeout=1).get_last_msg("KV_own", KV + "p.7")
        with pytest.raises(nats.js.errors.NotFoundError):
            await writer.jetstream(timeout=1).get_last_msg("KV_own", KV + "p.8")
        return await bucket.info({"subjects_filter": KV + ">"}), await bucket.read(KV + "p.7", 1), found

    site.run(reader, listen())
    info, kept, found = site.run(writer, program())
    assert sorted(info["state"]["subjects"]) == [KV + "layout", KV + "p.7"]
    assert info["state"]["last_seq"] == kept[0].sequence
    assert [m.data for m in kept] == [b"2"]
    assert (found.data, found.seq) == (b"2", kept[0].sequence)
    assert [(subject, data) for subject, data, _ in heard] == [("own.p.7", b"1"), ("own.p.7", b"2")]
    assert heard[1][2] == str(kept[0].sequence)


# ---- core ----


def test_one_subscription_keeps_the_order_and_several_do_not() -> None:
    swapped = 0
    for seed in range(20):
        site = Site(seed)
        site.nats.weather = Weather(hops=0.3, slow_hop=0.001)
        writer, reader = site.bus(), site.bus()
        wild: list[bytes] = []
        single: list[bytes] = []

        async def listen(reader: SimBus = reader, wild: list[bytes] = wild, single: list[bytes] = single) -> None:
            await reader.connected()
            await reader.subscribe("f.A.>", cb=_into(wild))
            await reader.subscribe("f.A.table", cb=_into(single))
            await reader.subscribe("f.A.seat.1", cb=_into(single))

        async def tell(writer: SimBus = writer) -> None:
            await writer.connected()
            for number in range(20):
                await writer.publish("f.A.table" if number % 2 else "f.A.seat.1", b"%d" % number)

        site.run(reader, listen())
        site.run(writer, tell())
        assert wild == [b"%d" % n for n in range(20)]
        swapped += single != wild
        site.loop.close()
    assert swapped > 0


def test_one_flush_is_no_barrier_and_two_are() -> None:
    """A PING overtakes a SUB that waits in the client's buffer."""

    async def once(reader: SimBus) -> None:
        await reader.flush(1)

    def lost(settle: Callable[[SimBus], Awaitable[None]]) -> int:
        missed = 0
        for seed in range(60):
            site = Site(seed)
            site.nats.weather = Weather(hops=0.3, slow_hop=0.02)
            writer, reader = site.bus(), site.bus()
            heard: list[bytes] = []

            async def program(writer: SimBus = writer, reader: SimBus = reader, heard: list[bytes] = heard) -> None:
                await writer.connected()
                await reader.connected()
                await reader.subscribe("f.A.table", cb=_into(heard))
                await settle(reader)
                await writer.publish("f.A.table", b"x")  # at once, as an engine does after an Attach

            site.run(reader, program())
            missed += not heard
            site.loop.close()
        return missed

    assert lost(once) > 0
    assert lost(barrier) == 0


def test_a_request_to_nobody_is_told_so_and_one_to_a_stalled_process_is_not_answered(single: Site) -> None:
    asking, asked = single.bus(), single.bus()
    told: list[type] = []

    async def answer(message: Msg) -> None:
        await message.respond(b"here")

    async def serve() -> None:
        await asked.connected()
        await asked.subscribe("engine.a.alive", cb=answer)

    async def ask() -> None:
        await asking.connected()
        try:
            reply = await asking.request("engine.a.alive", b"", timeout=0.5)
            told.append(type(reply))
        except nats.errors.Error as error:
            told.append(type(error))

    single.run(asked, serve())
    single.run(asking, ask(), 1.0)
    asked.node.stall(5.0)
    single.run(asking, ask(), 1.0)
    asked.node.kill()
    single.run(asking, ask(), 1.0)
    assert told == [Msg, nats.errors.TimeoutError, nats.errors.NoRespondersError]


# ---- connections ----


def test_a_restart_keeps_the_log_loses_frames_and_sends_what_was_published_meanwhile(single: Site) -> None:
    writer, reader = single.bus(), single.bus()
    heard: list[bytes] = []
    back: list[str] = []

    async def listen() -> None:
        await reader.connected()
        await reader.subscribe("f.A.table", cb=_into(heard))

    async def program() -> tuple[int | None, int | None]:
        log = Stream(await single.client(writer), "LOG")
        writer.reconnect_listeners.append(lambda: back.append("back"))
        first = await log.append("log.1", b"x", 0)
        await writer.publish("f.A.table", b"before")
        single.nats.kill_server(0, 1.0)
        await asyncio.sleep(0.5)
        assert not writer.is_connected
        await writer.publish("f.A.table", b"meanwhile")
        await asyncio.sleep(3.0)
        await writer.publish("f.A.table", b"after")
        return first, await log.append("log.1", b"y", 1)

    single.run(reader, listen())
    assert single.run(writer, program()) == (1, 2)
    assert b"before" not in heard
    assert heard[-1] == b"after"
    assert back == ["back"]


def test_what_was_published_to_a_frozen_server_is_done_when_it_wakes(single: Site) -> None:
    bus = single.bus()

    async def program() -> int | None:
        log = Stream(await single.client(bus), "LOG")
        single.nats.freeze_server(0, 3.0)
        return await log.append("log.1", b"x", 0)

    assert single.run(bus, program(), 2.0) is None
    assert single.committed("log.1") == []
    single.loop.run(single.loop.now + 5.0)
    assert single.committed("log.1") == [b"x"]


def test_a_disconnect_ends_the_wait_for_an_acknowledgement_at_once(single: Site) -> None:
    bus = single.bus()

    async def program() -> float:
        log = Stream(await single.client(bus), "LOG")
        began = single.loop.now
        single.loop.root.after(0.0001, single.nats.kill_server, 0, 1.0)
        await log.append("log.1", b"x", 0)
        return single.loop.now - began

    assert single.run(bus, program()) < 0.1


def test_a_zombies_append_lands_when_it_wakes_and_finds_the_fence() -> None:
    """Stopped between writing and sending: the record leaves the process only after the stop."""
    late = 0
    for seed in range(30):
        site = Site(seed)
        zombie, successor = site.bus(), site.bus()

        async def write(site: Site = site, zombie: SimBus = zombie) -> int | None:
            log = Stream(await site.client(zombie), "LOG")
            zombie.node.after(0.0001, zombie.node.stall, 2.0)
            return await log.append("log.1", b"zombie", 0)

        async def fence(site: Site = site, successor: SimBus = successor) -> int | None:
            log = Stream(await site.client(successor), "LOG")
            await asyncio.sleep(1.0)
            return await log.append("log.1", b"fence", site.nats.log.store.fence("log.1"))

        writing = zombie.node.spawn(write())
        assert site.run(successor, fence()) is not None
        assert writing.done()
        landed = site.committed("log.1")
        assert landed in ([b"fence"], [b"zombie", b"fence"])
        assert (writing.result() == 1) == (len(landed) == 2)
        late += len(landed) == 1
        site.loop.close()
    assert 0 < late < 30


def test_a_deaf_client_hears_again(single: Site) -> None:
    writer, reader = single.bus(), single.bus()
    heard: list[bytes] = []

    async def listen() -> None:
        await reader.connected()
        await reader.subscribe("own.>", cb=_into(heard))

    async def tell() -> None:
        await writer.connected()
        for number in range(6):
            await writer.publish("own.p.1", b"%d" % number)
            await asyncio.sleep(1.0)

    single.run(reader, listen(), 1.0)
    single.nats.deafen(reader, "own.", 2.5)
    single.run(writer, tell())
    assert heard == [b"3", b"4", b"5"]


def test_a_slow_consumer_is_told_which_subscription_it_is(single: Site) -> None:
    writer, reader = single.bus(), single.bus()
    slow: list[Any] = []

    async def listen() -> Any:
        await reader.connected()
        reader.slow_listeners.append(slow.append)
        return await reader.subscribe("f.A.>", cb=_into([]))

    async def tell() -> None:
        await writer.connected()
        for _ in range(40):
            await writer.publish("f.A.table", b"x")

    subscription = single.run(reader, listen())
    single.nats.weather = Weather(frames=1.0)
    single.run(writer, tell())
    assert slow
    assert set(map(id, slow)) == {id(subscription)}


@pytest.mark.parametrize(
    ("pattern", "subject", "fits"),
    [
        ("own.>", "own.p.7", True),
        ("own.>", "own", False),
        ("own.p.*", "own.p.7", True),
        ("own.p.*", "own.p.7.8", False),
        ("f.A.*", "f.A.seat.1", False),
        ("a.b", "a.b", True),
        ("a.b", "a.b.c", False),
    ],
)
def test_subjects_match_as_on_nats(pattern: str, subject: str, fits: bool) -> None:
    assert matches(pattern, subject) is fits


def _into(found: list[bytes]) -> Callable[[Msg], Awaitable[None]]:
    async def hear(message: Msg) -> None:
        found.append(message.data)

    return hear
