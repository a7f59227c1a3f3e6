"""The witness of the log reads on through a NATS restart, and believes nothing that isn't one chain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from servicekit import bus
from services.engine import records as r
from services.engine.settings import SetupSettings
from services.engine.setup import set_up
from services.engine.stream import EXPECTED, SLOT_ID
from simulate.findings import Findings
from simulate.log_witness import CHAIN, LogWitness
from tests.servers import NatsServer
from wire import subjects

ROOM = "BCDFG"
Kind = Literal["claim", "data", "release"]


class Writer:
    """Writes records of one partition as an engine does, and as none may."""

    def __init__(self, nc: bus.Bus) -> None:
        self._nc = nc
        self.last = 0
        self.epoch = 1
        self._count = 0
        self.moves = 0

    async def write(self, steps: list[r.LoggedStep] | None = None, *, kind: Kind = "data") -> int:
        """A record behind the last one."""
        chunks = [r.Chunk(ROOM, steps, 1, {})] if steps else []
        record = r.Record(r.VERSION, 5, self.epoch, kind, 0, chunks=chunks)
        headers = {EXPECTED: str(self.last), SLOT_ID: f"5:{self.epoch}:{self._count}:abc"}
        self._count += 1
        ack = await self._nc.jetstream().publish(subjects.log(5), r.encode(record), headers=headers, timeout=5)
        self.last = ack.seq
        return ack.seq

    async def open(self) -> None:
        await self.write(kind="claim")
        members = [r.Newcomer("p0", "Ann", 0)]
        await self.write([r.LoggedStep([r.Opened("t1", ROOM, "snatch_solitaire", 0, members, {}, 0)])])
        await self.write([r.LoggedStep([r.Attached(0, 1, 77)])])

    async def refuse(self) -> int:
        """A move decided: refused, and so without an event."""
        self.moves += 1
        return await self.write([r.LoggedStep([], 0, self.moves, r.Refused("not_live"))])


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[NatsServer]:
    server = NatsServer(tmp_path)
    await asyncio.to_thread(server.start)
    await set_up(SetupSettings(nats_url=server.url))
    yield server
    await asyncio.to_thread(server.stop)


@pytest.fixture
async def writer(nats: NatsServer) -> AsyncIterator[Writer]:
    nc = await bus.connect(nats.url, "writer")
    yield Writer(nc)
    await nc.close()


@pytest.fixture
async def witness(nats: NatsServer) -> AsyncIterator[LogWitness]:
    witness = LogWitness(nats.url, Findings())
    await witness.start()
    yield witness
    await witness.stop()


def found_of(witness: LogWitness) -> Findings:
    return witness._found


async def test_all_that_is_written_is_read_once_through_a_restart_of_nats(
    nats: NatsServer, writer: Writer, witness: LogWitness
) -> None:
    await writer.open()
    for _ in range(3):
        await writer.refuse()
    assert await witness.catch_up()
    await asyncio.to_thread(nats.stop)
    assert not await witness.catch_up(0.3), "nobody answers"
    await asyncio.to_thread(nats.start)
    async with asyncio.timeout(20):
        while True:
            try:
                await writer.refuse()
                break
            except Exception:
                writer.moves -= 1
                await asyncio.sleep(0.1)
    for _ in range(600):  # more than a batch
        await writer.refuse()
    assert await witness.catch_up(20)
    log = witness.rooms[ROOM]
    assert [id for _, _, id in log.decided] == list(range(1, writer.moves + 1))
    assert {(seat, tab) for seat, tab, _ in log.decided} == {(0, 77)}
    assert log.twice == []
    assert witness.records == writer.moves + 3
    assert found_of(witness).ok()
    assert log.table is not None
    assert log.table.state.members[0].answered == writer.moves


async def test_a_move_that_the_log_decides_twice_is_noted(writer: Writer, witness: LogWitness) -> None:
    await writer.open()
    await writer.refuse()
    writer.moves -= 1
    await writer.refuse()
    assert await witness.catch_up()
    assert witness.rooms[ROOM].twice == [(0, 77, 1)]


async def test_a_record_of_an_older_epoch_behind_a_newer_one_breaks_the_chain(
    writer: Writer, witness: LogWitness
) -> None:
    await writer.open()
    writer.epoch = 4
    await writer.write(kind="claim")
    writer.epoch = 3
    await writer.refuse()
    assert await witness.catch_up()
    assert found_of(witness).broken == {CHAIN: 1}


async def test_records_trimmed_before_they_were_read_are_said_to_be_missing_once(
    nats: NatsServer, writer: Writer
) -> None:
    witness = LogWitness(nats.url, Findings())
    await witness.start()
    reading, witness._reading = witness._reading, None
    assert reading is not None
    reading.cancel()  # it stalls while the log goes on
    await writer.open()
    for _ in range(5):
        seq = await writer.refuse()
    await writer._nc.jetstream().purge_stream(subjects.LOG_STREAM, subject=subjects.log(5), seq=seq)
    witness._reading = asyncio.create_task(witness._read_on())
    try:
        assert not await witness.catch_up()
        assert ROOM in witness.rooms
        assert witness.rooms[ROOM].table is None
        assert await witness.catch_up(), "what is missing is said once"
    finally:
        await witness.stop()
