"""What counts as growth, and what doesn't."""

from __future__ import annotations

from random import Random

import pytest

from simulate.soak import log_is_bounded
from simulate.soak_ends import left_behind
from simulate.soak_plot import svg
from simulate.soak_verdict import MIB, judge

TIMES = [float(t) for t in range(0, 450, 2)]
WARM_UP = 150.0


def noisy(level: float, noise: float, slope: float = 0.0) -> list[float]:
    dice = Random(1)
    return [level + slope * t + dice.uniform(-noise, noise) for t in TIMES]


def test_a_leak_of_two_mebibytes_a_minute_is_growth_though_it_is_hidden_in_noise() -> None:
    verdict = judge("memory/engine-1", TIMES, noisy(50 * MIB, 3 * MIB, 2 * MIB / 60), WARM_UP)
    assert verdict is not None
    assert not verdict.flat


@pytest.mark.parametrize("series", ["memory/engine-1", "redis/keys", "log/messages", "files/gateway-1"])
def test_noise_alone_is_none(series: str) -> None:
    verdict = judge(series, TIMES, noisy(100 * MIB if series.startswith("memory") else 300, 8), WARM_UP)
    assert verdict is not None
    assert verdict.flat


def test_what_rises_in_the_warm_up_alone_is_none() -> None:
    values = [min(t, WARM_UP) * MIB for t in TIMES]
    verdict = judge("memory/nats", TIMES, values, WARM_UP)
    assert verdict is not None
    assert verdict.flat


def test_one_peak_is_no_growth_and_what_falls_is_none() -> None:
    values = noisy(200, 1)
    values[-3:] = [9000.0] * 3
    peak = judge("redis/keys", TIMES, values, WARM_UP)
    falling = judge("redis/keys", TIMES, noisy(9000, 1, -10), WARM_UP)
    assert peak is not None
    assert falling is not None
    assert peak.flat
    assert falling.flat
    assert falling.rise == 0


def test_keys_that_are_never_forgotten_are_growth() -> None:
    verdict = judge("redis/keys", TIMES, noisy(50, 5, 1.0), WARM_UP)
    assert verdict is not None
    assert not verdict.flat


def test_too_few_samples_and_pages_that_processes_share_are_not_judged() -> None:
    assert judge("redis/keys", TIMES[:80], noisy(50, 5)[:80], WARM_UP) is None
    assert judge("rss/engine-1", TIMES, noisy(50, 5, 10.0), WARM_UP) is None


@pytest.mark.parametrize(
    ("series", "value"),
    [
        ("tables/engines", 1),
        ("sockets/gateways", 1),
        ("seats/bots", 1),
        ("heard/watches", 1),
        ("nats/subscriptions", 90),
        ("nats/connections", 6),
        ("log/messages", 500),
        ("log/bytes", 9 * MIB),
        ("files/gateway-1", 200),
    ],
)
def test_whatever_stays_of_the_rooms_is_told(series: str, value: float) -> None:
    before = {"nats/subscriptions": 80.0, "nats/connections": 5.0, "files/gateway-1": 30.0}
    assert left_behind(before, before) == []
    told = left_behind(before, {**before, series: value})
    assert [words.partition(":")[0] for words in told] == [series]


def test_a_plot_of_hundreds_of_samples_of_many_processes_is_small() -> None:
    series = {f"{kind}/{name}-1": noisy(60, 9) for kind in ("memory", "files", "disk") for name in "abcdefgh"}
    drawn = svg("A title with <signs> & more", TIMES, series, [WARM_UP, TIMES[-1]])
    assert "&lt;signs&gt; &amp; more" in drawn
    assert len(drawn) < 100_000


def test_a_log_is_held_against_its_tables_only_where_both_were_read() -> None:
    assert log_is_bounded({"log/bytes": 2e6, "tables/engines": 200}) is True
    assert log_is_bounded({"log/bytes": 2e6, "tables/engines": 0}) is False
    assert log_is_bounded({"log/bytes": 2e6}) is None
    assert log_is_bounded({"tables/engines": 200}) is None
