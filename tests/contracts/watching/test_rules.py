"""Prometheus' rules: each names what there is, and each alert says where an operator reads on."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from services.gateway.metrics import MOVE_SECONDS
from stack import dashboards, queries
from stack.data import ROOT
from tests.contracts.watching.dashboard import read
from tests.contracts.watching.promql import Known, in_words
from wire.places import PARTITIONS

TEXT = {file.stem: file.read_text() for file in sorted(queries.RULES.glob("*.yml"))}
GROUPS: list[dict[str, Any]] = [group for text in TEXT.values() for group in yaml.safe_load(text)["groups"]]
ALERTS: dict[str, dict[str, Any]] = {
    rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule
}
RECORDS: dict[str, str] = {
    rule["record"]: rule["expr"] for group in GROUPS for rule in group["rules"] if "record" in rule
}
DOC = (ROOT / "docs" / "operations.md").read_text()
CHAPTER = DOC.split("\n## Alerts\n")[-1].split("\n## ")[0]
RUNBOOK = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", CHAPTER, re.MULTILINE | re.DOTALL))
"""The section of each alert."""
CASES = [
    case
    for file in sorted((ROOT / "tests" / "prometheus").glob("*.yml"))
    for test in yaml.safe_load(file.read_text())["tests"]
    for case in test.get("promql_expr_test", [])
]
"""What promtool expects of rules, at one moment each."""


@pytest.mark.parametrize("query", list(queries.of_rules()), ids=lambda query: query.where)
def test_a_rule_asks_for_metrics_and_labels_that_there_are(known: Known, query: queries.Query) -> None:
    known.labels_of(query.expr)


def test_names_of_rules_and_groups_are_each_there_once() -> None:
    names = [rule.get("alert") or rule["record"] for group in GROUPS for rule in group["rules"]]
    assert len(set(names)) == len(names)
    assert len({group["name"] for group in GROUPS}) == len(GROUPS)


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_how_bad_it_is_what_is_the_matter_and_where_to_read_on(known: Known, name: str) -> None:
    rule = ALERTS[name]
    assert rule["labels"]["severity"] in ("page", "ticket", "none")
    assert set(rule["annotations"]) == {"summary", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"{{{{ $externalLabels.runbooks }}}}docs/operations.md#{name.lower()}"
    written = in_words(rule["annotations"]["summary"]) - {"value"}
    assert written <= known.labels_of(rule["expr"]) | set(rule["labels"])


@pytest.mark.parametrize("name", ALERTS)
def test_the_runbook_says_of_an_alert_what_it_means_what_players_see_and_what_to_do(name: str) -> None:
    section = RUNBOOK[name]
    for part in ("**Means:**", "**Players see:**", "**Do:**"):
        assert part in section


def test_the_runbook_names_settings_that_there_are() -> None:
    settings = (ROOT / "docs" / "settings.md").read_text()
    assert [name for name in set(re.findall(r"SNATCH_[A-Z_]+", CHAPTER)) if f"`{name}`" not in settings] == []


def test_the_runbook_names_panels_that_there_are() -> None:
    boards = [read(file.read_bytes()) for file in dashboards.files()]
    titles = {board.title.split()[0]: [panel.title for panel in board.panels] for board in boards}
    named = re.findall(rf"\*({'|'.join(titles)})\*, (“[^”]+”(?: and “[^”]+”)*)", DOC)
    assert len(named) > 10
    for board, quoted in named:
        for panel in re.findall(r"“([^”]+)”", quoted):
            assert any(title.startswith(panel) for title in titles[board]), f"{board} has no “{panel}”"


def test_the_runbook_has_no_section_of_an_alert_that_is_none() -> None:
    assert set(RUNBOOK) == set(ALERTS)


@pytest.mark.parametrize("name", [name for name, rule in ALERTS.items() if rule["labels"]["severity"] != "none"])
def test_an_alert_is_seen_to_speak_and_to_be_silent(name: str) -> None:
    """In tests/prometheus, which promtool runs."""
    about = [case for case in CASES if re.search(selected(name), case["expr"])]
    assert [case for case in about if case["exp_samples"] == []], "nothing tests that it is silent"
    speaking = [case["expr"] + str(case["exp_samples"]) for case in about if case["exp_samples"]]
    assert [text for text in speaking if f'alertname="{name}"' in text and 'alertstate="firing"' in text]


def selected(name: str) -> str:
    """How a case asks for an alert: by its name, or by the beginning of it."""
    begun = "|".join(f'"{re.escape(name[:n])}\\.\\*"' for n in range(4, len(name)))
    return f'alertname(="{name}"|=~({begun}))'


def test_what_is_worked_out_once_is_used() -> None:
    used = " ".join(query.expr for query in queries.every())
    assert [name for name in RECORDS if not re.search(rf"{re.escape(name)}(?![\w:])", used)] == []


def test_a_window_in_a_name_is_the_window_in_the_rule() -> None:
    for name, expr in RECORDS.items():
        window = re.search(r"(\d+[smhd])$", name)
        if window and "[" in expr:
            assert set(re.findall(r"\[(\w+)\]", expr)) == {window[1]}, name


def test_numbers_in_rules_are_those_of_the_code() -> None:
    assert PARTITIONS == 64
    assert "snatch:partitions_open:sum < 64" in ALERTS["PartitionsUnserved"]["expr"]
    assert RECORDS["snatch:claims:per_partition_15m"].endswith("/ 64")
    assert 0.1 in MOVE_SECONDS


def test_each_promise_is_watched_by_windows_that_use_it_up_at_the_same_pace() -> None:
    """14.4 times: a thirtieth of a month's allowance in an hour and so on; each ratio next to its own allowance."""
    for promise, allowed in (("moves_slow", "0.001"), ("hands_lost", "0.0005")):
        watching = [
            rule["expr"] for rule in ALERTS.values() if promise.startswith(rule["labels"].get("objective", "-"))
        ]
        limits = rf"snatch:{promise}:ratio_rate(\w+) > ([\d. *]+?)(?=[ )]*(?:\)|and|$))"
        found = [limit for expr in watching for limit in re.findall(limits, expr)]
        assert [(window, limit.strip()) for window, limit in found] == [
            ("1h", f"14.4 * {allowed}"),
            ("5m", f"14.4 * {allowed}"),
            ("6h", f"6 * {allowed}"),
            ("30m", f"6 * {allowed}"),
            ("1d", f"3 * {allowed}"),
            ("2h", f"3 * {allowed}"),
            ("3d", allowed),
            ("6h", allowed),
        ]
