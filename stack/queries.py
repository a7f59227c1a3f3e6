"""Every query of the dashboards and of Prometheus' rules: to be looked through, or run against what is measured.

for query in queries.every():
    print(query.where, query.expr)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import yaml

from stack.data import ROOT

DASHBOARDS = ROOT / "deploy" / "grafana" / "dashboards"
RULES = ROOT / "deploy" / "prometheus" / "rules"
FILLED = {"$__rate_interval": "1m", "$__range": "5m", "$price": "0.04"}
"""What Grafana puts into a query for its own variables and ours: as it would for the last five minutes."""

Kind = Literal["panel", "record", "alert"]


class Query(NamedTuple):
    where: str
    """The file's name, and the panel or the rule in it: for people."""
    kind: Kind
    """`alert`: finds nothing while all is well."""
    expr: str
    """PromQL, Grafana's variables filled in."""


class _Target(msgspec.Struct):
    expr: str


class _Panel(msgspec.Struct):
    title: str = ""
    targets: list[_Target] = []
    panels: list[_Panel] = []
    """Of a row that is folded."""


class _Dashboard(msgspec.Struct):
    panels: list[_Panel]


class _Rule(msgspec.Struct):
    expr: str
    record: str = ""
    alert: str = ""


class _Group(msgspec.Struct):
    rules: list[_Rule]


class _Groups(msgspec.Struct):
    groups: list[_Group]


def every() -> list[Query]:
    return [*of_dashboards(), *of_rules()]


def of_dashboards(folder: Path = DASHBOARDS) -> Iterator[Query]:
    for file in sorted(folder.glob("*.json")):
        for panel in _unfolded(msgspec.json.decode(file.read_bytes(), type=_Dashboard).panels):
            for target in panel.targets:
                yield Query(f"{file.name}: {panel.title}", "panel", filled(target.expr))


def of_rules(folder: Path = RULES) -> Iterator[Query]:
    for file in sorted(folder.glob("*.yml")):
        for group in msgspec.convert(yaml.safe_load(file.read_text()), _Groups).groups:
            for rule in group.rules:
                kind: Kind = "alert" if rule.alert else "record"
                yield Query(f"{file.name}: {rule.alert or rule.record}", kind, rule.expr)


def filled(expr: str) -> str:
    """As Grafana sends it.

    >>> filled("sum(rate(snatch_engine_records_total[$__rate_interval]))")
    'sum(rate(snatch_engine_records_total[1m]))'
    """
    for variable, value in FILLED.items():
        expr = expr.replace(variable, value)
    return expr


def _unfolded(panels: list[_Panel]) -> Iterator[_Panel]:
    for panel in panels:
        yield panel
        yield from _unfolded(panel.panels)
