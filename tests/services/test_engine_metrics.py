"""What is counted at every record is scraped as if it had been counted by Prometheus' own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from services.engine.metrics import EngineMetrics, Spread

SECONDS = (0.0001, 0.0005, 0.0007, 0.002, 0.2, 0.25, 3.0, 10.0, 11.0)


def test_records_and_what_they_did_are_counted() -> None:
    metrics = EngineMetrics()
    metrics.turn(3, 2, ["snatched", "of my own making"], 4, 0.003)
    metrics.turn(0, 0, [], 1, 0.1)
    metrics.appended(0.002, 700)
    metrics.appended(0.2, 300)
    told = metrics.registry.get_sample_value
    assert told("snatch_engine_items_total") == 3
    assert told("snatch_engine_moves_total") == 2
    assert told("snatch_engine_frames_total") == 5
    assert told("snatch_engine_refusals_total", {"code": "snatched"}) == 1
    assert told("snatch_engine_refusals_total", {"code": "other"}) == 1, "no code without bound becomes a label"
    assert told("snatch_engine_records_total") == 2
    assert told("snatch_engine_record_bytes_total") == 1000
    assert told("snatch_engine_turn_seconds_count") == 1, "a turn that took nothing is none"
    assert told("snatch_engine_append_seconds_sum") == 0.202


def test_a_spread_has_the_buckets_of_a_histogram() -> None:
    spread, theirs = Spread(), CollectorRegistry()
    bounds = [float(bound) for bound, _ in _buckets(spread)[:-1]]
    histogram = Histogram("snatch_engine_x_seconds", "x", buckets=bounds, registry=theirs)
    for seconds in SECONDS:
        spread.observe(seconds)
        histogram.observe(seconds)
    assert _buckets(spread) == [
        (sample.labels["le"], sample.value)
        for family in theirs.collect()
        for sample in family.samples
        if sample.name.endswith("_bucket")
    ]


def test_all_of_it_is_text_that_prometheus_reads() -> None:
    metrics = EngineMetrics()
    metrics.turn(1, 1, ["stale"], 1, 0.001)
    families = {f.name: f for f in text_string_to_metric_families(generate_latest(metrics.registry).decode())}
    assert families["snatch_engine_refusals"].samples[0].labels == {"code": "stale"}
    assert families["snatch_engine_turn_seconds"].type == "histogram"


def _buckets(spread: Spread) -> list[tuple[str, float]]:
    family = spread.family("x", "x")
    return [(sample.labels["le"], sample.value) for sample in family.samples if sample.name.endswith("_bucket")]
