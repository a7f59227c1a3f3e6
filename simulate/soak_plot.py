"""Which of a soak's series stand in which chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulate.plot import Band, Chart, Line, sheet
from simulate.plot_axis import BYTES, NUMBER
from simulate.soak_verdict import in_bytes

CHARTS = {
    "Memory of each process": ("memory/",),
    "Open files of each process": ("files/",),
    "The log": ("log/bytes",),
    "Records in the log": ("log/messages", "placement/messages"),
    "Disk": ("disk/",),
    "Redis: memory": ("redis/bytes",),
    "Redis: keys": ("redis/keys",),
    "NATS": ("nats/subscriptions", "nats/connections", "nats/consumers"),
    "Tables, sockets, bots": ("tables/", "sockets/", "seats/"),
    "Rooms heard, partitions' queues": ("heard/", "queue/"),
}
"""Each holds all series that begin with one of these."""
BY_PART = ("memory/", "files/", "disk/")
"""Named by the part alone: what they are of is the chart's title."""


def svg(title: str, times: Sequence[float], series: Mapping[str, Sequence[float]], marks: Sequence[float]) -> str:
    """All charts, two beside each other.  `times` in seconds; what lies between `marks` is what is judged."""
    bands = [Band(begin, end, "judged") for begin, end in zip(marks[::2], marks[1::2], strict=True)]
    charts = []
    for name, begins in CHARTS.items():
        found = {s: values for s, values in series.items() if s.startswith(begins)}
        if found:
            lines = [Line(_named(s), values) for s, values in found.items()]
            charts.append(Chart(name, BYTES if in_bytes(next(iter(found))) else NUMBER, times, lines, bands=bands))
    return sheet(title, charts)


def _named(series: str) -> str:
    return series.partition("/")[2] if series.startswith(BY_PART) else series.replace("/", " ")
