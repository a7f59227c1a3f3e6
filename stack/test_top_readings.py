"""Rates and quantiles of `snatch top` are what Prometheus would say."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from stack.top_readings import Between, Process, Reading, parsed

ONE, TWO = Process("engine", "engine-1"), Process("engine", "engine-2")


class Told:
    """A process with a counter by label and a histogram, as they are scraped."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.moves = Counter("moves", "Moves.", ["result"], registry=self._registry)
        self.seconds = Histogram("seconds", "How long.", buckets=(0.1, 0.2, 0.4), registry=self._registry)

    def text(self) -> str:
        return generate_latest(self._registry).decode()


def reading(at: float, **told: Told) -> Reading:
    processes = {"one": ONE, "two": TWO}
    return Reading(at, {processes[name]: parsed(process.text()) for name, process in told.items()})


def test_a_rate_is_a_second_s_growth_of_all_processes_or_of_one() -> None:
    one, two = Told(), Told()
    one.moves.labels("done").inc(100)
    two.moves.labels("done").inc(7)
    before = reading(50, one=one, two=two)
    one.moves.labels("done").inc(30)
    two.moves.labels("done").inc(10)
    one.moves.labels("snatched").inc(5)
    between = Between(before, reading(60, one=one, two=two))
    assert between.rate("moves_total") == pytest.approx(4.0 + 0.0)
    assert between.rate("moves_total", ONE, result="done") == pytest.approx(3.0)
    assert between.rates("moves_total", "result") == {"done": pytest.approx(4.0)}
    assert between.level("moves_total", result="done") == 147


def test_a_process_that_began_anew_counts_from_nothing() -> None:
    old, new = Told(), Told()
    old.moves.labels("done").inc(1000)
    new.moves.labels("done").inc(20)
    assert Between(reading(0, one=old), reading(10, one=new)).rate("moves_total") == pytest.approx(2.0)


def test_a_process_that_was_not_there_before_counts_all_that_it_says() -> None:
    old, new = Told(), Told()
    new.moves.labels("done").inc(20)
    assert Between(reading(0, one=old), reading(10, one=old, two=new)).rate("moves_total") == pytest.approx(2.0)


def test_with_one_reading_no_rate_is_known() -> None:
    one = Told()
    one.moves.labels("done").inc(20)
    one.seconds.observe(0.1)
    only = reading(5, one=one)
    between = Between(only, only)
    assert between.seconds == 0
    assert between.rate("moves_total") == 0
    assert between.quantile(0.5, "seconds") is None


def test_a_quantile_lies_within_its_bucket_as_histogram_quantile_has_it() -> None:
    one = Told()
    before = reading(0, one=one)
    for value in [0.05] * 50 + [0.15] * 40 + [0.3] * 10:
        one.seconds.observe(value)
    between = Between(before, reading(10, one=one))
    assert between.quantile(0.5, "seconds") == pytest.approx(0.1)
    assert between.quantile(0.9, "seconds") == pytest.approx(0.2)
    assert between.quantile(0.95, "seconds") == pytest.approx(0.3)
    assert between.share_within(0.2, "seconds") == pytest.approx(0.9)


def test_a_quantile_beyond_the_last_bound_is_that_bound() -> None:
    one = Told()
    before = reading(0, one=one)
    one.seconds.observe(7.0)
    assert Between(before, reading(10, one=one)).quantile(0.99, "seconds") == pytest.approx(0.4)


def test_only_what_was_observed_in_between_counts() -> None:
    one = Told()
    for _ in range(1000):
        one.seconds.observe(0.3)
    before = reading(0, one=one)
    one.seconds.observe(0.05)
    quantile = Between(before, reading(10, one=one)).quantile(0.99, "seconds")
    assert quantile is not None
    assert quantile <= 0.1


def test_what_is_no_metrics_is_refused() -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed("<html>not here</html>")
