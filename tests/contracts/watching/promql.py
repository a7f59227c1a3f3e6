"""What a query names, held against what there is: the labels of its result, or the first thing that is astray.

The catalogue says which labels each metric has and which values each may have; a recorded
series has those that its own rule leaves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import promql_parser as ast
from promql_parser import AggModifierType, LabelModifierType, MatchOp

from stack import queries
from stack.metrics_table import catalogue

TARGET = frozenset({"job", "instance"})
"""What Prometheus adds to all that it scrapes."""
JOBS = ("gateway", "rooms", "engine", "bots", "watch", "proxy", "prometheus")
ITS_OWN: Mapping[str, frozenset[str]] = {
    "up": TARGET,
    "ALERTS": TARGET | {"alertname", "alertstate", "severity", "objective"},
    "prometheus_rule_evaluation_failures_total": TARGET | {"rule_group"},
    "caddy_http_requests_in_flight": TARGET | {"handler", "server"},
    "caddy_http_requests_total": TARGET | {"handler", "server"},
    "caddy_http_request_errors_total": TARGET | {"handler", "server"},
}
"""Of Prometheus itself and of the proxy, as far as they are asked for."""
FREE = ("build", "commit")
"""Labels whose values a release brings."""


class Astray(Exception):
    """A query asks for what nobody tells."""


class Known:
    """All that may be asked for."""

    def __init__(self) -> None:
        self._labels: dict[str, frozenset[str]] = dict(ITS_OWN)
        self._values: dict[tuple[str, str], frozenset[str]] = {}
        for entry in catalogue().values():
            for name in entry.series:
                self._labels[name] = TARGET | entry.labels | ({"le"} if name.endswith("_bucket") else frozenset())
                for label, values in entry.declared.labels.items():
                    if values and label not in FREE:
                        self._values[name, label] = frozenset(values)
        self._recorded = {q.where.split(": ")[1]: q.expr for q in queries.of_rules() if q.kind == "record"}

    def labels_of(self, query: str) -> frozenset[str]:
        """Of a query's result.  Raises Astray."""
        return self._of(ast.parse(query))

    def _of(self, node: ast.Expr) -> frozenset[str]:
        match node:
            case ast.VectorSelector():
                return self._selected(node)
            case ast.MatrixSelector():
                return self._selected(node.vector_selector)
            case ast.ParenExpr() | ast.SubqueryExpr() | ast.UnaryExpr():
                return self._of(node.expr)
            case ast.AggregateExpr():
                return self._aggregated(node)
            case ast.BinaryExpr():
                return self._joined(node)
            case ast.Call():
                return self._called(node)
        return frozenset()

    def _selected(self, node: ast.VectorSelector) -> frozenset[str]:
        name = node.name
        if name is None:
            raise Astray("a selector without a metric")
        if name in self._recorded:
            labels = self.labels_of(self._recorded[name])
        elif name in self._labels:
            labels = self._labels[name]
        else:
            raise Astray(f"nobody has a metric {name}")
        for matcher in node.matchers.matchers:
            need(frozenset({matcher.name}), labels, name)
            values = frozenset(JOBS) if matcher.name == "job" else self._values.get((name, matcher.name))
            asked = matcher.value.split("|") if matcher.op in (MatchOp.Re, MatchOp.NotRe) else [matcher.value]
            if values is not None and not set(asked) <= values:
                raise Astray(f"{name} never has {matcher.name} {', '.join(set(asked) - values)}")
        return labels

    def _aggregated(self, node: ast.AggregateExpr) -> frozenset[str]:
        labels = self._of(node.expr)
        if node.modifier is None:
            return labels if str(node.op) in ("topk", "bottomk") else frozenset()
        kept = frozenset(node.modifier.labels)
        need(kept, labels, str(node.op))
        return labels - kept if node.modifier.type == AggModifierType.Without else kept

    def _joined(self, node: ast.BinaryExpr) -> frozenset[str]:
        left, right = self._of(node.lhs), self._of(node.rhs)
        if isinstance(node.lhs, ast.NumberLiteral):
            return right
        if isinstance(node.rhs, ast.NumberLiteral):
            return left
        matching = node.modifier.matching if node.modifier is not None else None
        operation = str(node.op)
        if operation == "or":
            return left | right
        if matching is None:
            if left != right:
                raise Astray(f"{operation} of series by {sorted(left)} and by {sorted(right)} finds no pairs")
            return left
        on = frozenset(matching.labels)
        need(on, left & right, operation)
        if operation in ("and", "unless"):
            return left
        return on if matching.type == LabelModifierType.Include else left - on

    def _called(self, node: ast.Call) -> frozenset[str]:
        name, given = node.func.name, [self._of(argument) for argument in node.args]
        labels = frozenset[str]().union(*given)
        match name:
            case "absent":
                (selector,) = node.args
                return frozenset(m.name for m in selector.matchers.matchers if m.op == MatchOp.Equal)
            case "histogram_quantile":
                need(frozenset({"le"}), labels, name)
                return labels - {"le"}
            case "label_replace":
                return labels | {node.args[1].val}
            case "vector" | "scalar":
                return frozenset()
        return labels


def need(wanted: frozenset[str], there: frozenset[str], where: str) -> None:
    if not wanted <= there:
        raise Astray(f"{where} has no label {', '.join(sorted(wanted - there))}")


def in_words(text: str) -> frozenset[str]:
    """The labels that a legend or an annotation writes out."""
    return frozenset(re.findall(r"{{\s*(?:\$labels\.)?(\w+)\s*}}", text))
