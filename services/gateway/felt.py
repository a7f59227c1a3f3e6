"""What players' pages report to have felt, made metrics: numbers of theirs, each within bounds, and nothing else.

A report is believed as far as it can be: it says no more than a page can have lived through
between two of them, and what it says of time agrees with itself.  All else is ignored, and
answered by nothing.
"""

from __future__ import annotations

from itertools import pairwise

from services.gateway.metrics import GatewayMetrics
from wire.client_in import FELT_MS, Felt

MOST_MOVES, MOST_EVENTS = 600, 60
"""In one report."""
LONGEST_MS = 60_000
"""Of a move: what took longer nobody waited for."""
EARLY = 0.5
"""Of the time between two reports: one that comes sooner after the last is ignored."""


def take(report: Felt, since: float, every: float, metrics: GatewayMetrics) -> bool:
    """Count it; False: it was ignored.  `since` the last one that wasn't, or the welcome, and `every`: seconds."""
    taken = every > 0 and since >= EARLY * every and _plausible(report)
    metrics.reported(taken=taken)
    if not taken:
        return False
    metrics.moves_seen(report.moves, report.ms / 1000)
    metrics.befell("reconnect", report.reconnects)
    metrics.befell("script_error", report.errors)
    return True


def _plausible(report: Felt) -> bool:
    if not 0 <= report.reconnects <= MOST_EVENTS or not 0 <= report.errors <= MOST_EVENTS:
        return False
    moves = report.moves
    if not moves:
        return report.ms == 0
    if len(moves) != len(FELT_MS) + 1 or min(moves) < 0 or sum(moves) > MOST_MOVES:
        return False
    bounds = [*pairwise((0, *FELT_MS, LONGEST_MS))]
    least = sum(n * low for n, (low, _) in zip(moves, bounds, strict=True))
    most = sum(n * high for n, (_, high) in zip(moves, bounds, strict=True))
    return least <= report.ms <= most
