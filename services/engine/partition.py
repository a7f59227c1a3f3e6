"""The life of a partition at one engine, sans I/O: who may write, and whether a write is in.

    NONE → CLAIMING → FENCING → REPLAYING → OPEN → HANDING → NONE
    from any: DEPOSED (another engine writes) or HALTED (the log is not what it must be)

What makes it safe:
- Every append states the sequence of the record before it, and one is in flight at most.
- A slot's bytes never change: (expected, id, body) is fixed until it is resolved.
- A time-out, a “busy” (10164), a conflict (10071: perhaps with one's own first try) prove
  nothing.  Only the leader's last message tells; and “not there” is never final, so the
  same bytes are sent again until the log has them or has something else.
- An epoch's first record, the claim, is the fence: only after it is the log read.
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class Phase(enum.Enum):
    """Where a partition is in its life: see the picture above."""

    NONE = "none"
    CLAIMING = "claiming"
    FENCING = "fencing"
    REPLAYING = "replaying"
    OPEN = "open"
    HANDING = "handing"
    DEPOSED = "deposed"
    HALTED = "halted"


class Slot(NamedTuple):
    """An append that is under way.  `needed`: see `Partition`."""

    expected: int
    id: str
    body: bytes
    needed: int = 0


class Last(NamedTuple):
    """The last message of a partition's subject, as its leader has it; sequence 0: there is none.

    `version` is the record's, 0 when unknown; `needed`: see `Partition`.
    """

    sequence: int
    id: str
    epoch: int
    version: int = 0
    needed: int = 0


EMPTY = Last(0, "", 0)


class Verdict(enum.Enum):
    """What came of an append."""

    COMMITTED = "committed"
    AGAIN = "again"
    """Send the same bytes again, after a little back-off."""
    NEW_FENCE = "new fence"
    """An older epoch's writer was faster: fence again after its record."""
    DEPOSED = "deposed"
    HALTED = "halted"


class WrongState(RuntimeError):
    """The driver asked for something that this phase does not allow: a fault in the engine."""


class Partition:
    """`nonce` is this process's own: another engine's slot of the same epoch is never taken for one's own."""

    def __init__(self, number: int, nonce: str) -> None:
        self.number, self.nonce = number, nonce
        self.phase = Phase.NONE
        self.epoch = 0
        self.last = 0
        """Sequence of the last record known to be in: what the next append expects."""
        self.needed = 0
        """Sequence of the oldest record that a reader needs, by what is committed; 0: the first that there is.

        Each record says so, since older ones may lie there for long: a new owner has no time for them.
        """
        self.slot: Slot | None = None
        self.fence = 0
        self.why = ""
        self._count = 0

    # ---- claim ----

    def claim(self, last: Last, placed_epoch: int) -> int:
        """Begin a claim: the epoch to put into the placement.  It survives a wiped bucket or a wiped log."""
        self._must(Phase.NONE)
        self.phase = Phase.CLAIMING
        self.epoch = max(last.epoch, placed_epoch) + 1
        self.last, self.needed, self._count = last.sequence, last.needed, 0
        return self.epoch

    def claim_lost(self) -> None:
        """The placement changed under us."""
        self._must(Phase.CLAIMING)
        self.phase = Phase.NONE

    def won(self, body: bytes) -> Slot:
        """The placement is ours: append the claim record."""
        self._must(Phase.CLAIMING)
        self.phase = Phase.FENCING
        return self._new_slot(body)

    def fence_again(self) -> Slot:
        """After NEW_FENCE: the same record, behind what came between.  The earlier try can't land any more."""
        self._must(Phase.FENCING)
        assert self.slot is not None
        self.slot = self.slot._replace(expected=self.last)
        return self.slot

    def replayed(self) -> None:
        self._must(Phase.REPLAYING)
        self.phase = Phase.OPEN

    # ---- append ----

    def stage(self, body: bytes) -> Slot:
        """The next record.  One at a time."""
        self._must(Phase.OPEN, Phase.HANDING)
        return self._new_slot(body)

    def acked(self, sequence: int) -> Verdict:
        """The server acknowledged the slot; a duplicate is as good."""
        if self.slot is None:
            raise WrongState("an acknowledgement without a slot")
        if sequence <= self.slot.expected:
            return self._halt(f"acknowledged as {sequence}, after {self.slot.expected}")
        return self._commit(sequence)

    def judge(self, last: Last) -> Verdict:
        """Anything but an acknowledgement came back, and this is the leader's last message now."""
        slot = self.slot
        if slot is None:
            raise WrongState("nothing to judge")
        if last.id == slot.id:
            return self._commit(last.sequence)
        if self.phase is Phase.FENCING:
            if last.epoch >= self.epoch:
                return self._depose(last)
            if last.sequence == slot.expected:
                return Verdict.AGAIN
            if last.sequence < slot.expected:
                return self._halt(f"the log ends at {last.sequence}, it ended at {slot.expected}")
            self.last = last.sequence
            return Verdict.NEW_FENCE
        if last.epoch > self.epoch:
            return self._depose(last)
        if last.sequence == slot.expected:
            return Verdict.AGAIN
        return self._halt(f"the log ends with {last.id or 'nothing'} at {last.sequence}, after {slot.expected}")

    # ---- the end ----

    def hand(self) -> None:
        """Stop taking, to give the partition away."""
        self._must(Phase.OPEN)
        self.phase = Phase.HANDING

    def deposed(self) -> None:
        """A committed placement with a higher epoch was seen."""
        self.phase, self.slot = Phase.DEPOSED, None

    def halt(self, why: str) -> None:
        """The log can't be what it says it is: an operator must look."""
        self._halt(why)

    def dropped(self) -> None:
        """All of it is forgotten here; a claim may begin anew."""
        if self.phase is not Phase.HALTED:
            self.phase, self.slot = Phase.NONE, None

    # ---- inside ----

    def _new_slot(self, body: bytes) -> Slot:
        if self.slot is not None:
            raise WrongState("one append in flight at most")
        self.slot = Slot(self.last, f"{self.number}:{self.epoch}:{self._count}:{self.nonce}", body, self.needed)
        self._count += 1
        return self.slot

    def _commit(self, sequence: int) -> Verdict:
        self.last, self.slot = sequence, None
        if self.phase is Phase.FENCING:
            self.phase, self.fence = Phase.REPLAYING, sequence
        return Verdict.COMMITTED

    def _depose(self, last: Last) -> Verdict:
        self.why = f"epoch {last.epoch} writes, this was {self.epoch}"
        self.deposed()
        return Verdict.DEPOSED

    def _halt(self, why: str) -> Verdict:
        self.phase, self.slot, self.why = Phase.HALTED, None, why
        return Verdict.HALTED

    def _must(self, *phases: Phase) -> None:
        if self.phase not in phases:
            raise WrongState(f"partition {self.number} is {self.phase.value}")


def epoch_of(id: str) -> int:
    """The epoch in a slot id; 0 for a message that no engine wrote."""
    parts = id.split(":")
    return int(parts[1]) if len(parts) == 4 and parts[1].isdigit() else 0
