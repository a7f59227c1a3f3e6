"""How much is run: everything for the record, little for a look, next to nothing for a test."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.programs import LeftOut

FLAT = 100
"""Players that move as soon as they see their last move."""


@dataclass(frozen=True)
class Plan:
    """What each part runs."""

    name: str
    sizes: tuple[int, ...]
    """Players, a move a second each; what matters most first."""
    flat: int
    """Players flat out."""
    engines: tuple[int, ...]
    rounds: int
    hold: float
    """Seconds that a run is measured for."""
    warm: float
    often: tuple[int, ...]
    """Sizes of which something was promised, with all rounds; others have one.  0 is flat out."""
    engines_often: tuple[int, ...]
    """Sizes at which two engines take part in each round, else in the first: thousands take minutes to come in."""
    schema_sizes: tuple[int, ...]
    """Sizes at which the peer plays in its other mode too, in the first round."""
    spectators: tuple[int, ...]
    recovery_rooms: tuple[int, ...]
    memory_rooms: int
    starts: int
    minutes: float
    """All parts together, at most: what isn't begun by then is left out."""


FULL = Plan(
    name="full",
    sizes=(4000, 1000, 2000, 400),
    flat=FLAT,
    engines=(1, 2),
    rounds=2,
    hold=8.0,
    warm=3.0,
    often=(4000, 1000, 0),
    engines_often=(1000, 0),
    schema_sizes=(1000, 4000, 0),
    spectators=(100, 1000, 5000),
    recovery_rooms=(50, 200, 500),
    memory_rooms=100,
    starts=3,
    minutes=28.0,
)
QUICK = Plan(
    name="quick",
    sizes=(400,),
    flat=FLAT,
    engines=(1,),
    rounds=2,
    hold=4.0,
    warm=2.0,
    often=(400, 0),
    engines_often=(),
    schema_sizes=(),
    spectators=(100, 1000),
    recovery_rooms=(50,),
    memory_rooms=40,
    starts=1,
    minutes=6.0,
)
TINY = Plan(
    name="tiny",
    sizes=(8,),
    flat=0,
    engines=(1,),
    rounds=1,
    hold=1.0,
    warm=0.5,
    often=(8,),
    engines_often=(),
    schema_sizes=(),
    spectators=(5,),
    recovery_rooms=(3,),
    memory_rooms=2,
    starts=1,
    minutes=2.0,
)
PLANS = {plan.name: plan for plan in (FULL, QUICK, TINY)}


class Clock:
    """What is left of a plan's minutes."""

    def __init__(self, minutes: float) -> None:
        self._end = time.monotonic() + minutes * 60

    def check(self) -> None:
        """Raises LeftOut when no time is left to begin anything."""
        if time.monotonic() > self._end:
            raise LeftOut("the time for all benchmarks was over")
