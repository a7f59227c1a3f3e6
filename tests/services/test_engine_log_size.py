"""What an engine says of the log's size, and of how many copies of it there are."""

from __future__ import annotations

from typing import Any

from prometheus_client import generate_latest

from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine.log_size import LogSize, LogSizes, size_of
from services.engine.stream import StreamAway
from tests.services.engine_stack import EngineStack


def told(copies: list[bool], leader: str = "nats-1") -> dict[str, Any]:
    """JetStream's answer of a stream with one leader, and others that are up to date or not."""
    return {
        "config": {"max_bytes": 1000, "num_replicas": 3},
        "state": {"bytes": 400, "messages": 7},
        "cluster": {"leader": leader, "replicas": [{"name": f"nats-{n}", "current": c} for n, c in enumerate(copies)]},
    }


def test_a_copy_that_lags_behind_is_none() -> None:
    assert size_of(told([True, True])) == LogSize(400, 1000, 7, copies=3, copies_wanted=3)
    assert size_of(told([True, False])).copies == 2
    assert size_of(told([True, True], leader="")).copies == 2


class Nats:
    """Answers or doesn't, as it is told."""

    def __init__(self) -> None:
        self.there = True

    async def info(self) -> dict[str, Any]:
        if not self.there:
            raise StreamAway("LOG does not answer")
        return told([True, True])


async def test_a_log_that_does_not_answer_keeps_its_size_and_has_no_copy_until_it_does() -> None:
    nats = Nats()
    sizes = LogSizes(nats.info)
    await sizes.look()
    nats.there = False
    await sizes.look()
    assert sizes.last == LogSize(400, 1000, 7, copies=0, copies_wanted=3)
    nats.there = True
    await sizes.look()
    assert sizes.last.copies == 3


async def test_an_engine_shows_the_log_that_it_writes(stack: EngineStack) -> None:
    engine = await stack.start("one")
    member = pb.OpenMember(player="ann", name="Ann")
    await stack.engines.open_table(
        pb.OpenRequest(room="BCDFG", table="t1", game="snatch_solitaire", host="ann", members=[member])
    )
    assert engine.sizes is not None
    await engine.sizes.look()
    shown = dict(line.rsplit(" ", 1) for line in generate_latest(engine.registry).decode().splitlines())
    assert float(shown["snatch_engine_log_records"]) >= 2, "a fence and a table, at least"
    assert float(shown["snatch_engine_log_bytes"]) > 0
    assert float(shown["snatch_engine_log_limit_bytes"]) > float(shown["snatch_engine_log_bytes"])
    assert (shown["snatch_engine_log_copies"], shown["snatch_engine_log_copies_wanted"]) == ("1.0", "1.0")
