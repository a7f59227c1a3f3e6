"""All that is asked of Prometheus, out of the files that Grafana and Prometheus read."""

from __future__ import annotations

import json
from pathlib import Path

from stack import queries
from stack.queries import Query


def test_a_dashboards_queries_are_told_by_panel_also_of_a_row_that_is_folded(tmp_path: Path) -> None:
    shown = {"title": "Moves", "targets": [{"expr": "sum(rate(a[$__rate_interval]))"}, {"expr": "b", "refId": "B"}]}
    folded = {"title": "More", "type": "row", "panels": [{"title": "Price", "targets": [{"expr": "c * $price"}]}]}
    (tmp_path / "one.json").write_text(json.dumps({"title": "One", "panels": [shown, folded]}))
    assert list(queries.of_dashboards(tmp_path)) == [
        Query("one.json: Moves", "panel", "sum(rate(a[1m]))"),
        Query("one.json: Moves", "panel", "b"),
        Query("one.json: Price", "panel", "c * 0.04"),
    ]


def test_a_rules_query_says_whether_it_is_to_find_anything(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text(
        "groups:\n- name: all\n  rules:\n  - {record: 'a:b', expr: sum(a)}\n  - {alert: Ill, expr: a > 1, for: 1m}\n"
    )
    assert list(queries.of_rules(tmp_path)) == [
        Query("rules.yml: a:b", "record", "sum(a)"),
        Query("rules.yml: Ill", "alert", "a > 1"),
    ]


def test_all_that_is_in_the_repository_is_told() -> None:
    kinds = [query.kind for query in queries.every()]
    assert min(kinds.count("panel"), kinds.count("record"), kinds.count("alert")) > 20
