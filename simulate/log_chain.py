"""What must hold of the log itself: one chain a partition, epochs that never fall, no slot twice.

No I/O: records go in as they lie in the stream, and what is wrong with them comes out in words.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from services.engine.partition import epoch_of
from services.engine.records import Record


@dataclass
class _Subject:
    last: int
    epoch: int = 0
    known: bool = False
    """A record of it was read: `last` is its sequence, else where reading began."""
    slots: set[str] = field(default_factory=set)


class Chain:
    """Reading began behind the stream's sequence `began`."""

    def __init__(self, began: int) -> None:
        self.records = 0
        self.missed = 0
        """Records that were trimmed before they were read: the reader's fault, and nothing can be said of them."""
        self._began = began
        self._subjects: dict[int, _Subject] = {}

    def take(self, sequence: int, expected: int, slot: str, record: Record) -> list[str]:
        """What is wrong with this record after those before it; empty for nothing."""
        self.records += 1
        p = record.partition
        at = self._subjects.setdefault(p, _Subject(self._began))
        wrong = []
        here = f"partition {p}, record {sequence} ({slot or 'no slot id'})"
        if expected > at.last:
            self.missed += 1
        elif at.known and expected < at.last:
            wrong.append(f"{here} follows {expected}, but {at.last} lies between")
        if sequence <= expected:
            wrong.append(f"{here} follows {expected}, which comes after it")
        if epoch_of(slot) != record.epoch:
            wrong.append(f"{here} says epoch {record.epoch} inside")
        if record.epoch < at.epoch:
            wrong.append(f"{here} is of epoch {record.epoch} after epoch {at.epoch}")
        elif at.epoch and record.epoch > at.epoch and record.kind != "claim":
            wrong.append(f"{here} begins epoch {record.epoch} without a claim")
        if slot in at.slots:
            wrong.append(f"{here} is in the log twice")
        at.slots.add(slot)
        at.last, at.epoch, at.known = sequence, max(at.epoch, record.epoch), True
        return wrong
