"""Lines over time, or over anything else, as SVG: one chart for a page, or a sheet of them for a file.

Drawn here, so that a report opens anywhere, offline.  Colours are CSS variables: a page says what
they are in light and dark, a sheet has both inside.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from simulate.plot_axis import MINUTES, MINUTES_FROM, TIME, Unit, log_ticks, ticks, time_ticks

POINTS = 200
"""Of one line: more are merged, each by its highest, so that no peak is hidden."""
LIGHT = ("#2166ac", "#c2571a", "#2f8132", "#8a4fb0", "#b5306a", "#7a6a1f", "#1f7a82", "#5c5c5c", "#b87700", "#4b57c9")
DARK = ("#6cb2f5", "#f29455", "#6dc970", "#c79af0", "#f07aae", "#cfc05a", "#5ccad3", "#b4b4b4", "#f2b632", "#9aa5ff")
SHADES = {
    "ink": ("#16191d", "#f1f3f5"),
    "soft": ("#555d66", "#a9b2bc"),
    "grid": ("#dfe3e7", "#343a41"),
    "band": ("#eef1f4", "#23282d"),
    "paper": ("#ffffff", "#181b1f"),
    "mark": ("#c01f2e", "#ff7b72"),
}
STYLE = """\
.plot text{font:11px system-ui,sans-serif;fill:var(--soft)}.plot .title{font-size:13px;font-weight:600;fill:var(--ink)}
.plot .unit{fill:var(--soft);font-weight:400}.plot .grid{stroke:var(--grid);stroke-width:1}
.plot .band{fill:var(--band)}.plot .mark{stroke:var(--mark);stroke-width:1;stroke-dasharray:3 2}
.plot text.mark{fill:var(--mark);font-size:10px;stroke:var(--paper);stroke-width:3px;stroke-dasharray:none;\
paint-order:stroke}.plot .limit{stroke:var(--ink);stroke-dasharray:6 3}
.plot polyline{fill:none;stroke-width:1.6;stroke-linejoin:round}.plot text.phase{font-size:10px}
"""
STYLE += "".join(
    f".plot polyline.c{n}{{stroke:var(--c{n})}}.plot text.c{n},.plot .dot.c{n}{{fill:var(--c{n})}}"
    for n in range(len(LIGHT))
)
_LETTER = 6.1
"""How wide a letter is on average, in px."""


def colours(dark: bool) -> str:
    """The CSS variables of a theme."""
    lines = [f"--c{n}:{colour}" for n, colour in enumerate(DARK if dark else LIGHT)]
    return ";".join([*lines, *(f"--{name}:{pair[dark]}" for name, pair in SHADES.items())])


@dataclass(frozen=True)
class Line:
    """As many values as its chart has places on the x axis; None where there is none."""

    name: str
    values: Sequence[float | None]
    colour: int | None = None
    """Its number in the palette, if it has one of its own."""


@dataclass(frozen=True)
class Mark:
    """Something that happened: a kill."""

    at: float
    words: str


@dataclass(frozen=True)
class Band:
    """A stretch that is another than the rest: a ramp."""

    begin: float
    end: float
    words: str = ""
    shaded: bool = True


@dataclass(frozen=True)
class Chart:
    """Lines that share their axes.  `limit`: a level to stay under."""

    title: str
    unit: Unit
    x: Sequence[float]
    lines: Sequence[Line]
    x_unit: Unit = TIME
    marks: Sequence[Mark] = ()
    bands: Sequence[Band] = ()
    log: bool = False
    """The y axis is logarithmic; 0 is no value on it."""
    dots: bool = False
    limit: float | None = None
    width: int = 430
    height: int = 215
    """Of the whole, one line of legend included."""


LEFT, RIGHT, TITLE, BOTTOM, ROW = 54, 12, 20, 24, 14
PHASES = 11
"""The strip above the picture in which bands are named."""


class _Frame:
    """Where a value lies on the picture."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.legend = list(_legend(chart))
        self.rows = 1 + max((row for _, row, _ in self.legend), default=0)
        named = PHASES if any(band.words for band in chart.bands) else 0
        self.top = TITLE + ROW * self.rows + 6 + named
        self.high = chart.height + ROW * (self.rows - 1) + named
        self.bottom = self.high - BOTTOM
        self.right = chart.width - RIGHT
        known = [v for line in chart.lines for v in line.values if v is not None and (v > 0 or not chart.log)]
        most = max([*known, *([chart.limit] if chart.limit else [])], default=0.0) or 1.0
        self.ticks = (
            log_ticks(min(known, default=most / 10), most) if chart.log else ticks(0.0, most * 1.02, 5, chart.unit.step)
        )
        self.low, self.most = self.ticks[0], self.ticks[-1]
        self.first, self.last = (min(chart.x), max(chart.x)) if chart.x else (0.0, 1.0)
        if self.last <= self.first:
            self.last = self.first + 1

    def across(self, x: float) -> float:
        return round(LEFT + (self.right - LEFT) * (x - self.first) / (self.last - self.first), 1)

    def up(self, value: float) -> float:
        if self.chart.log:
            share = (math.log(max(value, self.low)) - math.log(self.low)) / (math.log(self.most) - math.log(self.low))
        else:
            share = (value - self.low) / (self.most - self.low)
        return round(self.bottom - (self.bottom - self.top) * share, 1)


