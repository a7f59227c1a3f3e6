"""An engine that takes over reads what tells of its tables, whatever else still lies in the log."""

from __future__ import annotations

from typing import Any

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import ledger
from services.engine import records as r
from services.engine.log import Log
from services.engine.stream import NEEDED, SLOT_ID, Message, Stream
from tests.services.engine_stack import Driver, EngineStack, bots_table
from tests.waiting import reach
from wire import subjects
from wire.places import partition_of

ROOM = "BCDFG"


async def test_what_no_table_needs_is_not_read_though_it_was_never_trimmed(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def untrimmed(self: Log, partition: int, oldest: int) -> bool:
        return False

    monkeypatch.setattr(Log, "trim", untrimmed)
    monkeypatch.setattr(ledger, "SNAPSHOT_RECORDS", 10)
    read: list[int] = []
    original = Stream.read

    async def noted(self: Stream, subject: str, sequence: int) -> list[Message]:
        found = await original(self, subject, sequence)
        if subject == subjects.log(partition_of(ROOM)):
            read.extend(m.sequence for m in found)
        return found

    await stack.start("one")
    await stack.engines.open_table(bots_table(ROOM))
    ann = Driver(stack, ROOM, "p0")
    await ann.attach()
    for _ in range(20):
        for length in ("to25", "to50"):
            await ann.move("options", options={"length": length})
    there: Any = [record for record in await stack.log(ROOM) if record.kind == "data"]
    before = stack.state(ROOM)
    await stack.stop("one")
    monkeypatch.setattr(Stream, "read", noted)
    await stack.start("two")
    await reach(lambda: stack.serving(ROOM), "it has taken over")
    assert stack.state(ROOM) == before
    assert len(there) > 40
    assert 0 < len(read) < 30
    monkeypatch.setattr(Stream, "read", original)
    await stack.engines.close_table(pb.CloseRequest(room=ROOM, table="t1", why="expired"))
    assert len(await stack.log(ROOM)) > len(there)


class Holding:
    """A stream whose last message is given."""

    def __init__(self, message: Message) -> None:
        self._message = message

    async def last(self, subject: str) -> Message:
        return self._message


@pytest.mark.parametrize(
    ("headers", "needed"),
    [
        ({NEEDED: "40"}, 40),
        ({NEEDED: "41"}, 41),
        ({}, 0),  # of a release that didn't say
        ({NEEDED: "42"}, 0),  # of no record that is there
        ({NEEDED: "-1"}, 0),
        ({NEEDED: "soon"}, 0),
    ],
)
async def test_a_log_whose_last_record_says_nothing_sensible_is_read_from_its_first(
    headers: dict[str, str], needed: int
) -> None:
    body = r.encode(r.Record(r.BEFORE, 3, 7, "data", 0))
    stream: Any = Holding(Message(41, {SLOT_ID: "3:7:1:x", **headers}, body))
    last = await Log(stream, lambda _: None).last(3)
    assert (last.sequence, last.epoch, last.needed) == (41, 7, needed)
