"""What was promised, and what was measured: each line with its target, its ratio and the figures beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks import peer
from benchmarks.path import OURS
from benchmarks.results import PathFigures, PathRun, RecoveryFigures, Result
from benchmarks.summary import Read, Series, cpu, figure, p99, ratio, spread

MISSING = "not measured"


class Line(NamedTuple):
    """`holds` is None when it was not measured."""

    what: str
    target: str
    measured: str
    beside: str
    holds: bool | None


def ours(players: int, engines: int = 1, rate: float = 1.0) -> Series:
    return Series(OURS, "", engines, players, rate)


def theirs(players: int, mode: str = "broadcast", rate: float = 1.0) -> Series:
    return Series(peer.NAME, mode, 0, players, rate)


def lines(results: Mapping[str, Result]) -> list[Line]:
    """All of them, also those that were not measured."""
    runs = _runs(results)
    return [
        _ratio(runs, "CPU per move against the peer's, 4,000 players", 1.0, ours(4000), theirs(4000), cpu, "µs", 0),
        _ratio(
            runs, "p99 move → own frame against the peer's, 4,000 players", 0.5, ours(4000), theirs(4000), p99, "ms", 1
        ),
        _ratio(runs, "CPU per move against the peer's, 1,000 players", 2.0, ours(1000), theirs(1000), cpu, "µs", 0),
        _ratio(runs, "CPU per move, 4,000 players against 1,000", 1.15, ours(4000), ours(1000), cpu, "µs", 0),
        _ratio(
            runs,
            "CPU per move, two engines against one, 4,000 players",
            1.1,
            ours(4000, 2),
            ours(4000),
            cpu,
            "µs",
            0,
        ),
        _ratio(
            runs, "CPU per move, two engines against one, 1,000 players", 1.1, ours(1000, 2), ours(1000), cpu, "µs", 0
        ),
        *_watch(_figures(results, "watch")),
        *_deals(_figures(results, "deals")),
        _rules(_figures(results, "rules")),
        _losses(runs, results),
    ]


def losses(results: Mapping[str, Result]) -> int:
    """What no noise excuses: moves lost or doubled, things amiss, spectators told wrongly, rooms never back."""
    found = sum(run.lost + run.doubled + bool(run.amiss) for run in _runs(results))
    found += sum(int(run["wrong"]) for run in _figures(results, "watch").get("runs", []))
    recovery = results.get("recovery")
    if recovery is not None and isinstance(recovery.figures, RecoveryFigures):
        found += sum(run.not_back for run in recovery.figures.runs)
    return found


def _runs(results: Mapping[str, Result]) -> list[PathRun]:
    path = results.get("path")
    return path.figures.runs if path is not None and isinstance(path.figures, PathFigures) else []


def _figures(results: Mapping[str, Result], part: str) -> dict[str, Any]:
    result = results.get(part)
    return result.figures if result is not None and isinstance(result.figures, dict) else {}


def _ratio(
    runs: Sequence[PathRun], what: str, most: float, mine: Series, other: Series, read: Read, unit: str, digits: int
) -> Line:
    found = ratio(runs, mine, other, read)
    a, b = figure(runs, mine, read), figure(runs, other, read)
    target = f"≤ {most:g} ×"
    if found is None or a is None or b is None:
        return Line(what, target, MISSING, "", None)
    beside = f"{a.shown(digits)} to {b.shown(digits)} {unit}"
    return Line(what, target, f"{found.shown()} ×", beside, found.median <= most)


CROWD = 5000
"""Spectators of one room for which the promise is."""


def _watch(found: Mapping[str, Any]) -> Iterator[Line]:
    runs = {run["spectators"]: run for run in found.get("runs", [])}
    of = runs.get(CROWD)
    delivered, idle, silent = (
        f"deliveries per CPU second, {CROWD:,} spectators of one room",
        f"memory of an idle spectator, of {CROWD:,}",
        "CPU per delivery when spectators stop reading, against when all read",
    )
    if of is None:
        yield from (Line(delivered, "≥ 75,000", MISSING, "", None), Line(idle, "≤ 12 KB", MISSING, "", None))
        yield Line(silent, "≤ 1.1 ×", MISSING, "", None)
        return
    reading, stopped = of["steady"]["reading"], of["steady"]["stopped"]
    each = spread([one["deliveries_per_cpu_s"] for one in reading])
    cost = spread([b["cpu_us"] / a["cpu_us"] for a, b in zip(reading, stopped, strict=False) if a["cpu_us"]])
    if each is None or cost is None:
        return
    p99 = max(one["p99_ms"] for one in reading)
    flat = of["flat_out"]["deliveries_per_cpu_s"]
    beside = f"p99 {p99:.1f} ms; flat out {flat:,.0f}"
    yield Line(delivered, "≥ 75,000", each.shown(0), beside, each.median >= 75_000)
    yield Line(idle, "≤ 12 KB", f"{of['idle_kb']:.1f} KB", "", of["idle_kb"] <= 12)
    late = f"p99 {max(one['p99_ms'] for one in stopped):.1f} ms of the others, {p99:.1f} ms else"
    yield Line(silent, "≤ 1.1 ×", f"{cost.shown()} ×", late, cost.median <= 1.1)


def _deals(found: Mapping[str, Any]) -> Iterator[Line]:
    what, target = "a checked deal, p99, the slowest of 1 to 8 seats", "≤ 60 ms"
    of = found.get("by_seats", [])
    if not of:
        yield Line(what, target, MISSING, "", None)
        return
    worst = max(of, key=lambda one: float(one["p99_ms"]))
    beside = f"{worst['seats']} seats; slowest in a thousand {max(one['p999_ms'] for one in of):.0f} ms"
    yield Line(what, target, f"{worst['p99_ms']:.1f} ms", beside, worst["p99_ms"] <= 60)


def _rules(found: Mapping[str, Any]) -> Line:
    what, target = "decide + evolve + encode for both audiences, median of a move", "≤ 12 µs"
    took = found.get("decide_evolve_encode")
    if not took:
        return Line(what, target, MISSING, "", None)
    beside = f"p99 {took['p99']:.1f} µs; with record and batch {found['path']['p50']:.1f} µs"
    return Line(what, target, f"{took['p50']:.1f} µs", beside, took["p50"] <= 12)


def _losses(runs: Sequence[PathRun], results: Mapping[str, Result]) -> Line:
    what, target = "moves acknowledged but lost, or doubled; spectators told wrongly; rooms that never came back", "0"
    if not runs:
        return Line(what, target, MISSING, "", None)
    sent = sum(run.moves_per_s for run in runs if run.who == OURS)
    count = losses(results)
    beside = f"{sum(run.who == OURS for run in runs)} runs" if sent else ""
    return Line(what, target, str(count), beside, count == 0)


def table(found: Sequence[Line]) -> Iterator[str]:
    """As Markdown."""
    yield "| what | target | measured | beside it | |"
    yield "| --- | --- | --- | --- | --- |"
    marks = {True: "✓", False: "✗ short", None: "–"}
    for line in found:
        yield f"| {line.what} | {line.target} | {line.measured} | {line.beside} | {marks[line.holds]} |"
