"""Appending through a stream that loses, delays and doubts; reading one that is trimmed or behind."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from services.engine import log as log_module
from services.engine import records as r
from services.engine.ledger import Inconsistent
from services.engine.log import Log, Trimmed
from services.engine.partition import EMPTY, Partition, Phase, Verdict
from services.engine.stream import EXPECTED, NEEDED, SLOT_ID, Message, StreamAway


@pytest.fixture(autouse=True)
def _no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "BACKOFF", (0.0, 0.0, 0.0))


class TwinStream:
    """One subject of a stream, with the server's own rule, and faults drawn by dice."""

    def __init__(self, faults: float = 0.0, seed: int = 0) -> None:
        self.messages: list[Message] = []
        self.dice = Random(seed)
        self.faults = faults
        self.tries = 0
        self.late: list[tuple[bytes, int, str, int]] = []
        """Appends that were given up and may still happen."""

    def write(self, body: bytes, expected: int, id: str, needed: int) -> int | None:
        last = self.messages[-1].sequence if self.messages else 0
        if expected != last:
            return None
        sequence = last + self.dice.randint(1, 9)
        headers = {EXPECTED: str(expected), SLOT_ID: id, NEEDED: str(needed)}
        self.messages.append(Message(sequence, headers, body))
        return sequence

    async def append(self, subject: str, body: bytes, expected: int, id: str = "", needed: int = 0) -> int | None:
        self.tries += 1
        while self.late and self.dice.random() < 0.5:
            self.write(*self.late.pop(0))
        if self.dice.random() >= self.faults:
            return self.write(body, expected, id, needed)
        fault = self.dice.choice(("lost ack", "lost", "busy", "late"))
        if fault == "lost ack":
            self.write(body, expected, id, needed)
        elif fault == "late":
            self.late.append((body, expected, id, needed))
        return None

    async def last(self, subject: str) -> Message | None:
        if self.dice.random() < self.faults:
            raise StreamAway("no answer")
        return self.messages[-1] if self.messages else None

    async def read(self, subject: str, sequence: int) -> list[Message]:
        return [m for m in self.messages if m.sequence >= sequence][:3]

    async def purge_below(self, subject: str, sequence: int) -> bool:
        self.messages = [m for m in self.messages if m.sequence >= sequence]
        return True


def record(epoch: int, kind: Any = "data", now: int = 0) -> bytes:
    return r.encode(r.Record(r.VERSION, 5, epoch, kind, now))


async def claimed(log: Log, nonce: str) -> Partition:
    partition = Partition(5, nonce)
    last = EMPTY
    while True:
        try:
            last = await log.last(5)
            break
        except StreamAway:
            continue
    epoch = partition.claim(last, 0)
    verdict = await log.append(partition, partition.won(record(epoch, "claim")))
    assert verdict in (Verdict.COMMITTED, Verdict.DEPOSED)
    if verdict is Verdict.COMMITTED:
        partition.replayed()
    return partition


@pytest.mark.parametrize("seed", range(20))
async def test_nothing_acknowledged_is_lost_or_doubled_whatever_the_stream_does(seed: int) -> None:
    stream = TwinStream(0.4, seed)
    doubts: list[Verdict] = []
    log = Log(stream, doubts.append)
    partition = await claimed(log, "me")
    bodies = [record(partition.epoch, now=n) for n in range(100)]
    for body in bodies:
        assert await log.append(partition, partition.stage(body)) is Verdict.COMMITTED
    assert [m.data for m in stream.messages][1:] == bodies
    assert Verdict.AGAIN in doubts
    assert Verdict.HALTED not in doubts


