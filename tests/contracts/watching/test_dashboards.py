"""The dashboards of deploy/grafana: Grafana can read them, people can, and each asks for what there is."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import msgspec
import pytest
import yaml

from stack import dashboards, queries
from stack.data import ROOT
from tests.contracts.watching.dashboard import Dashboard, Place, Row, Table, read
from tests.contracts.watching.promql import JOBS, Astray, Known, in_words

FILES = dashboards.files()
GRAFANA = dashboards.FOLDER.parent
ALERTS = {q.where.split(": ")[1] for q in queries.of_rules() if q.kind == "alert"}
TITLES = {"Players", "Engines and the log", "Sockets", "Bots", "Capacity"}


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def file(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def board(file: Path) -> Dashboard:
    return read(file.read_bytes())


def test_there_are_the_five_each_with_an_address_of_its_own() -> None:
    boards = [read(file.read_bytes()) for file in FILES]
    assert {board.title for board in boards} == TITLES
    assert {board.uid for board in boards} == {f"snatch-{file.stem}" for file in FILES}


def test_a_word_that_grafana_does_not_know_is_found(file: Path) -> None:
    text = file.read_bytes()
    with pytest.raises(msgspec.ValidationError, match=r"legendFormt"):
        read(text.replace(b"legendFormat", b"legendFormt", 1))


def test_it_is_in_shape(file: Path) -> None:
    text = file.read_text()
    assert text == dashboards.shaped(json.loads(text)) + "\n", "put it in shape: python -m stack.dashboards"


def test_every_panel_asks_for_metrics_and_labels_that_there_are(board: Dashboard, known: Known) -> None:
    astray = []
    for panel in board.shown():
        for target in panel.targets:
            try:
                labels = known.labels_of(queries.filled(target.expr))
            except Astray as error:
                astray.append(f"{panel.title}: {error}")
                continue
            if not in_words(target.legend_format) <= labels:
                astray.append(f"{panel.title}: its legend wants {target.legend_format} of {sorted(labels)}")
    assert astray == []


def test_every_mark_in_time_is_of_metrics_that_there_are(board: Dashboard, known: Known) -> None:
    for mark in board.annotations.marks:
        assert in_words(mark.title_format + mark.text_format) <= known.labels_of(mark.target.expr), mark.name


def test_every_panel_says_what_it_shows_and_names_no_alert_that_is_none(board: Dashboard) -> None:
    for panel in board.shown():
        assert len(panel.description) > 8, panel.title
        assert set(re.findall(r"(\w+) in the runbook", panel.description)) <= ALERTS, panel.title


def test_titles_and_numbers_are_each_there_once(board: Dashboard) -> None:
    ids = [panel.id for panel in board.panels]
    titles = [panel.title for panel in board.panels]
    assert len(set(ids)) == len(ids)
    assert len(set(titles)) == len(titles)


def test_panels_lie_beside_each_other_and_not_on_each_other(board: Dashboard) -> None:
    for panel in board.panels:
        assert 0 <= panel.grid_pos.x <= panel.grid_pos.x + panel.grid_pos.w <= 24, panel.title
    for one, other in itertools.combinations(board.panels, 2):
        assert not over(one.grid_pos, other.grid_pos), f"{one.title} and {other.title}"
    assert isinstance(board.panels[0], Row)


def over(one: Place, other: Place) -> bool:
    """Whether they share a field of the grid."""
    return (
        one.x < other.x + other.w and other.x < one.x + one.w and one.y < other.y + other.h and other.y < one.y + one.h
    )


def test_queries_use_no_variable_that_is_not_filled_in_when_they_are_run_without_grafana(board: Dashboard) -> None:
    own = {f"${variable.name}" for variable in board.templating.variables if variable.type != "datasource"}
    for panel in board.shown():
        for target in panel.targets:
            assert "$" not in queries.filled(target.expr), panel.title
            assert set(re.findall(r"\$\w+", target.expr)) <= own | {"$__rate_interval", "$__range"}, panel.title


def test_a_rate_is_over_what_grafana_says_or_over_what_the_panel_does(board: Dashboard) -> None:
    for panel in board.shown():
        for target in panel.targets:
            spans = re.findall(r"\[([^]]+)\]", target.expr)
            words = f"{panel.title} {panel.description}"
            told = {"10m": "ten minutes", "15m": "quarter of an hour", "1h": "hour"}
            assert all(span == "$__rate_interval" or told[span] in words for span in spans), panel.title


def test_tables_show_the_present(board: Dashboard) -> None:
    for panel in board.shown():
        for target in panel.targets:
            assert target.instant == (target.format == "table") == isinstance(panel, Table), panel.title


def test_grafana_is_told_of_prometheus_and_where_compose_lays_the_dashboards() -> None:
    source = yaml.safe_load((GRAFANA / "provisioning" / "datasources" / "prometheus.yml").read_text())
    (prometheus,) = source["datasources"]
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert (prometheus["type"], prometheus["isDefault"]) == ("prometheus", True)
    assert prometheus["url"] == "http://prometheus:9090"
    assert "./deploy/grafana:/etc/snatch:ro" in services["grafana"]["volumes"]
    provider = yaml.safe_load((GRAFANA / "provisioning" / "dashboards" / "snatch.yml").read_text())
    assert [each["options"]["path"] for each in provider["providers"]] == ["/etc/snatch/dashboards"]
    told = services["grafana"]["environment"]
    assert told["GF_PATHS_PROVISIONING"] == "/etc/snatch/provisioning"
    assert told["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] == "/etc/snatch/dashboards/players.json"


def test_prometheus_asks_every_service_of_compose_and_reads_the_rules_that_it_is_given() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    asked = yaml.safe_load((queries.RULES.parent / "prometheus.yml").read_text())
    found = {job["job_name"]: job.get("dns_sd_configs") for job in asked["scrape_configs"]}
    assert set(found) == set(JOBS)
    for name, ways in found.items():
        assert name in services
        assert ways is None or [(way["names"], way["port"]) for way in ways] == [([name], 9000)]
    assert "./deploy/prometheus:/etc/prometheus:ro" in services["prometheus"]["volumes"]
    assert asked["rule_files"] == ["rules/*.yml"]
