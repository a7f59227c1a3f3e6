"""A log that takes no records: nobody is told anything that isn't logged, and the operator is told why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from services.engine import standstill
from services.engine.settings import SetupSettings
from services.engine.setup import set_up
from services.engine.standstill import Standstill
from tests.servers import NatsServer
from tests.services.engine_stack import Driver, EngineStack, bots_table
from tests.waiting import reach
from wire import subjects

ROOM = "BCDFG"
FULL = "maximum bytes exceeded (10077)"


@pytest.fixture
async def stack(new_nats: Callable[[], NatsServer]) -> AsyncIterator[EngineStack]:
    stack = await EngineStack(new_nats().url).begin()
    yield stack
    await stack.end()


def waited(registry: CollectorRegistry) -> float:
    return registry.get_sample_value("snatch_engine_append_waiting_seconds") or 0.0


async def test_a_full_log_is_told_with_its_reason_and_more_room_lets_play_go_on(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standstill, "SAY_AFTER", 0.2)
    engine = await stack.start("one")
    await stack.engines.open_table(bots_table(ROOM))
    ann = Driver(stack, ROOM, "p0")
    await ann.attach()
    hall = engine.hall
    assert hall is not None
    await reach(lambda: hall.missing() is None, "all is open")
    js = stack.nc.jetstream()
    config = (await js.stream_info(subjects.LOG_STREAM)).config
    config.max_bytes = 1
    await js.update_stream(config)
    id = ann.send("options", options={"length": "to25"})
    await reach(lambda: hall.missing() is not None, "it is said")
    said = hall.missing()
    assert said is not None
    assert said.startswith("a record has waited ")
    assert said.endswith(FULL)
    assert waited(engine.registry) >= 0.2
    assert id not in ann.answers
    await set_up(SetupSettings(nats_url=stack.url))
    await ann.hear(lambda: id in ann.answers)
    assert ann.answers[id] is None
    await reach(lambda: (hall.missing(), waited(engine.registry)) == (None, 0.0), "it is over")


def test_a_standstill_is_logged_once_with_its_reason_and_its_end_with_its_length() -> None:
    now = [0.0]
    standing = Standstill(lambda: now[0], lambda: FULL)
    with capture_logs() as told:
        for waits in (0.0, 1.9, 2.0, 3.5, 0.1, 0.0):
            now[0] = waits
            standing.look()
    assert [(e["event"], e["seconds"], e.get("why")) for e in told] == [
        ("the log takes no record", 2.0, FULL),
        ("the log takes records again", 3.5, None),
    ]
