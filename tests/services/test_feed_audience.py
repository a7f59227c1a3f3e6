"""One reader of a room's frames, on its own: what it takes in order, and what makes it start anew."""

from __future__ import annotations

import asyncio

import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import audience as audience_module
from servicekit.audience import Audience
from wire import frames
from wire.frames import Frame


class Reader:
    """Stumbles over the frames it is told to."""

    def __init__(self, *stumbles: int) -> None:
        self.stumbles = set(stumbles)
        self.seen: list[int] = []
        self.snapshots: asyncio.Queue[int] = asyncio.Queue()

    def on_frame(self, frame: Frame) -> None:
        if frame.number in self.stumbles:
            raise KeyError("a card that is not there")
        self.seen.append(frame.number)

    def on_snapshot(self, snapshot: pb.Snapshot) -> None:
        self.snapshots.put_nowait(snapshot.table_number)

    def on_waiting(self) -> None: ...

    def on_refused(self, detail: str) -> None: ...


def table_frame(number: int) -> Frame:
    return frames.unpack(frames.pack(frames.TABLE, 1, number, (), b"{}"))


async def test_a_reader_that_stumbles_over_a_frame_starts_anew_and_the_others_never_notice() -> None:
    told = 0

    async def ask(timeout: float) -> pb.Snapshot:
        return pb.Snapshot(epoch=1, table_number=told)

    clumsy, other = Reader(2), Reader()
    audiences = [Audience(reader, ask) for reader in (clumsy, other)]
    for audience in audiences:
        audience.release(await ask(1.0))
    for told in (1, 2, 3):
        for audience in audiences:
            audience.take_table(table_frame(told))
    async with asyncio.timeout(10):
        assert [await clumsy.snapshots.get() for _ in range(2)] == [0, 3]
    told = 4
    for audience in audiences:
        audience.take_table(table_frame(4))
    assert clumsy.seen == [1, 4]
    assert other.seen == [1, 2, 3, 4]


async def test_a_snapshot_of_an_engine_that_was_replaced_and_doesn_t_know_it_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audience_module, "OLDER_PAUSE", 0.0)
    epochs = iter([1, 1, 2])

    async def ask(timeout: float) -> pb.Snapshot:
        return pb.Snapshot(epoch=next(epochs), table_number=7)

    reader = Reader()
    audience = Audience(reader, ask)
    audience.release(pb.Snapshot(epoch=2, table_number=5))
    audience.doubt()
    async with asyncio.timeout(10):
        assert [await reader.snapshots.get() for _ in range(2)] == [5, 7]
    assert (audience.epoch, next(epochs, None)) == (2, None)


async def test_a_log_that_began_anew_is_believed_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audience_module, "OLDER_PAUSE", 0.0)

    async def ask(timeout: float) -> pb.Snapshot:
        return pb.Snapshot(epoch=1, table_number=1)

    reader = Reader()
    audience = Audience(reader, ask)
    audience.release(pb.Snapshot(epoch=9, table_number=5))
    audience.doubt()
    async with asyncio.timeout(10):
        assert [await reader.snapshots.get() for _ in range(2)] == [5, 1]
    assert audience.epoch == 1
