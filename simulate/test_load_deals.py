"""What engines counted of deals, read as a load run reads it."""

from __future__ import annotations

from prometheus_client import generate_latest

from services.engine.metrics import EngineMetrics
from simulate.load_deals import counted, waits
from simulate.load_record import Deals


def engine(ready: int, waited: list[float]) -> str:
    metrics = EngineMetrics()
    for _ in range(ready):
        metrics.dealt(0.0, True)
    for seconds in waited:
        metrics.dealt(seconds, False)
    return generate_latest(metrics.registry).decode()


def test_all_engines_deals_are_counted_and_the_longest_wait_is_bounded() -> None:
    found = counted([engine(90, [0.003, 0.03]), engine(8, [])])
    assert (found.asked, found.waited) == (100, 2)
    assert found.wait_mean_ms == 16.5
    assert 30 <= found.wait_most_ms <= 50


def test_a_wait_beyond_every_bucket_is_bounded_by_the_sum_of_all() -> None:
    assert counted([engine(0, [12.0])]).wait_most_ms == 12_000


def test_no_deal_at_all_is_none_waited_for() -> None:
    assert counted([engine(0, [])]) == Deals(asked=0, waited=0, wait_mean_ms=0.0, wait_most_ms=0.0)


async def test_a_stack_without_an_engine_that_answers_is_not_known() -> None:
    assert await waits([]) is None
    assert await waits([{"kind": "engine", "ports": {"ops": 1}}, {"kind": "nats", "ports": {}}]) is None