@pytest.mark.parametrize("seed", range(20))
async def test_two_rivals_never_both_write_behind_one_fence(seed: int) -> None:
    stream = TwinStream(0.3, seed)
    log = Log(stream, lambda _: None)
    dice = Random(seed)
    acknowledged: list[bytes] = []
    rivals: list[Partition] = []
    for turn in range(120):
        if not rivals or dice.random() < 0.1:
            rivals.append(await claimed(log, f"rival-{turn}"))
        writer = dice.choice(rivals[-3:])
        if writer.phase is not Phase.OPEN:
            continue
        body = record(writer.epoch, now=turn)
        verdict = await log.append(writer, writer.stage(body))
        assert verdict in (Verdict.COMMITTED, Verdict.DEPOSED)
        if verdict is Verdict.COMMITTED:
            acknowledged.append(body)
    written = [m.data for m in stream.messages if r.decode(m.data).kind == "data"]
    assert written == acknowledged
    epochs = [r.decode(m.data).epoch for m in stream.messages]
    assert epochs == sorted(epochs)
    previous = 0
    for message in stream.messages:
        assert int(message.headers[EXPECTED]) == previous
        previous = message.sequence


async def read(stream: TwinStream, fence: int, needed: int = 0) -> list[int]:
    log = Log(stream, lambda _: None)
    return [sequence async for sequence, _ in log.read(5, fence, None, needed)]


async def test_a_new_owner_reads_from_the_oldest_record_that_the_last_one_needs() -> None:
    stream = TwinStream()
    log = Log(stream, lambda _: None)
    partition = await claimed(log, "me")
    for n in range(8):
        await log.append(partition, partition.stage(record(partition.epoch, now=n)))
    sequences = [m.sequence for m in stream.messages]
    partition.needed = sequences[5]
    assert (await log.last(5)).needed == 0
    await log.append(partition, partition.stage(record(partition.epoch, now=9)))
    last = await log.last(5)
    assert last.needed == sequences[5]
    assert await read(stream, last.sequence, last.needed) == [*sequences[5:], last.sequence]


@pytest.mark.parametrize("said", ["99", "x", "-1", ""])
async def test_a_record_that_needs_what_can_t_be_before_it_is_read_with_all_there_are(said: str) -> None:
    stream = TwinStream()
    stream.messages.append(Message(7, {EXPECTED: "0", SLOT_ID: "5:1:0:me", NEEDED: said}, record(1)))
    assert (await Log(stream, lambda _: None).last(5)).needed == 0


def chain(*sequences: int) -> TwinStream:
    stream = TwinStream()
    previous = 0
    for sequence in sequences:
        stream.messages.append(Message(sequence, {EXPECTED: str(previous)}, record(1)))
        previous = sequence
    return stream


async def test_reading_goes_to_the_fence_and_no_further() -> None:
    assert await read(chain(2, 5, 6, 9, 12, 20), 12) == [2, 5, 6, 9, 12]


async def test_only_the_first_record_may_follow_one_that_is_gone() -> None:
    stream = chain(2, 5, 6, 9)
    del stream.messages[0]
    assert await read(stream, 9) == [5, 6, 9]
    del stream.messages[1]
    with pytest.raises(Trimmed):
        await read(stream, 9)


async def test_a_chain_that_goes_back_is_no_correct_writer_s() -> None:
    stream = chain(2, 5, 6, 9)
    stream.messages[3].headers[EXPECTED] = "5"
    with pytest.raises(Inconsistent):
        await read(stream, 9)


async def test_epochs_that_fall_are_no_correct_writer_s() -> None:
    stream = chain(2, 5, 6, 9)
    for message, epoch in zip(stream.messages, (1, 1, 2, 2), strict=True):
        message.headers[SLOT_ID] = f"5:{epoch}:0:n"
    assert await read(stream, 9) == [2, 5, 6, 9]
    stream.messages[3].headers[SLOT_ID] = "5:1:3:n"
    with pytest.raises(Inconsistent):
        await read(stream, 9)


async def test_a_fence_that_is_gone_means_that_another_owner_trims() -> None:
    stream = chain(2, 5, 6, 9)
    del stream.messages[:3]
    with pytest.raises(Trimmed):
        await read(stream, 6)


async def test_a_replica_that_is_behind_is_asked_until_it_has_the_fence() -> None:
    stream = chain(2, 5, 6)
    late = stream.messages.pop()
    asked = 0

    async def behind(subject: str, sequence: int) -> list[Message]:
        nonlocal asked
        asked += 1
        if asked == 3:
            stream.messages.append(late)
        return [m for m in stream.messages if m.sequence >= sequence]

    stream.read = behind  # type: ignore[method-assign]
    assert await read(stream, 6) == [2, 5, 6]
    assert asked == 3
