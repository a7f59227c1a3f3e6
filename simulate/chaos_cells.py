"""Cells of a chaos run: which part gets which fault, how often, and what that may cost at most."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulate.faults import FAULTS, Fault

KINDS = ("engine", "gateway", "rooms", "bots", "watch", "nats", "valkey")
ALIASES = {"nats-server": "nats", "redis": "valkey", "engines": "engine", "gateways": "gateway", "watches": "watch"}

ENGINE_BACK, DRAIN, CLUSTER_BACK, SOCKETS_BACK, BOTS_BACK, FAILOVER_BACK = 2.0, 0.25, 10.0, 2.0, 3.0, 3.0
"""Seconds, from the issue: see `Limits`."""

STOP_EVERY, USUAL_EVERY = 15.0, 10.0


class BadCell(ValueError):
    """What was asked for is no cell, in words."""


@dataclass(frozen=True)
class Limits:
    """What a cell's times may be, in seconds; None: not judged."""

    gap_p99: float | None = None
    gap_max: float | None = None
    last_back: float | None = None
    """From the fault until the last room goes on."""
    sockets: float | None = None
    """From a gateway's death to the last of its sockets back at a snapshot."""
    bots: float | None = None
    """From a worker's death to the last of its seats driven again."""
    quiet: bool = False
    """No errors, no move unanswered, and no refusal but what play itself brings."""


@dataclass(frozen=True)
class Cell:
    """`every` and `duration` and `hold` in seconds; `nats`: servers of the stack it needs."""

    kind: str
    fault: Fault
    every: float = USUAL_EVERY
    duration: float = 120.0
    hold: float = 10.0
    nats: int = 1
    failover: bool = False
    """The only engine is killed as its heir appears."""

    @property
    def name(self) -> str:
        if self.failover:
            return f"{self.kind} failover"
        part = f"{self.kind} ×{self.nats}" if self.kind == "nats" and self.nats > 1 else self.kind
        return f"{part} {self.fault}"

    @property
    def limits(self) -> Limits:
        if self.failover:
            return Limits(last_back=FAILOVER_BACK)
        quiet = self.fault == "TERM" and not (self.kind == "nats" and self.nats == 1)
        if self.kind == "nats":
            return Limits(gap_max=CLUSTER_BACK if self.nats > 1 else None, quiet=quiet)
        if self.kind == "engine":
            return Limits(gap_p99=DRAIN if self.fault == "TERM" else ENGINE_BACK, quiet=quiet)
        if self.kind == "gateway":
            return Limits(sockets=None if self.fault == "STOP" else SOCKETS_BACK, quiet=quiet)
        if self.kind == "bots":
            return Limits(bots=BOTS_BACK, quiet=quiet)
        return Limits(quiet=quiet and self.kind != "valkey")

    def hits(self) -> int:
        """So many faults fit: the last one's `every` is over when the cell's time is."""
        return max(1, int(self.duration // self.every))


def cell(
    kind: str,
    fault: str = "KILL",
    every: float | None = None,
    duration: float = 120.0,
    hold: float = 10.0,
    nats: int = 1,
) -> Cell:
    """A cell as asked for.  Raises BadCell."""
    kind = ALIASES.get(kind, kind)
    if kind not in KINDS:
        raise BadCell(f"{kind} is no part: {', '.join(KINDS)}")
    known: dict[str, Fault] = {f: f for f in FAULTS}
    short = fault.upper().removeprefix("SIG")
    if short not in known:
        raise BadCell(f"{fault} is no fault: {', '.join(FAULTS)}")
    real = known[short]
    if every is None:
        every = max(STOP_EVERY, hold + 5) if real == "STOP" else USUAL_EVERY
    if real == "STOP" and every <= hold:
        raise BadCell(f"a stop of {hold:g} s can't come every {every:g} s")
    return Cell(kind, real, every, duration, hold, nats)


def seconds(text: str) -> float:
    """Of “10s”, “2m”, “1.5”.  Raises ValueError.

    >>> seconds("10s"), seconds("2m"), seconds("250ms"), seconds("7")
    (10.0, 120.0, 0.25, 7.0)
    """
    for unit, factor in (("ms", 0.001), ("s", 1.0), ("m", 60.0), ("", 1.0)):
        if text.endswith(unit):
            value = float(text.removesuffix(unit)) * factor if unit else float(text)
            if not 0 < value < math.inf:
                raise ValueError(f"{text} is no time")
            return value
    raise ValueError(text)


MATRIX_EVERY, MATRIX_DURATION = 9.0, 18.0


def matrix(hold: float = 10.0) -> list[Cell]:
    """All parts and all faults, on a stack with one NATS server."""
    return [_matrix_cell(kind, fault, hold, 1) for kind in KINDS for fault in FAULTS]


def cluster(hold: float = 10.0) -> list[Cell]:
    """The faults of one of three NATS servers."""
    return [_matrix_cell("nats", fault, hold, 3) for fault in FAULTS]


def failover() -> list[Cell]:
    """One fault alone."""
    return [Cell("engine", "KILL", 15, 15, failover=True)]


def _matrix_cell(kind: str, fault: Fault, hold: float, nats: int) -> Cell:
    if fault == "STOP":
        return Cell(kind, fault, hold + 6, hold + 6, hold, nats)
    return Cell(kind, fault, MATRIX_EVERY, MATRIX_DURATION, hold, nats)


def short() -> list[Cell]:
    """What a test has time for: losses alone count."""
    return [
        Cell("engine", "KILL", 5, 10),
        Cell("engine", "STOP", 6, 6, 3),
        Cell("engine", "TERM", 4, 8),
        Cell("gateway", "KILL", 5, 5),
        Cell("nats", "KILL", 5, 5),
        Cell("valkey", "KILL", 4, 4),
    ]
