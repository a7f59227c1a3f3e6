"""What a generator counts: of the whole run, of the hold, and of the second that runs."""

from __future__ import annotations

from collections import Counter
from math import inf

from simulate.load_delays import Buckets, add, bucketed

KEPT = 20
"""Things amiss that are told in words."""
NAMES = ("connect", "join", "own", "rival", "tv", "resume")


class Tally:
    """`start` and `end` of the hold are monotonic seconds; delays count by when their move was due."""

    def __init__(self) -> None:
        self.start = self.end = inf
        self.own: list[float] = []
        self.rival: list[float] = []
        self.tv: list[float] = []
        self.connect: list[float] = []
        self.join: list[float] = []
        self.resume: list[float] = []
        self.own_else: list[float] = []
        """Of moves that were due before the hold, or after it."""
        self.hold: dict[str, Buckets] = {name: {} for name in NAMES}
        self.due = self.moves = self.answered = self.idle = self.reconnects = 0
        self.hold_due = self.hold_moves = self.hold_idle = 0
        self.received = self.sent = 0
        """Bytes of payload: all that players' sockets gave, and their moves."""
        self.gaps = self.doubled = self.lost = 0
        self.refusals: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.closes: Counter[str] = Counter()
        self.hands: Counter[str] = Counter()
        self.told: list[str] = []

    def hold_it(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def made(self, due: float) -> None:
        """A move that was due then is sent now."""
        self.moves += 1
        if self.start <= due < self.end:
            self.hold_moves += 1

    def fell_due(self, due: float) -> None:
        self.due += 1
        if self.start <= due < self.end:
            self.hold_due += 1

    def had_none(self, due: float) -> None:
        """A player whose move was due had none to make."""
        self.idle += 1
        if self.start <= due < self.end:
            self.hold_idle += 1

    def own_frame(self, due: float, now: float, *, counts: bool = True) -> None:
        """An answer came; its delay `counts` unless its player slept meanwhile."""
        self.answered += 1
        if not counts:
            return
        if self.start <= due < self.end:
            self.own.append(now - due)
        else:
            self.own_else.append(now - due)

    def amiss(self, words: str) -> None:
        if len(self.told) < KEPT:
            self.told.append(words)

    def second(self) -> dict[str, Buckets]:
        """The delays since the last call, by name; the hold's are kept."""
        found: dict[str, Buckets] = {}
        for name in NAMES:
            raw: list[float] = getattr(self, name)
            setattr(self, name, [])
            buckets = found[name] = bucketed(raw)
            add(self.hold[name], buckets)
        add(found["own"], bucketed(self.own_else))
        self.own_else = []
        return found
