from __future__ import annotations

from random import Random

import pytest

from simulate.load_delays import add, as_text, bucketed, glance, histogram, merged, seconds_of, told


def test_a_bucket_is_a_thousandth_wide_from_a_microsecond_to_a_minute() -> None:
    for seconds in (1.5e-6, 0.000123, 0.00456, 0.789, 12.3, 59.0):
        (bucket,) = bucketed([seconds])
        assert seconds_of(bucket) == pytest.approx(seconds, rel=0.001)


def test_delays_of_several_processes_merge_to_what_one_process_would_have_counted() -> None:
    dice = Random(5)
    parts = [[dice.expovariate(100) for _ in range(3000)] for _ in range(4)]
    apart = told(merged(as_text(bucketed(part)) for part in parts))
    together = told(histogram(bucketed([delay for part in parts for delay in part])))
    assert apart == together
    exact = sorted(delay for part in parts for delay in part)
    assert apart.count == 12_000
    assert apart.p99_ms == pytest.approx(exact[int(0.99 * 12_000)] * 1000, rel=0.01)
    assert apart.max_ms == pytest.approx(exact[-1] * 1000, rel=0.005)


def test_a_glance_at_a_second_agrees_with_its_histogram() -> None:
    dice = Random(9)
    buckets = bucketed([dice.uniform(0.001, 0.2) for _ in range(5000)])
    quick, whole = glance(buckets), told(histogram(buckets))
    for name in ("p50_ms", "p90_ms", "p99_ms", "max_ms"):
        assert getattr(quick, name) == pytest.approx(getattr(whole, name), rel=0.01)


def test_seconds_add_up() -> None:
    sum_: dict[int, int] = {}
    add(sum_, bucketed([0.1, 0.2]))
    add(sum_, bucketed([0.1]))
    assert sum(sum_.values()) == 3
    assert sum_[next(iter(bucketed([0.1])))] == 2


def test_no_delay_is_told_as_none() -> None:
    assert told(merged([])).count == 0
    assert glance({}).p99_ms == 0.0
