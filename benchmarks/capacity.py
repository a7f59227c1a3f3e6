"""What a deployment holds and what that costs, as a table for docs/operations.md: of the path's runs, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from benchmarks.path import OURS
from benchmarks.results import PathFigures, PathRun, Result
from benchmarks.summary import Series, figure, series

FULL = 0.8
"""Share of a core at which a process is taken to be full: docs/operations.md, “CoreBusy”."""


class Row(NamedTuple):
    """So many players, each due a move a second; medians of the rounds that count."""

    players: int
    engines: int
    cores: float
    fullest: str
    share: float
    """Of a core, that the fullest process used."""
    base_mb: float
    grown_mb: float

    @property
    def holds(self) -> int:
        """Players with whom that process is full."""
        return 100 * round(self.players * FULL / self.share / 100)


def rows(result: Result | None) -> list[Row]:
    """By engines, then players."""
    if result is None or not isinstance(result.figures, PathFigures):
        return []
    runs = result.figures.runs
    found = [_row(runs, which) for which in {series(run) for run in runs} if which.who == OURS and which.rate == 1]
    return sorted((row for row in found if row is not None), key=lambda row: (row.engines, row.players))


def _row(runs: list[PathRun], which: Series) -> Row | None:
    cores = figure(runs, which, lambda run: run.server_cores)
    grown = figure(runs, which, lambda run: run.grown_mb)
    base = figure(runs, which, lambda run: run.server_mb - run.grown_mb)
    engine = figure(runs, which, lambda run: _share(run, "engine", run.engines))
    gateway = figure(runs, which, lambda run: _share(run, "gateway", 1))
    if cores is None or grown is None or base is None or engine is None or gateway is None:
        return None
    share, fullest = max((engine.median, "engine"), (gateway.median, "gateway"))
    return Row(which.players, which.engines, cores.median, fullest, share, base.median, grown.median)


def _share(run: PathRun, kind: str, processes: int) -> float:
    """Of a core, that one process of this kind used."""
    return run.cpu_by_kind.get(kind, 0.0) * run.moves_per_s / 1e6 / processes


def table(results: Mapping[str, Result]) -> Iterator[str]:
    """As Markdown."""
    yield (
        "| players | engines | cores | players a core | the fullest process | players with whom it is full |"
        " cores a thousand | MB a thousand |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in rows(results.get("path")):
        thousand = row.players / 1000
        yield (
            f"| {row.players:,} | {row.engines} | {row.cores:.2f} | {row.players / row.cores:,.0f} |"
            f" {row.fullest}, {100 * row.share:.0f} % of a core | {row.holds:,} | {row.cores / thousand:.2f} |"
            f" {row.grown_mb / thousand:.0f} |"
        )
