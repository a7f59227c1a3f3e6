"""Engines of this release and of the next one side by side, on a real NATS: nothing is lost either way."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import hall, table_clock
from services.engine import records as r
from services.engine.claims import ranking
from services.engine.stream import EXPECTED, SLOT_ID, Asker, Stream
from services.engine.versions import RAISE_AFTER, Versions
from tests.services import next_release
from tests.services.engine_stack import Driver, EngineStack, bots_table
from tests.waiting import reach
from wire import subjects
from wire.places import CODE_ALPHABET, partition_of

NEXT = next_release.records("tests.services.next_records")


@pytest.fixture(autouse=True)
def _shorter_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_clock, "COUNTDOWN_MS", 200)
    monkeypatch.setattr(hall, "STABLE", 0.5)


@asynccontextmanager
async def next_engine(stack: EngineStack, name: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """An engine of the next release."""
    process = await stack.process(name, "tests.services.next_release")
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def room_for(engine: str, *others: str) -> str:
    """A room that should be with this engine when all of them live."""
    for a in CODE_ALPHABET:
        for b in CODE_ALPHABET:
            room = f"BCD{a}{b}"
            if ranking(partition_of(room), {engine, *others})[0] == engine:
                return room
    raise AssertionError("no such room")


async def owner(stack: EngineStack, room: str) -> str:
    found = await stack.engines.placement.read(partition_of(room))
    return found.engine if found is not None else ""


async def owned_by(stack: EngineStack, room: str, engine: str) -> None:
    async with asyncio.timeout(20):
        while await owner(stack, room) != engine:  # noqa: ASYNC110 - it is asked for, not told
            await asyncio.sleep(0.05)


async def live_hand(stack: EngineStack, room: str) -> Driver:
    await stack.engines.open_table(bots_table(room))
    ann = Driver(stack, room, "p0")
    await ann.attach()
    assert await ann.move("deal") is None
    await ann.event("live")
    return ann


async def kept(stack: EngineStack, room: str) -> list[Any]:
    """The records of the room's partition, as the next release reads them."""
    asker = Asker(stack.nc)
    await asker.start()
    found, at = [], 0
    while batch := await Stream(asker, subjects.LOG_STREAM).read(subjects.log(partition_of(room)), at + 1):
        for message in batch:
            at = message.sequence
            found.append(NEXT.decode(message.data))
    await asker.stop()
    return found


async def notice(stack: EngineStack, room: str) -> str | None:
    view = json.loads((await stack.engines.view(pb.ViewRequest(room=room))).snapshot.body)
    found: str | None = view["table"].get("notice")
    return found


# ---- the rule ----


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> Versions:
    monkeypatch.setattr(r, "VERSION", 2)
    monkeypatch.setattr(r, "BEFORE", 1)
    return Versions()


def test_where_no_engine_ever_read_less_the_newest_version_is_written_at_once(versions: Versions) -> None:
    versions.look([2], [2], 0.0)
    assert versions.writes == 2


def test_a_newer_version_is_written_when_every_living_engine_has_read_it_for_a_while(versions: Versions) -> None:
    versions.look([1, 2], [], 0.0)
    versions.look([2, 2], [1], 10.0)
    versions.look([2], [1], 10.0 + RAISE_AFTER - 1)
    assert versions.writes == 1
    versions.look([1], [], 10.0 + RAISE_AFTER)
    versions.look([], [1], 11.0 + RAISE_AFTER)
    versions.look([2], [1], 10.0 + 2 * RAISE_AFTER)
    assert versions.writes == 1, "the old one was there again meanwhile"
    versions.look([2], [1], 11.0 + 2 * RAISE_AFTER)
    assert versions.writes == 2


def test_an_older_engine_is_written_for_from_the_moment_it_is_there(versions: Versions) -> None:
    versions.look([], [], 0.0)
    assert versions.writes == 2
    versions.look([2, 1], [], 1.0)
    assert versions.writes == 1


def test_nothing_older_than_the_release_before_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(r, "VERSION", 3)
    monkeypatch.setattr(r, "BEFORE", 2)
    versions = Versions()
    versions.look([1], [], 0.0)
    assert versions.writes == 2


