"""Who is alive, as far as this engine can tell.

A peer's silence counts only between one's own successful renewals: when NATS is away, or
this process slept, nobody is judged.  A wrong verdict costs a pause, never safety: that is
the log's.
"""

from __future__ import annotations

RENEW = 0.25
DEAD_AFTER = 1.0
FORGET_AFTER = 600.0
"""Seconds of silence after which an engine isn't even remembered: names come and go."""
_COUNTED_AT_MOST = 0.5


class Silence:
    """Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._silence: dict[str, float] = {}
        self._changed: dict[str, float] = {}
        self._renewed_at: float | None = None

    def heard(self, peer: str, now: float) -> None:
        """The peer's lease changed, or was seen for the first time."""
        self._silence[peer], self._changed[peer] = 0.0, now

    def gone(self, peer: str) -> None:
        """The peer said that it ends, or was found dead by a faster way."""
        self._silence[peer] = DEAD_AFTER
        self._changed.setdefault(peer, 0.0)

    def renewed(self, now: float) -> None:
        """The own lease was renewed."""
        before, self._renewed_at = self._renewed_at, now
        if before is None:
            return
        for peer, silence in self._silence.items():
            counted = now - max(before, self._changed[peer])
            self._silence[peer] = silence + min(max(0.0, counted), _COUNTED_AT_MOST)

    def forget(self, peer: str) -> None:
        self._silence.pop(peer, None)
        self._changed.pop(peer, None)

    def long_gone(self) -> set[str]:
        return {peer for peer, silence in self._silence.items() if silence >= FORGET_AFTER}

    def silent_since(self, peer: str, then: float) -> bool:
        """Alive, and nothing was heard of it after that time."""
        return self._silence.get(peer, DEAD_AFTER) < DEAD_AFTER and self._changed[peer] < then

    def not_renewed(self) -> None:
        """The own renewal failed: the time around it counts for nobody."""
        self._renewed_at = None

    def alive(self) -> set[str]:
        """Peers that are not dead."""
        return {peer for peer, silence in self._silence.items() if silence < DEAD_AFTER}

    def quiet(self, after: float) -> set[str]:
        """Peers alive, but silent for so long that they are worth a question."""
        return {peer for peer, silence in self._silence.items() if after <= silence < DEAD_AFTER}
