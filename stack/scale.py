"""`snatch scale` and `snatch restart`: a running stack gets more or fewer processes, or new ones, and plays on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stack.data import DataFolder
from stack.orders import Order, give

PATIENCE = 120.0
"""Seconds that becoming another layout may take."""
RESTART_PATIENCE = 300.0


def raise_to(data: DataFolder | Path, counts: Mapping[str, int], timeout: float = PATIENCE) -> dict[str, Any]:
    """At least so many of each kind; the stack's state once all are ready.  Raises orders.Refused."""
    folder = data if isinstance(data, DataFolder) else DataFolder(data)
    there: dict[str, int] = {}
    for part in (folder.state() or {"parts": ()})["parts"]:
        there[part["kind"]] = there.get(part["kind"], 0) + 1
    return scale_to(folder, {kind: max(count, there.get(kind, 0)) for kind, count in counts.items()}, timeout)


def scale_to(data: DataFolder | Path, counts: Mapping[str, int], timeout: float = PATIENCE) -> dict[str, Any]:
    """Exactly so many of each kind that is named; what is too much ends as by SIGTERM.  Raises orders.Refused."""
    return give(data, Order("scale", counts=dict(counts)), timeout)


def restart(data: DataFolder | Path, kinds: Sequence[str] = (), timeout: float = RESTART_PATIENCE) -> dict[str, Any]:
    """Every process of these kinds, of all our services when none is named, one after another.

    Raises orders.Refused.
    """
    return give(data, Order("restart", kinds=list(kinds)), timeout)
