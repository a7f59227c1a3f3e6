"""The page's plots, of the results' figures: one SVG file each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.results import PathFigures, PathRun, RecoveryFigures, Result
from benchmarks.summary import Read, Series, cpu, figure, p99
from benchmarks.verdict import ours, theirs
from simulate.plot import Chart, Line, sheet
from simulate.plot_axis import MS, NUMBER, Unit

PLAYERS = Unit("players", NUMBER.show)
ROOMS = Unit("rooms", NUMBER.show)
SEATS = Unit("seats", NUMBER.show)
MICROSECONDS = Unit("µs", lambda value: f"{NUMBER.show(value)} µs")
SECONDS = Unit("s", lambda value: f"{value:.3g} s")


def plots(results: Mapping[str, Result]) -> dict[str, str]:
    """By file name; of parts that were not run there is none."""
    found: dict[str, str] = {}
    path = results.get("path")
    if path is not None and isinstance(path.figures, PathFigures):
        charts = list(path_charts(path.figures.runs))
        if charts:
            found["benchmarks-path.svg"] = sheet("A move’s path, and the peer’s", charts)
    others = [chart for chart in (_deals(results.get("deals")), _recovery(results.get("recovery"))) if chart]
    if others:
        found["benchmarks-parts.svg"] = sheet("Deals and recovery", others)
    return found


def path_charts(runs: Sequence[PathRun]) -> Iterator[Chart]:
    """Over players, a move a second each; medians of the rounds that count."""
    sizes = sorted({run.players for run in runs if run.rate})
    if not sizes:
        return
    names: list[tuple[str, list[Series]]] = [
        ("one engine", [ours(size) for size in sizes]),
        ("two engines", [ours(size, 2) for size in sizes]),
        ("peer, broadcast", [theirs(size) for size in sizes]),
        ("peer, patches", [theirs(size, "schema") for size in sizes]),
    ]
    x = [float(size) for size in sizes]

    def lines(read: Read) -> list[Line]:
        return [
            Line(name, values, colour)
            for colour, (name, which) in enumerate(names)
            if any(values := [_median(runs, one, read) for one in which])
        ]

    yield Chart("CPU of all servers per move", MICROSECONDS, x, lines(cpu), PLAYERS, dots=True)
    yield Chart("Move → own frame, p99", MS, x, lines(p99), PLAYERS, dots=True, log=True)
    kinds = sorted({kind for run in runs for kind in run.cpu_by_kind if kind != "node"})
    of_kind = [Line(kind, [_median(runs, ours(size), _spent_by(kind)) for size in sizes]) for kind in kinds]
    spent = [line for line in of_kind if any(value and value >= 1 for value in line.values)]
    if spent:
        yield Chart("CPU per move by kind of server, one engine", MICROSECONDS, x, spent, PLAYERS, dots=True)


def _spent_by(kind: str) -> Read:
    return lambda run: run.cpu_by_kind.get(kind, 0.0)


def _median(runs: Sequence[PathRun], which: Series, read: Read) -> float | None:
    found = figure(runs, which, read)
    return found.median if found else None


def _deals(result: Result | None) -> Chart | None:
    of = result.figures.get("by_seats", []) if result is not None and isinstance(result.figures, dict) else []
    if not of:
        return None
    x = [float(one["seats"]) for one in of]
    lines = [
        Line(name, [one[key] for one in of])
        for name, key in (("median", "median_ms"), ("p99", "p99_ms"), ("p99.9", "p999_ms"))
    ]
    return Chart("A checked deal, CPU", MS, x, lines, SEATS, dots=True, log=True, limit=60.0)


def _recovery(result: Result | None) -> Chart | None:
    runs = result.figures.runs if result is not None and isinstance(result.figures, RecoveryFigures) else []
    if not runs:
        return None
    runs = sorted(runs, key=lambda run: run.rooms)
    lines = [
        Line("median room", [run.gap_p50_s for run in runs]),
        Line("slowest room", [run.gap_max_s for run in runs]),
        Line("all partitions open", [run.last_open_s for run in runs]),
    ]
    x = [float(run.rooms) for run in runs]
    return Chart("Engine killed: longest wait for an answer", SECONDS, x, lines, ROOMS, dots=True)
