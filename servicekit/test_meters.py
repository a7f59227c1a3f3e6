"""Plain numbers are scraped as if prometheus_client had counted them; labels keep their bounds."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from servicekit.meters import SECONDS, Meters

OBSERVED = (0.0001, 0.0005, 0.0007, 0.002, 0.2, 0.25, 3.0, 10.0, 11.0)


def test_a_spread_is_told_as_prometheus_own_histogram_would_be() -> None:
    meters, theirs = Meters("snatch_x"), CollectorRegistry()
    spread = meters.spread("wait_seconds", "How long.")
    histogram = Histogram("snatch_x_wait_seconds", "How long.", buckets=SECONDS, registry=theirs)
    for seconds in OBSERVED:
        spread.observe(seconds)
        histogram.observe(seconds)
    assert _told(meters.registry) == _told(theirs)


def test_counts_are_told_as_prometheus_own_counter_would_be_and_are_there_before_the_first() -> None:
    meters, theirs = Meters("snatch_x"), CollectorRegistry()
    counts = meters.counts("moves", "Moves.", game=("snap", "whist"), result=("done",))
    counter = Counter("snatch_x_moves", "Moves.", ["game", "result"], registry=theirs)
    for game in ("snap", "whist"):
        counter.labels(game, "done")
    assert _told(meters.registry) == _told(theirs)
    counts.add("snap", "done", by=3)
    counter.labels("snap", "done").inc(3)
    assert _told(meters.registry) == _told(theirs)


def test_whatever_was_not_declared_is_one_series_however_much_there_is_of_it() -> None:
    meters = Meters("snatch_x")
    counts = meters.counts("closed", "Sockets.", code=("1000",))
    levels = meters.levels("tables", "Tables.", game=("snap",))
    levels.read = lambda: {("snap",): 1, ("a",): 2, ("b",): 3}
    for n in range(1000):
        counts.add(f"{n}!")
    counts.add("1000")
    assert meters.registry.get_sample_value("snatch_x_closed_total", {"code": "other"}) == 1000
    assert meters.registry.get_sample_value("snatch_x_closed_total", {"code": "1000"}) == 1
    assert meters.registry.get_sample_value("snatch_x_tables", {"game": "other"}) == 5
    assert len(_told(meters.registry)) == 4


def test_what_something_else_counts_is_asked_for_at_each_scrape() -> None:
    meters = Meters("snatch_x")
    seen = [0]
    meters.count("frames", "Frames.").read = lambda: seen[0]
    meters.level("sockets", "Sockets.", lambda: 10 * seen[0])
    spread = meters.spreads("call_seconds", "Calls.", "call", ("look",), (0.1,))
    spread.of("look").observe(0.05)
    spread.of("no such call").observe(0.2)
    seen[0] = 7
    told = meters.registry.get_sample_value
    assert told("snatch_x_frames_total") == 7
    assert told("snatch_x_sockets") == 70
    assert told("snatch_x_call_seconds_bucket", {"call": "look", "le": "0.1"}) == 1
    assert told("snatch_x_call_seconds_count", {"call": "other"}) == 1


def test_a_name_twice_is_a_fault_at_the_start() -> None:
    meters = Meters("snatch_x")
    meters.count("frames", "Frames.")
    with pytest.raises(ValueError, match="snatch_x_frames"):
        meters.count("frames", "Frames again.")
    with pytest.raises(ValueError, match="snatch_x_frames"):
        Meters("snatch_x", meters.registry).count("frames", "And again.")


def _told(registry: CollectorRegistry) -> list[str]:
    """Series, without those that say when prometheus_client's were made."""
    lines = generate_latest(registry).decode().splitlines()
    return [line for line in lines if not line.startswith("#") and "_created" not in line]