# ---- on a real NATS ----


async def test_a_hand_goes_from_this_release_to_the_next_and_back_and_nothing_is_lost(stack: EngineStack) -> None:
    room = room_for("next", "this")
    await stack.start("this")
    ann = await live_hand(stack, room)
    for t in ("turn", "undo", "undo", "turn"):
        await ann.move(t)
    async with next_engine(stack, "next") as process:
        await owned_by(stack, room, "next")
        for t in ("pause", "turn", "resume", "turn"):
            await ann.move(t)
        assert ann.answers[7] == "paused"
        for _ in range(20):
            ann.send("turn")
        process.send_signal(signal.SIGTERM)
        await ann.hear(lambda: ann.decided == ann.last)
        await owned_by(stack, room, "this")
        assert await ann.move("undo") in (None, "nothing_to_undo")
        assert await process.wait() == 0
    assert await notice(stack, room) is None
    versions = {record.version for record in await stack.log(room)}
    assert max(versions) <= r.VERSION, "no word that this release doesn't know"
    assert await stack.decided(room) == sorted(ann.answers.items())


async def test_what_only_the_next_release_reads_is_written_again_for_an_older_engine_that_comes(
    stack: EngineStack,
) -> None:
    room = room_for("this", "next")
    async with next_engine(stack, "next") as process:
        ann = await live_hand(stack, room)
        await until_nudged(stack, ann)
        assert NEXT.VERSION in {record.version for record in await kept(stack, room)}
        await stack.start("this")
        await owned_by(stack, room, "this")
        assert await notice(stack, room) == "nudged"
        assert await ann.move("resume") is None
        assert await ann.move("turn") is None
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    assert await stack.log(room) != [], "all of it is read here"
    assert max(ann.answers) == ann.last


async def test_a_log_of_a_later_release_waits_for_its_engine_and_nothing_is_halted(stack: EngineStack) -> None:
    room = room_for("this", "next")
    async with next_engine(stack, "next") as process:
        ann = await live_hand(stack, room)
        await until_nudged(stack, ann)
        process.kill()
        await process.wait()
    this = await stack.start("this")
    assert this.hall is not None
    board = this.hall.board
    await reach(
        lambda: (at := board.placed.get(partition_of(room))) is not None and at.entry.reads == NEXT.VERSION,
        "it steps back",
    )
    await reach(lambda: this.hall is not None and len(this.hall.owners()) > 32, "it serves what it can read")
    assert stack.serving(room) is None
    assert "later release" in (this.hall.missing() or "")
    assert this.registry.get_sample_value("snatch_engine_halted_total") == 0
    async with next_engine(stack, "next"):
        assert await ann.move("resume") is None
        await owned_by(stack, room, "this")
        assert await ann.move("turn") is None
    assert await stack.decided(room) != []


async def test_a_later_record_below_others_is_met_in_the_replay_and_left_alone(stack: EngineStack) -> None:
    room = room_for("this")
    partition = partition_of(room)
    js = stack.nc.jetstream()
    last = 0
    for version, epoch, kind in ((NEXT.VERSION, 1, "data"), (r.BEFORE, 2, "claim")):
        record = NEXT.Record(version, partition, epoch, kind, 5)
        headers = {EXPECTED: str(last), SLOT_ID: f"{partition}:{epoch}:0:x"}
        last = (await js.publish(subjects.log(partition), NEXT.encode(record), headers=headers)).seq
    this = await stack.start("this")
    assert this.hall is not None
    board = this.hall.board
    await reach(lambda: (at := board.placed.get(partition)) is not None and at.entry.state == "offer", "it steps back")
    entry = board.placed[partition].entry
    assert (entry.owner, entry.reads) == ("", NEXT.VERSION)
    assert entry.epoch > 3, "above its own fence"
    assert this.registry.get_sample_value("snatch_engine_halted_total") == 0


async def until_nudged(stack: EngineStack, ann: Driver) -> None:
    """Alone, the next release's engine soon writes what only it reads."""
    async with asyncio.timeout(20):
        while await notice(stack, ann.room) != "nudged":
            await asyncio.sleep(0.2)
            await ann.move("resume")
            await ann.move("pause")
