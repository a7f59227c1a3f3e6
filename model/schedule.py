"""What goes wrong in a world, and when: drawn from its seed before it begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

BEGIN = 0.4
"""Virtual seconds until the first fault: engines have claimed, phones are at the table."""


@dataclass(frozen=True)
class Fault:
    """`kind` at true second `at`.  `who` is an index among those there are then, `size` a time in seconds."""

    at: float
    kind: str
    who: int
    size: float
    more: float

    def __str__(self) -> str:
        return f"{self.at:6.3f} {self.kind} #{self.who} {self.size:.3f} s"


@dataclass(frozen=True)
class Schedule:
    """A world's people, its weather and its faults.  `quiet_at`: no faults and no new moves after it."""

    engines: int
    gateways: int
    rooms: list[int]
    """Players of each room; each room has a partition of its own."""
    replicated: bool
    rough: float
    """0 calm, 1 as rough as it gets."""
    bell: int
    epoch: int
    """Of the log that was there before; 0: no log, the table is opened as people do."""
    late_room: float | None
    """When another room is opened, in the first partition."""
    quiet_at: float
    pace: float
    """Seconds between two moves of a player, on average."""
    deaf_at_end: bool
    """The last frames before it is quiet are lost to some gateway."""
    faults: list[Fault] = field(default_factory=list)
    brief_room: float | None = None
    """When a room to which nobody comes is opened in the first partition, to be closed again soon."""


KINDS = {
    "engine killed": 6,
    "engine stalled": 8,
    "engine told to end": 4,
    "writer killed at its record": 5,
    "writer stopped at its record": 4,
    "writer wakes as it is replaced": 5,
    "engine doubled": 1,
    "engine joins": 3,
    "engine cut off NATS": 4,
    "engine slow to NATS": 2,
    "engine deaf to placement": 1,
    "streams cut": 4,
    "gateway killed": 2,
    "gateway told to end": 2,
    "gateway stalled": 1,
    "gateway cut off NATS": 2,
    "gateway deaf": 2,
    "nats killed": 4,
    "nats stopped": 2,
    "quorum lost": 3,
    "leaders lost": 2,
    "placement wiped": 1,
    "phone drops": 6,
    "new tab": 5,
    "old tab returns": 2,
}


def schedule(seed: int) -> Schedule:
    """The same seed, the same schedule."""
    dice = Random(f"schedule {seed}")
    quiet_at = BEGIN + dice.uniform(0.9, 2.6)
    rooms = [dice.choice((1, 2, 2, 3))]
    if dice.random() < 0.15:
        rooms.append(dice.choice((1, 2)))
    kinds, weights = list(KINDS), list(KINDS.values())
    faults = [
        Fault(
            dice.uniform(BEGIN, quiet_at - 0.1),
            kind,
            dice.randrange(12),
            dice.uniform(0.05, 0.6) if dice.random() < 0.4 else dice.uniform(0.6, 2.6),
            dice.random(),
        )
        for kind in dice.choices(kinds, weights, k=dice.choice((0, 1, 1, 2, 2, 3, 4)))
    ]
    if dice.random() < 0.3 and faults:
        # Troubles come in company: a second one right after the first.
        first = faults[0]
        again = dice.choices(kinds, weights)[0]
        after = min(first.at + dice.uniform(0.0, 0.3), quiet_at)
        faults.append(Fault(after, again, dice.randrange(12), dice.uniform(0.1, 1.8), dice.random()))
    return Schedule(
        engines=dice.choice((1, 2, 2, 2, 3)),
        gateways=dice.choice((1, 1, 2)),
        rooms=rooms,
        replicated=dice.random() < 0.5,
        rough=dice.choice((0.0, 0.3, 1.0)),
        bell=dice.choice((0, 0, 300)),
        epoch=0 if dice.random() < 0.1 else dice.choice((1, 1, 3)),
        late_room=dice.uniform(BEGIN, quiet_at) if dice.random() < 0.2 else None,
        quiet_at=quiet_at,
        pace=dice.choice((0.08, 0.2, 0.4)),
        deaf_at_end=dice.random() < 0.2,
        faults=sorted(faults, key=lambda f: f.at),
        brief_room=dice.uniform(0.0, quiet_at) if dice.random() < 0.3 else None,
    )
