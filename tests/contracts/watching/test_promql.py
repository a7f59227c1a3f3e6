"""What a dashboard or an alert names and nobody has is found, each kind of it."""

from __future__ import annotations

import pytest

from tests.contracts.watching.promql import Astray, Known


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("sum(snatch_engine_heartbeats_total)", "nobody has a metric snatch_engine_heartbeats_total"),
        ("snatch_engine_append_seconds", "nobody has a metric snatch_engine_append_seconds"),
        ("snatch:moves:rate7m", "nobody has a metric snatch:moves:rate7m"),
        ('snatch_gateway_seats{room="KWXYZ"}', "snatch_gateway_seats has no label room"),
        ("sum by (reason) (rate(snatch_engine_moves_total[1m]))", "sum has no label reason"),
        ('snatch_engine_tables{phase="lively"}', "snatch_engine_tables never has phase lively"),
        ('snatch_engine_moves_total{result=~"done|undone"}', "snatch_engine_moves_total never has result undone"),
        ('up{job="lobby"}', "up never has job lobby"),
        (
            "histogram_quantile(0.9, sum by (job) (rate(snatch_engine_append_seconds_bucket[1m])))",
            "histogram_quantile has no label le",
        ),
        ("snatch_engine_tables_quiet / sum(snatch_engine_tables)", "finds no pairs"),
        ("sum(snatch_bots_seats) / on (job) sum(snatch_bots_capacity)", "/ has no label job"),
        ("sum by (phase) (snatch:tables_live:sum)", "sum has no label phase"),
    ],
)
def test_what_nobody_tells_is_found(known: Known, query: str, why: str) -> None:
    with pytest.raises(Astray) as astray:
        known.labels_of(query)
    assert why in str(astray.value)


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("sum(rate(snatch_engine_records_total[1m]))", set()),
        ("sum by (game, end) (rate(snatch_engine_hands_total[1m]))", {"game", "end"}),
        ("snatch_gateway_seats", {"job", "instance"}),
        ('absent(up{job="engine"})', {"job"}),
        ("histogram_quantile(0.9, rate(snatch_event_loop_lag_seconds_bucket[1m]))", {"job", "instance"}),
        ("job:snatch_cpu:rate5m * 2 > 1", {"job"}),
        ('sum by (why) (snatch_bots_let_go_total) or on () label_replace(vector(0), "why", "none", "", "")', {"why"}),
    ],
)
def test_a_query_that_is_right_says_by_what_its_series_differ(known: Known, query: str, labels: set[str]) -> None:
    assert known.labels_of(query) == labels