def svg(chart: Chart, *, readable: bool = False) -> str:
    """One chart, as an element for a page that has STYLE and the colours.

    `readable`: with its data beside it, for a page's script that shows values under the pointer.
    """
    chart = thinned(chart)
    frame = _Frame(chart)
    data = f" data-plot={quoteattr(_data(chart, frame))}" if readable else ""
    size = f'viewBox="0 0 {chart.width} {frame.high}"'
    words = quoteattr(f"{chart.title}: {', '.join(line.name for line in chart.lines)}")
    return f'<svg class="plot" {size} role="img" aria-label={words}{data}>{_drawn(chart, frame)}</svg>'


def sheet(title: str, charts: Sequence[Chart], columns: int = 2) -> str:
    """A file of its own: charts beside each other under a title, in light and dark."""
    charts = [thinned(chart) for chart in charts]
    columns = max(1, min(columns, len(charts)))
    rows = [charts[i : i + columns] for i in range(0, len(charts), columns)]
    wide = max((chart.width for chart in charts), default=430)
    y = 44
    parts = []
    for row in rows:
        frames = [_Frame(chart) for chart in row]
        for number, (chart, frame) in enumerate(zip(row, frames, strict=True)):
            parts.append(f'<g transform="translate({8 + number * (wide + 8)} {y})">{_drawn(chart, frame)}</g>')
        y += max(frame.high for frame in frames) + 10
    width = columns * (wide + 8) + 8
    return "\n".join(
        [
            f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" '
            f'height="{y}">',
            f"<style>svg{{{colours(False)}}}\n@media (prefers-color-scheme:dark){{svg{{{colours(True)}}}}}\n{STYLE}"
            '.plot text.head{font-size:17px;font-weight:600;fill:var(--ink)}</style><rect width="100%" height="100%" '
            'style="fill:var(--paper)"/>',
            f'<text class="head" x="14" y="28">{escape(title)}</text>',
            *parts,
            "</svg>",
            "",
        ]
    )


