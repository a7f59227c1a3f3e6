"""The seconds of a run: what generators told of each, and what the stack's parts used in it, put together.

A generator tells of a second when it is over, late if it is late itself; so a second is
given when all of them told of it, or when it is older than `PATIENCE`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from simulate.load_delays import Buckets, add, glance
from simulate.load_orders import Second
from simulate.load_record import Phase, Sample, ServiceSample

PATIENCE = 3
"""Seconds that a second waits for generators which haven't told of it."""


class Seconds:
    """Seconds are known by when they ended, rounded, on the clock of all."""

    def __init__(self) -> None:
        self.generators = 0
        """How many tell."""
        self._heard: dict[int, list[Second]] = {}
        self._newest: dict[int, Second] = {}
        self._looked: deque[tuple[int, Phase, dict[str, ServiceSample], float]] = deque()
        self._given = 0

    def hear(self, index: int, second: Second) -> None:
        """A generator's; one that is too late counts for the next second that is given."""
        self._heard.setdefault(max(round(second.at), self._given + 1), []).append(second)
        self._newest[index] = second

    def look(self, at: int, phase: Phase, services: dict[str, ServiceSample], machine_cpu: float) -> None:
        """What was measured of the second that ended then."""
        self._looked.append((at, phase, services, machine_cpu))

    def take(self, *, every: bool = False) -> Iterator[Sample]:
        """Those that are whole, in their order; `every`: those that aren't too.  `at` is on the clock of all."""
        while self._looked:
            at, phase, services, machine_cpu = self._looked[0]
            whole = len(self._heard.get(at, ())) >= self.generators
            if not (whole or every or self._looked[-1][0] - at >= PATIENCE):
                return
            self._looked.popleft()
            # Seconds that nobody looked at, since this process was late itself, are in the next one.
            heard = [second for when in sorted(self._heard) if when <= at for second in self._heard[when]]
            self._heard = {when: seconds for when, seconds in self._heard.items() if when > at}
            self._given = at
            yield self._sample(at, phase, heard, services, machine_cpu)

    def _sample(
        self, at: int, phase: Phase, heard: list[Second], services: dict[str, ServiceSample], machine_cpu: float
    ) -> Sample:
        delays: dict[str, Buckets] = {"own": {}, "rival": {}, "tv": {}}
        for second in heard:
            for name, buckets in delays.items():
                add(buckets, second.delays.get(name, {}))

        def total(name: str) -> int:
            return int(sum(getattr(second, name) for second in heard))

        return Sample(
            at=at,
            phase=phase,
            players=sum(second.players for second in self._newest.values()),
            spectators=sum(second.spectators for second in self._newest.values()),
            due=total("due"),
            moves=total("moves"),
            answered=total("answered"),
            refused=total("refused"),
            errors=total("errors"),
            reconnects=total("reconnects"),
            own=glance(delays["own"]),
            rival=glance(delays["rival"]),
            tv=glance(delays["tv"]),
            received_bytes=total("received"),
            lag_p99_ms=max((glance(second.lag).p99_ms for second in heard), default=0.0),
            generator_cpu=max((second.cpu for second in heard), default=0.0),
            services=services,
            machine_cpu=machine_cpu,
        )
