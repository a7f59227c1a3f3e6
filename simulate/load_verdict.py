"""Whether a run counts, and whether it held what was asked: void runs, service levels."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

import msgspec

from simulate.load_record import Generator, Rate, Result

LAG_P99_MS = 25.0
"""A generator whose loop was later than this once in a hundred looks measured itself."""
GENERATOR_CPU = 0.9
"""Share of a core above which a generator was saturated."""
ACHIEVED = 0.98
"""Of what fell due, what must have been sent."""
UNLIKE = ("unequal", "unreachable", "not in the log", "log unread")
"""States that were compared, or could not be, and count as unlike."""
TARGET = 0.9
"""Of the target rate, what must have been achieved: rooms between two hands make no moves."""

_LEVEL = re.compile(r"\s*([a-z0-9_.]+)\s*(<=|>=|<|>|==)\s*([0-9.]+)\s*")
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
}


class BadLevel(ValueError):
    """No service level, in words."""


def void_why(
    generators: Sequence[Generator], rate: Rate, *, lag_bound: float = LAG_P99_MS, cpu_bound: float = GENERATOR_CPU
) -> list[str]:
    """Why the generators measured themselves; empty when they didn't.  Bounds: ms, share of a core."""
    why = []
    for number, generator in enumerate(generators, 1):
        if generator.lag_p99_ms > lag_bound:
            why.append(f"generator {number} was late: p99 {generator.lag_p99_ms:.1f} ms, the bound is {lag_bound:g} ms")
        if generator.cpu > cpu_bound:
            why.append(f"generator {number} used {generator.cpu:.2f} of a core, the bound is {cpu_bound:g}")
    if not rate.moves:
        why.append("not one move was made in the hold")
    made = rate.achieved + (rate.idle / rate.moves * rate.achieved if rate.moves else 0.0)
    if rate.due and made < ACHIEVED * rate.due:
        why.append(f"{rate.achieved:.0f} moves a second were sent, {rate.due:.0f} were due")
    if rate.target and rate.achieved < TARGET * rate.target:
        why.append(f"{rate.achieved:.0f} moves a second were made of {rate.target:.0f} aimed at")
    return why


def well(result: Result) -> bool:
    """The exit code is 0: nothing was lost, doubled, unlike, unanswered or missed, and the run counts."""
    checks = result.checks
    unlike = sum(checks.hashes.get(what, 0) for what in UNLIKE)
    return not (result.lost or result.doubled or unlike or checks.unanswered or result.void or result.missed)


def check_levels(levels: Sequence[str]) -> None:
    """Raises BadLevel for what is none."""
    for level in levels:
        if not _LEVEL.fullmatch(level):
            raise BadLevel(f"{level!r} is no service level; one is: p99_ms<=50, delays.resume.p99_ms<500")


def missed(result: Result, levels: Sequence[str]) -> list[str]:
    """The levels that were not held, each with what was measured.  Names are the JSON's own keys, with dots.

    Raises BadLevel for a name that is none.
    """
    said = msgspec.to_builtins(result)
    found = []
    for level in levels:
        match = _LEVEL.fullmatch(level)
        if match is None:
            raise BadLevel(level)
        name, compare, bound = match.groups()
        value = said
        for key in name.split("."):
            if not isinstance(value, dict) or key not in value:
                raise BadLevel(f"{name} is no key of the result")
            value = value[key]
        if isinstance(value, dict | list | str) or value is None:
            raise BadLevel(f"{name} is no number")
        if not _HOLDS[compare](float(value), float(bound)):
            found.append(f"{level}: {float(value):g}")
    return found
