"""docs/metrics.md says what the services tell Prometheus, and they tell it by Prometheus' conventions."""

from __future__ import annotations

import re

from stack.data import ROOT
from stack.metrics_table import catalogue, markdown, registries, series

UNITS = ("seconds", "bytes", "ratio", "info", "items", "timestamp_seconds")
MOST_SERIES = 400
"""Of one process, by our own declaration: Prometheus keeps each of them in memory."""
UNBOUNDED = {"room", "player", "seat", "session", "address", "name", "table", "id", "url", "path", "user"}


def test_the_table_in_the_docs_is_what_the_services_tell() -> None:
    written = (ROOT / "docs" / "metrics.md").read_text()
    assert written == markdown(), "write it anew: make metrics"


def test_names_are_by_prometheus_conventions() -> None:
    for name, entry in catalogue().items():
        if not name.startswith("snatch_"):
            continue
        kind = entry.declared.kind
        assert re.fullmatch(r"snatch(_[a-z0-9]+)+", name), name
        assert (kind == "counter") == name.endswith("_total"), f"{name}: counters, and they alone, end in _total"
        assert kind != "histogram" or name.endswith(UNITS), f"{name}: a histogram says what its unit is"
        assert not re.search(r"_(ms|milliseconds|micros|kb|mb|minutes|percent)(_|$)", name), f"{name}: base units"
        assert len(entry.services) > 1 or name.startswith(f"snatch_{next(iter(entry.services))}_"), name


def test_every_metric_says_what_it_is_and_every_label_has_bounds() -> None:
    for name, entry in catalogue().items():
        assert len(entry.declared.text) > 5, name
        assert not UNBOUNDED & entry.labels, name
        if name.startswith("snatch_"):
            assert all(entry.declared.labels.values()), f"{name}: a label without values"


def test_each_series_is_there_before_anything_happened_and_they_are_few() -> None:
    promised = series()
    for kind, registry in registries().items():
        samples = [s for family in registry.collect() for s in family.samples if not s.name.endswith("_created")]
        assert {s.name for s in samples} <= set(promised), kind
        assert all(set(s.labels) == promised[s.name] for s in samples), kind
        assert len([s for s in samples if not s.name.endswith("_bucket")]) < MOST_SERIES, kind


def test_what_every_service_has_every_service_has() -> None:
    everywhere = {name for name, entry in catalogue().items() if len(entry.services) == 5}
    wanted = {
        "snatch_build_info",
        "snatch_event_loop_lag_seconds",
        "snatch_nats_connected",
        "process_cpu_seconds_total",
    }
    assert wanted <= everywhere
