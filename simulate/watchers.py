"""Who measures phones and TVs: how long their sockets were away, and what their room waited."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from simulate.gaps import RoomGaps


class Watcher(Protocol):
    """Who measures a phone.  Times are monotonic seconds."""

    def made(self, at: float) -> None:
        """A move was made."""
        ...

    def answered(self, at: float) -> None:
        """One was answered, or shown by a snapshot."""
        ...

    def dropped(self, at: float) -> None:
        """One was given up by the page itself."""
        ...

    def down(self, at: float) -> None:
        """The socket is lost."""
        ...

    def back(self, at: float) -> None:
        """A snapshot has come."""
        ...


class Unwatched:
    """Nobody measures."""

    def made(self, at: float) -> None: ...

    def answered(self, at: float) -> None: ...

    def dropped(self, at: float) -> None: ...

    def down(self, at: float) -> None: ...

    def back(self, at: float) -> None: ...


@dataclass
class Sockets:
    """When sockets went and were back at a snapshot (monotonic seconds)."""

    trips: list[tuple[float, float]] = field(default_factory=list)
    away: set[int] = field(default_factory=set)

    def back_after(self, fault: float, until: float) -> float | None:
        """Seconds from a fault until the last of those lost since was back; None when none was lost."""
        backs = [back for down, back in self.trips if fault <= down < until]
        return max(backs) - fault if backs else None


class SocketWatch:
    """Watches a TV, or a phone that measures no moves."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self._down_at: float | None = None

    def made(self, at: float) -> None: ...

    def answered(self, at: float) -> None: ...

    def dropped(self, at: float) -> None: ...

    def down(self, at: float) -> None:
        if self._down_at is None:
            self._down_at = at
            self._sockets.away.add(id(self))

    def back(self, at: float) -> None:
        if self._down_at is not None:
            self._sockets.trips.append((self._down_at, at))
            self._sockets.away.discard(id(self))
            self._down_at = None


class PhoneWatch(SocketWatch):
    """Watches a player's phone: its moves are the room's."""

    def __init__(self, sockets: Sockets, gaps: RoomGaps) -> None:
        super().__init__(sockets)
        self._gaps = gaps

    def made(self, at: float) -> None:
        self._gaps.made(at)

    def answered(self, at: float) -> None:
        self._gaps.answered(at)

    def dropped(self, at: float) -> None:
        self._gaps.dropped(at)
