"""Series over time as one SVG of small charts, drawn here: some 200 points a line keep it small enough to commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from simulate.soak_verdict import in_bytes, shown

POINTS = 160
"""Of one line: more are merged, each by its highest, so that no peak is hidden."""
WIDE, HIGH = 460, 210
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 46, 26
COLOURS = ("#2563ab", "#c2571a", "#3f8f3a", "#8a4fb0", "#b5306a", "#7a6a2f", "#23848c", "#5c5c5c", "#d08700", "#4b57c9")
STYLE = """\
text{font:11px system-ui,sans-serif;fill:#444}.t{font-size:14px;font-weight:600;fill:#111}.h{font-size:17px;\
font-weight:600;fill:#111}.g{stroke:#ddd;stroke-width:1}.w{fill:#000;opacity:.05}polyline{fill:none;stroke-width:1.5}\
"""


@dataclass(frozen=True)
class Chart:
    """One of the small charts: all series that begin with one of these."""

    title: str
    series: tuple[str, ...]


CHARTS = (
    Chart("Memory of each process", ("memory/",)),
    Chart("Open files of each process", ("files/",)),
    Chart("The log", ("log/bytes",)),
    Chart("Records in the log", ("log/messages", "placement/messages")),
    Chart("Disk", ("disk/",)),
    Chart("Redis: memory", ("redis/bytes",)),
    Chart("Redis: keys", ("redis/keys",)),
    Chart("NATS", ("nats/subscriptions", "nats/connections", "nats/consumers")),
    Chart("Tables, sockets, bots", ("tables/", "sockets/", "seats/")),
    Chart("Rooms heard, partitions' queues", ("heard/", "queue/")),
)


def svg(title: str, times: Sequence[float], series: Mapping[str, Sequence[float]], marks: Sequence[float]) -> str:
    """All charts, two beside each other.  `times` in seconds; what lies between `marks` is what is judged."""
    charts = [(chart, {n: v for n, v in series.items() if n.startswith(chart.series)}) for chart in CHARTS]
    charts = [(chart, lines) for chart, lines in charts if lines]
    rows = -(-len(charts) // 2)
    width, height = 2 * WIDE + 20, rows * HIGH + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
        f'<text class="h" x="14" y="28">{escape(title)}</text>',
    ]
    for number, (chart, lines) in enumerate(charts):
        x, y = 10 + (number % 2) * WIDE, 40 + (number // 2) * HIGH
        parts.append(f'<g transform="translate({x} {y})">{_chart(chart, times, lines, marks)}</g>')
    return "\n".join([*parts, "</svg>", ""])


def _chart(chart: Chart, times: Sequence[float], lines: Mapping[str, Sequence[float]], marks: Sequence[float]) -> str:
    end = max(times[-1], 1.0) if times else 1.0
    top = _round_up(max((max(v) for v in lines.values() if v), default=1.0), in_bytes(next(iter(lines))))
    across, up = WIDE - LEFT - RIGHT, HIGH - TOP - BOTTOM

    def at(t: float, v: float) -> tuple[int, int]:
        return round(LEFT + across * t / end), round(HIGH - BOTTOM - up * v / top)

    out = [f'<text class="t" x="{LEFT}" y="14">{escape(chart.title)}</text>']
    for begin, stop in zip(marks[::2], marks[1::2], strict=True):
        left, right = at(begin, 0)[0], at(stop, 0)[0]
        out.append(f'<rect class="w" x="{left}" y="{TOP}" width="{right - left}" height="{up}"/>')
    for share in (0, 0.5, 1):
        y = at(0, top * share)[1]
        label = shown(next(iter(lines)), top * share)
        out.append(f'<path class="g" d="M{LEFT} {y}H{WIDE - RIGHT}"/>')
        out.append(f'<text x="{LEFT - 5}" y="{y + 4}" text-anchor="end">{label}</text>')
    for minutes in _ticks(end / 60):
        out.append(f'<text x="{at(minutes * 60, 0)[0]}" y="{HIGH - 10}" text-anchor="middle">{minutes:g} min</text>')
    x, y = LEFT, 27
    for number, (name, values) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join("{},{}".format(*at(t, v)) for t, v in _thinned(times, values))
        out.append(f'<polyline stroke="{colour}" points="{points}"/>')
        label = name.partition("/")[2] if name.startswith(("memory/", "files/", "disk/")) else name.replace("/", " ")
        if x + 6 * len(label) + 14 > WIDE:
            x, y = LEFT, y + 12
        out.append(f'<text x="{x}" y="{y}" style="fill:{colour}">{escape(label)}</text>')
        x += round(5.6 * len(label)) + 12
    return "".join(out)


def _thinned(times: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    step = max(1, -(-len(values) // POINTS))
    return [(times[i], max(values[i : i + step])) for i in range(0, len(values), step)]


def _round_up(value: float, as_bytes: bool) -> float:
    """To a top of the axis that reads well."""
    unit = 1.0
    if as_bytes:
        unit = 1024.0 * 1024.0 if value > 200 * 1024 else 1024.0
    scale = 1.0
    while scale * 10 <= value / unit:
        scale *= 10
    return next(m * scale * unit for m in (1, 2, 4, 6, 8, 10) if m * scale * unit >= value or m == 10)


def _ticks(minutes: float) -> list[float]:
    step = next((s for s in (0.25, 0.5, 1, 2, 5, 10, 30) if minutes / s <= 7), 60.0)
    return [n * step for n in range(int(minutes / step) + 1)]
