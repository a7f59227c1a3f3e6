"""docs/metrics.md: every metric of every service, read off what each declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prometheus_client import CollectorRegistry

from servicekit.meters import Declared, Meters, Registry
from servicekit.process_metrics import ProcessMetrics
from services.bots.metrics import BotsMetrics
from services.engine.metrics import EngineMetrics
from services.gateway.metrics import GatewayMetrics
from services.rooms.metrics import RoomsMetrics
from services.watch.metrics import WatchMetrics

HEAD = """\
# Metrics

What each process says at `/metrics` of its operations port, in Prometheus' format. This table is written by
`make metrics`; a test holds dashboards and alerts to it.

Labels are bounded: each has the values named here, and `other` for whatever comes that is none of them. No room, no
player, no address is ever one. Every series is there from the start, at 0. Which process it is, is said by the labels
that Prometheus adds: `job`, `instance`. A histogram is there as `…_bucket`, `…_sum` and `…_count`.

The names are a promise like the protocol's: within a version none is taken away or made to mean something else.
"""
KINDS = ("gateway", "rooms", "engine", "bots", "watch")
TITLES = {
    "": ("Every service", "The process, its event loop, and what it hangs on."),
    "gateway": ("Gateway", "Players' sockets, and what their pages report to have felt."),
    "rooms": ("Rooms", "Lobbies, in Redis."),
    "engine": ("Engine", "Tables being played, and their log."),
    "bots": ("Bots", "Seats that nobody sits on."),
    "watch": ("Watch", "TVs' sockets."),
}
MANY = 24
"""Values of a label that are written out."""


class Entry(NamedTuple):
    """A metric, and the services that have it."""

    declared: Declared
    services: frozenset[str]

    def also(self, service: str, declared: Declared) -> Entry:
        """The same metric of another service, with its values of labels besides."""
        labels = {
            label: tuple(dict.fromkeys((*values, *declared.labels[label])))
            for label, values in self.declared.labels.items()
        }
        return Entry(self.declared._replace(labels=labels), self.services | {service})

    @property
    def series(self) -> tuple[str, ...]:
        """The names by which it can be asked for."""
        name = self.declared.name
        return (
            tuple(f"{name}_{s}" for s in ("bucket", "sum", "count")) if self.declared.kind == "histogram" else (name,)
        )

    @property
    def labels(self) -> frozenset[str]:
        """Of its series, `le` of buckets apart."""
        return frozenset(self.declared.labels)


def registries() -> dict[str, CollectorRegistry]:
    """A process of each service, as Prometheus would find it, without anything's being started."""
    made = {
        "gateway": GatewayMetrics().registry,
        "rooms": RoomsMetrics().registry,
        "engine": EngineMetrics().registry,
        "bots": BotsMetrics().registry,
        "watch": WatchMetrics().registry,
    }
    for kind, registry in made.items():
        ProcessMetrics(registry, kind, "a release", "a commit")
    return made


def catalogue() -> dict[str, Entry]:
    """By name, in the order in which they are declared."""
    found: dict[str, Entry] = {}
    for kind, registry in registries().items():
        for declared in _declared(registry):
            known = found.get(declared.name)
            found[declared.name] = Entry(declared, frozenset({kind})) if known is None else known.also(kind, declared)
    return found


def series() -> dict[str, frozenset[str]]:
    """Each name that a query may ask for, and the labels that it may ask by; those apart that Prometheus adds."""
    return {
        name: entry.labels | ({"le"} if name.endswith("_bucket") else frozenset())
        for entry in catalogue().values()
        for name in entry.series
    }


def _declared(registry: CollectorRegistry) -> Iterator[Declared]:
    assert isinstance(registry, Registry)
    for collector in registry.collectors:
        if isinstance(collector, Meters):
            yield from collector.declared
            continue
        for family in collector.collect():  # prometheus_client's own
            name = f"{family.name}_total" if family.type == "counter" else family.name
            labels = sorted({label for sample in family.samples for label in sample.labels})
            yield Declared(name, family.type, family.documentation, dict.fromkeys(labels, ()))


def markdown() -> str:
    entries = catalogue().values()
    parts = [HEAD]
    for kind, (title, text) in TITLES.items():
        own = [e for e in entries if (e.services == {kind} if kind else len(e.services) > 1)]
        parts.append(f"\n## {title}\n{text}\n\n{_table(own)}")
    return "".join(parts)


def _table(entries: Iterable[Entry]) -> str:
    lines = ["| metric | kind | what it is |", "| --- | --- | --- |"]
    for entry in entries:
        _, kind, text, labels = entry.declared
        text = text.rstrip(".") + "."
        said = [text, *(_label(label, values) for label, values in labels.items())]
        if 1 < len(entry.services) < len(KINDS):
            said.append(f"Of {', '.join(k for k in KINDS if k in entry.services)}.")
        lines.append(f"| `{entry.declared.name}` | {kind} | {' '.join(said).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def _label(label: str, values: tuple[str, ...]) -> str:
    if not values:
        return f"By `{label}`."
    if len(values) > MANY:
        return f"By `{label}`: `{values[0]}` to `{values[-1]}`, {len(values)} in all."
    return f"By `{label}`: {', '.join(f'`{value}`' for value in values)}."
