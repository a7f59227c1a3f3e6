"""Metrics as plain numbers: declared in one place, counted without a lock, made Prometheus' when they are scraped.

What happens thousands of times a second can't pay for prometheus_client's own counters,
which take a lock each time.  All that is said here of a metric is said when the process
starts: its labels and every value that they may have, so that no series can be without
bound, and each is there, at 0, before the first thing is counted.

Only the event loop's thread counts, and only it is asked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, product
from typing import NamedTuple, TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of buckets for what takes time."""
OTHER = "other"
"""A label's value for all that was not declared."""

Key = tuple[str, ...]


class Declared(NamedTuple):
    """A metric as the catalogue has it; `name` as it is scraped, a histogram's without `_bucket`."""

    name: str
    kind: str
    text: str
    labels: Mapping[str, Key]
    """Each label's values, `other` not among them."""


def told(labels: Mapping[str, Key], values: Mapping[Key, float], *, always: bool = True) -> dict[Key, float]:
    """Every series of such labels.  What was not declared is added up as `other`."""
    found: dict[Key, float] = dict.fromkeys(product(*labels.values()), 0.0) if always else {}
    for key, value in values.items():
        key = key if key in found else _declared(key, labels)
        found[key] = found.get(key, 0.0) + value
    return found


def _declared(key: Key, labels: Mapping[str, Key]) -> Key:
    return tuple(v if v in known else OTHER for v, known in zip(key, labels.values(), strict=True))


class Count:
    """How often something happened: add to `value`."""

    __slots__ = ("read", "value")

    def __init__(self) -> None:
        self.value = 0.0
        self.read: Callable[[], float] | None = None
        """Asked instead, where something else counts already."""


class Counts:
    """The same by labels' values."""

    __slots__ = ("_by", "_labels", "read")

    def __init__(self, labels: Mapping[str, Key]) -> None:
        self._labels = labels
        self._by = told(labels, {})
        self.read: Callable[[], Mapping[Key, float]] | None = None
        """Asked instead, where something else counts already."""

    def add(self, *key: str, by: float = 1) -> None:
        """`key`: a value of each label, in their order; one that was not declared counts as `other`."""
        try:
            self._by[key] += by
        except KeyError:
            key = _declared(key, self._labels)
            self._by[key] = self._by.get(key, 0.0) + by

    def items(self) -> Iterable[tuple[Key, float]]:
        return (self._by if self.read is None else told(self._labels, self.read())).items()


class Level:
    """What is now: set `value`, or have `read` asked at each scrape."""

    __slots__ = ("read", "value")

    def __init__(self) -> None:
        self.value = 0.0
        self.read: Callable[[], float] | None = None


class Levels:
    """The same by labels' values; `read` says those that are not 0."""

    __slots__ = ("_always", "_labels", "read")

    def __init__(self, labels: Mapping[str, Key], *, always: bool = True) -> None:
        """`always`: what `read` doesn't tell is 0, else it is not there."""
        self._labels, self._always = labels, always
        self.read: Callable[[], Mapping[Key, float]] = dict

    def items(self) -> Iterable[tuple[Key, float]]:
        return told(self._labels, self.read(), always=self._always).items()


class Spread:
    """Observations, counted by bucket."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def buckets(self) -> list[tuple[str, float]]:
        """As Prometheus has them: what is at most each bound, and all."""
        names = [*(str(float(bound)) for bound in self.bounds), "+Inf"]
        return [(name, float(n)) for name, n in zip(names, accumulate(self.counts), strict=True)]


class Spreads:
    """The same by one label's values."""

    __slots__ = ("_bounds", "_by")

    def __init__(self, values: Key, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._by = {value: Spread(bounds) for value in values}

    def of(self, value: str) -> Spread:
        found = self._by.get(value)
        if found is None:
            found = self._by.setdefault(OTHER, Spread(self._bounds))
        return found

    def items(self) -> Iterable[tuple[str, Spread]]:
        return self._by.items()


Instrument = Count | Counts | Level | Levels | Spread | Spreads
Made = TypeVar("Made", bound=Instrument)


class Registry(CollectorRegistry):
    """One that can be asked what is in it, and in which no name of `Meters` is twice."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []
        self._taken: set[str] = set()

    def take(self, name: str) -> None:
        """Raises ValueError when there is one of that name."""
        if name in self._taken:
            raise ValueError(f"{name} is declared twice")
        self._taken.add(name)

    def register(self, collector: Collector) -> None:
        super().register(collector)
        self.collectors.append(collector)


class Meters(Collector):
    """Metrics of a process whose names begin with `prefix`."""

    def __init__(self, prefix: str, registry: CollectorRegistry | None = None) -> None:
        """Registers itself; without a `registry`, at one of its own."""
        self.prefix = prefix
        self.registry: CollectorRegistry = registry if registry is not None else Registry()
        self.declared: list[Declared] = []
        self._made: list[tuple[Declared, Instrument]] = []
        self.registry.register(self)

    def count(self, name: str, text: str) -> Count:
        """A counter; `_total` is added to its name."""
        return self._make(f"{name}_total", "counter", text, {}, Count())

    def counts(self, name: str, text: str, **labels: Iterable[str]) -> Counts:
        known = {label: tuple(values) for label, values in labels.items()}
        return self._make(f"{name}_total", "counter", text, known, Counts(known))

    def level(self, name: str, text: str, read: Callable[[], float] | None = None) -> Level:
        """A gauge."""
        level = self._make(name, "gauge", text, {}, Level())
        level.read = read
        return level

    def levels(self, name: str, text: str, *, always: bool = True, **labels: Iterable[str]) -> Levels:
        known = {label: tuple(values) for label, values in labels.items()}
        return self._make(name, "gauge", text, known, Levels(known, always=always))

    def spread(self, name: str, text: str, bounds: tuple[float, ...] = SECONDS) -> Spread:
        """A histogram."""
        return self._make(name, "histogram", text, {}, Spread(bounds))

    def spreads(
        self, name: str, text: str, label: str, values: Iterable[str], bounds: tuple[float, ...] = SECONDS
    ) -> Spreads:
        known = tuple(values)
        return self._make(name, "histogram", text, {label: known}, Spreads(known, bounds))

    def _make(self, name: str, kind: str, text: str, labels: Mapping[str, Key], made: Made) -> Made:
        declared = Declared(f"{self.prefix}_{name}", kind, text, labels)
        if isinstance(self.registry, Registry):
            self.registry.take(declared.name)
        self.declared.append(declared)
        self._made.append((declared, made))
        return made

    def collect(self) -> Iterator[Metric]:
        for declared, made in self._made:
            yield _family(declared, made)


def _family(declared: Declared, made: Instrument) -> Metric:
    name, _, text, labels = declared
    match made:
        case Count():
            return CounterMetricFamily(name, text, made.value if made.read is None else made.read())
        case Level():
            return GaugeMetricFamily(name, text, made.value if made.read is None else made.read())
        case Spread():
            return HistogramMetricFamily(name, text, made.buckets(), made.sum)
        case Spreads():
            spreads = HistogramMetricFamily(name, text, labels=list(labels))
            for value, spread in made.items():
                spreads.add_metric([value], spread.buckets(), spread.sum)
            return spreads
        case Counts() | Levels():
            family = (CounterMetricFamily if isinstance(made, Counts) else GaugeMetricFamily)(
                name, text, labels=list(labels)
            )
            for key, number in made.items():
                family.add_metric(key, number)
            return family
