"""What an engine says of itself, so that rooms know when to refuse new ones."""

from __future__ import annotations

import asyncio

import msgspec
from nats.aio.msg import Msg

from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine.load import EASED, OVER, Strain
from tests.services.engine_stack import EngineStack
from wire import subjects
from wire.news import EngineLoad


def after(strain: Strain, seconds: float, busy: float, start: float = 0.0, used: float = 0.0) -> tuple[float, float]:
    """`seconds` of looks, two a second, at a process that is so busy; the time and what it has used by then."""
    for _ in range(round(2 * seconds)):
        start, used = start + 0.5, used + busy / 2
        strain.look(start, used)
    return start, used


def test_a_moment_s_work_is_no_strain_and_an_evening_s_is() -> None:
    strain = Strain(0.9)
    now, used = after(strain, OVER - 1, 1.0)
    assert not strain.strained
    after(strain, 5, 1.0, now, used)
    assert strain.strained
    assert round(strain.busy, 3) == 1.0


def test_strain_ends_when_there_is_time_to_spare_not_a_little_below_the_bound() -> None:
    strain = Strain(0.9)
    now, used = after(strain, 2 * OVER, 0.95)
    now, used = after(strain, 2 * OVER, 0.85, now, used)
    assert strain.strained
    after(strain, 2 * OVER, 0.9 * EASED - 0.05, now, used)
    assert not strain.strained


def test_an_engine_that_may_use_any_time_is_never_strained() -> None:
    strain = Strain(0)
    after(strain, 2 * OVER, 1.0)
    assert not strain.strained
    assert round(strain.busy, 3) == 1.0


async def test_an_engine_tells_how_many_tables_it_has_and_may_have_and_that_it_ends(stack: EngineStack) -> None:
    told: asyncio.Queue[EngineLoad] = asyncio.Queue()

    async def hear(message: Msg) -> None:
        await told.put(msgspec.json.decode(message.data, type=EngineLoad))

    await stack.nc.subscribe(subjects.ENGINE_LOAD, cb=hear)
    engine = await stack.start("one")
    async with asyncio.timeout(20):
        first = await told.get()
        assert first == EngineLoad("one", 0, engine.settings.engine_tables)
        member = pb.OpenMember(player="ann", name="Ann")
        await stack.engines.open_table(
            pb.OpenRequest(room="BCDFG", table="t1", game="snatch_solitaire", host="ann", members=[member])
        )
        while (await told.get()).tables != 1:
            pass
        await stack.stop("one")
        while not (await told.get()).gone:
            pass