def thinned(chart: Chart) -> Chart:
    """With so few points that they can be told from each other."""
    step = -(-len(chart.x) // POINTS)
    if step <= 1:
        return chart
    starts = range(0, len(chart.x), step)

    def highest(values: Sequence[float | None]) -> list[float | None]:
        return [max((v for v in values[i : i + step] if v is not None), default=None) for i in starts]

    lines = [replace(line, values=highest(line.values)) for line in chart.lines]
    return replace(chart, x=[chart.x[i] for i in starts], lines=lines)


# ---- the picture --------------------------------------------------------------------


def _drawn(chart: Chart, frame: _Frame) -> str:
    return "".join([*_back(chart, frame), *_axes(chart, frame), *_lines(chart, frame), *_marks(chart, frame)])


def _back(chart: Chart, frame: _Frame) -> Iterator[str]:
    high = round(frame.bottom - frame.top, 1)
    for band in chart.bands:
        begin, end = max(band.begin, frame.first), min(band.end, frame.last)
        if end <= begin:
            continue
        left, right = frame.across(begin), frame.across(end)
        if band.shaded:
            yield f'<rect class="band" x="{left:g}" y="{frame.top}" width="{right - left:.1f}" height="{high:g}"/>'
        if len(band.words) * _LETTER < right - left:
            middle = (left + right) / 2
            yield (
                f'<text class="phase" x="{middle:.0f}" y="{frame.top - 4}" text-anchor="middle">'
                f"{escape(band.words)}</text>"
            )


def _axes(chart: Chart, frame: _Frame) -> Iterator[str]:
    unit = f" <tspan class='unit'>{escape(chart.unit.name)}</tspan>" if chart.unit.name else ""
    yield f'<text class="title" x="6" y="14">{escape(chart.title)}{unit}</text>'
    for tick in frame.ticks:
        y = frame.up(tick)
        yield f'<path class="grid" d="M{LEFT} {y:g}H{frame.right}"/>'
        yield f'<text x="{LEFT - 5}" y="{y + 4:g}" text-anchor="end">{escape(chart.unit.show(tick))}</text>'
    if chart.dots and len(chart.x) <= 8:
        places = list(chart.x)
    elif chart.x_unit is TIME:
        places = time_ticks(frame.first, frame.last)
    else:
        places = [x for x in ticks(frame.first, frame.last, 6) if x <= frame.last]
    shown = MINUTES if chart.x_unit is TIME and frame.last >= MINUTES_FROM else chart.x_unit
    for x in places:
        words = shown.show(x)
        if x == places[-1] and shown.name not in words:
            words += f" {shown.name}"
        anchor = "end" if frame.across(x) + len(words) * _LETTER / 2 > chart.width else "middle"
        yield f'<text x="{frame.across(x):g}" y="{frame.high - 8}" text-anchor="{anchor}">{escape(words)}</text>'


def _marks(chart: Chart, frame: _Frame) -> Iterator[str]:
    if chart.limit is not None:
        y = frame.up(chart.limit)
        yield f'<path class="limit" d="M{LEFT} {y:g}H{frame.right}"/>'
        words = escape(f"at most {chart.unit.show(chart.limit)}")
        yield f'<text x="{frame.right - 2}" y="{y - 4:g}" text-anchor="end">{words}</text>'
    free = float(LEFT)
    for mark in sorted(chart.marks, key=lambda mark: mark.at):
        if not frame.first <= mark.at <= frame.last:
            continue
        x = frame.across(mark.at)
        yield f'<path class="mark" d="M{x:g} {frame.top}V{frame.bottom}"><title>{escape(mark.words)}</title></path>'
        if x >= free and x + len(mark.words) * 5.6 < chart.width:
            yield f'<text class="mark" x="{x + 3:g}" y="{frame.top + 10}">{escape(mark.words)}</text>'
            free = x + len(mark.words) * 5.6 + 8


def _lines(chart: Chart, frame: _Frame) -> Iterator[str]:
    for line, (x, row, colour) in zip(chart.lines, frame.legend, strict=True):
        yield f'<text class="c{colour}" x="{x}" y="{TITLE + ROW * (row + 1) - 3}">● {escape(line.name)}</text>'
        for run in _runs(chart, line):
            places = [(frame.across(at), frame.up(value)) for at, value in run]
            yield f'<polyline class="c{colour}" points="{" ".join(f"{a:g},{b:g}" for a, b in places)}"/>'
            if chart.dots or len(places) == 1:
                yield "".join(f'<circle class="dot c{colour}" cx="{a:g}" cy="{b:g}" r="2.5"/>' for a, b in places)


def _runs(chart: Chart, line: Line) -> Iterator[list[tuple[float, float]]]:
    """The points, apart where a value is missing."""
    run: list[tuple[float, float]] = []
    for x, value in zip(chart.x, line.values, strict=True):
        if value is None or (chart.log and value <= 0):
            if run:
                yield run
            run = []
        else:
            run.append((x, value))
    if run:
        yield run


def _legend(chart: Chart) -> Iterator[tuple[int, int, int]]:
    """Where each line's name stands: x, row; and its colour."""
    x, row = 6, 0
    for number, line in enumerate(chart.lines):
        wide = round(_LETTER * (len(line.name) + 2)) + 10
        if x > 6 and x + wide > chart.width:
            x, row = 6, row + 1
        yield x, row, (number if line.colour is None else line.colour) % len(LIGHT)
        x += wide


def _data(chart: Chart, frame: _Frame) -> str:
    shown = [["" if v is None else chart.unit.show(v) for v in line.values] for line in chart.lines]
    return json.dumps(
        {
            "x": [frame.across(x) for x in chart.x],
            "at": [chart.x_unit.show(x) for x in chart.x],
            "names": [line.name for line in chart.lines],
            "colours": [colour for _, _, colour in frame.legend],
            "shown": shown,
            "top": frame.top,
            "bottom": frame.bottom,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
