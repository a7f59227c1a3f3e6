"""The table of faults and losses: what befell while people played, and what it cost them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from simulate import chaos_report
from simulate.chaos_run import CellResult, ChaosRun
from simulate.faults import Fault

DRAWN_OUT: tuple[Fault, ...] = ("SCALE", "DOWN", "RELEASE", "LOAD")
"""Of these a moment of the hit says little: sockets go when their gateway's turn has come."""

WELL = "✓ nothing acknowledged was lost, nothing doubled, all hashes are equal"

_NOTED = pytest.StashKey[list[CellResult]]()


def note(config: pytest.Config, players: ChaosRun, result: CellResult) -> None:
    """Keep a result for the table, whatever a test then says of it."""
    if result.cell.fault in DRAWN_OUT:
        trips = players.sockets.trips[len(players.sockets.trips) - result.reconnects :]
        result.sockets_back = _longest(trips)
        result.tvs_back = _longest(trip for room in players.rooms for trip in room.tv_sockets.trips)
        result.last_back = None
    noted(config).append(result)


def noted(config: pytest.Config) -> list[CellResult]:
    return config.stash.setdefault(_NOTED, [])


def told(results: Sequence[CellResult]) -> str:
    """For people."""
    bad = [f"✗ {result.cell.name}: {failure}" for result in results for failure in result.failures()]
    lines = [chaos_report.table(results), "", *(bad or [WELL])]
    for result in results:
        if result.cell.fault == "RELEASE":
            lines.append(
                f"a release while {len(result.verdicts)} rooms played: {result.acknowledged} moves acknowledged,"
                f" {result.lost} lost, the longest pause {max(result.gaps, default=0.0):.2f} s"
            )
    return "\n".join(lines)


def _longest(trips: Iterable[tuple[float, float]]) -> float | None:
    """Seconds for which a socket was away."""
    return max((back - down for down, back in trips), default=None)
