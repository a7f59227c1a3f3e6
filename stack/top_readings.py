"""What processes said of themselves, and what follows from two times of it: levels, rates, quantiles.

`snatch top` reads the same metrics as Prometheus does (docs/metrics.md), and does with them what
`rate` and `histogram_quantile` do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families


class Process(NamedTuple):
    """One of many: `kind` is a service's name, or `nats`, `valkey`."""

    kind: str
    name: str


class Series(NamedTuple):
    """A value by its labels; those apart that say which process it is of."""

    labels: Mapping[str, str]
    value: float


Said = dict[str, list[Series]]
"""Series by name, as they are scraped: `…_total`, `…_bucket`."""


@dataclass
class Reading:
    """All of them at one time, in seconds of any clock; `silent`: who says nothing, and why."""

    at: float
    said: dict[Process, Said] = field(default_factory=dict)
    silent: dict[Process, str] = field(default_factory=dict)


def parsed(text: str) -> Said:
    """What `/metrics` answers.  Raises ValueError when it is something else."""
    said: Said = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            said.setdefault(sample.name, []).append(Series(sample.labels, sample.value))
    return said


class Between:
    """Two readings, `before` and `now`; rates are a second's mean of the time between."""

    def __init__(self, before: Reading, now: Reading) -> None:
        self._before, self.now = before, now
        self.seconds = now.at - before.at
        """0: there is one reading only, and no rate is known."""

    def levels(self, name: str, process: Process | None = None, **labels: str) -> list[float]:
        """The values of now, of all processes or one."""
        return [s.value for said in _of(self.now, process) for s in said.get(name, ()) if _has(s, labels)]

    def level(self, name: str, process: Process | None = None, **labels: str) -> float:
        return sum(self.levels(name, process, **labels))

    def rate(self, name: str, process: Process | None = None, **labels: str) -> float:
        """Of counters.  A process that began since counts from 0."""
        return math.fsum(self._grown(name, process, labels).values())

    def rates(self, name: str, label: str, **labels: str) -> dict[str, float]:
        """By the values of a label; the largest first, none that is 0."""
        found: dict[str, float] = {}
        for (_, key), rate in self._grown(name, None, labels).items():
            value = dict(key).get(label, "")
            found[value] = found.get(value, 0.0) + rate
        return dict(sorted(((v, r) for v, r in found.items() if r > 0), key=lambda item: -item[1]))

    def quantile(self, q: float, name: str, process: Process | None = None, **labels: str) -> float | None:
        """Of a histogram, by what was observed in between; None: nothing was.

        As Prometheus' `histogram_quantile`: evenly within a bucket; beyond the last bound, that bound.
        """
        by_bound: dict[float, float] = {}
        for (_, key), rate in self._grown(f"{name}_bucket", process, labels).items():
            bound = float(dict(key)["le"])
            by_bound[bound] = by_bound.get(bound, 0.0) + rate
        bounds = sorted(by_bound)
        total = by_bound[bounds[-1]] if bounds else 0.0
        if total <= 0:
            return None
        rank, below, count = q * total, 0.0, 0.0
        for bound in bounds:
            if by_bound[bound] >= rank:
                if math.isinf(bound):
                    return below
                within = by_bound[bound] - count
                return below + (bound - below) * ((rank - count) / within if within > 0 else 1.0)
            below, count = bound, by_bound[bound]
        return below

    def share_within(self, bound: float, name: str) -> float | None:
        """Of what a histogram observed, the share of at most `bound`, one of its own; None: nothing was."""
        total = self.rate(f"{name}_count")
        return self.rate(f"{name}_bucket", le=str(bound)) / total if total > 0 else None

    def _grown(
        self, name: str, process: Process | None, labels: Mapping[str, str]
    ) -> dict[tuple[Process, frozenset[tuple[str, str]]], float]:
        """A second's growth, by process and series."""
        if self.seconds <= 0:
            return {}
        found = {}
        for who, said in self.now.said.items():
            if process is not None and who != process:
                continue
            was = {frozenset(s.labels.items()): s.value for s in self._before.said.get(who, {}).get(name, ())}
            for s in said.get(name, ()):
                if _has(s, labels):
                    key = frozenset(s.labels.items())
                    before = was.get(key, 0.0 if self._began_since(who) else s.value)
                    found[who, key] = (s.value - before if s.value >= before else s.value) / self.seconds
        return found

    def _began_since(self, process: Process) -> bool:
        """It was not there before, though others were: what it counts is of the time between."""
        return process not in self._before.said and bool(self._before.said)


def _of(reading: Reading, process: Process | None) -> Iterable[Said]:
    return reading.said.values() if process is None else [reading.said.get(process, {})]


def _has(series: Series, labels: Mapping[str, str]) -> bool:
    return all(series.labels.get(label) == value for label, value in labels.items())
