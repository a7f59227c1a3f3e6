"""What a partition's owner stands on: the rest of the engine, as it sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from servicekit.bus import Bus
from services.engine.board import Board
from services.engine.log import Log
from services.engine.metrics import EngineMetrics
from services.engine.table import AnyGame, Table

if TYPE_CHECKING:
    from services.engine.owner import Owner


class Floor(Protocol):
    name: str
    addr: str
    boot: str
    """This process's own, unlike its name, which may come back."""
    games: Mapping[str, AnyGame]
    bus: Bus
    log: Log
    board: Board
    metrics: EngineMetrics
    trim_after: float
    """Seconds for which records that no table needs any more stay in the log: who reads it on can keep up."""

    @property
    def writes(self) -> int:
        """The record version that all living engines read."""
        ...

    def heir(self, partition: int, reads: int) -> tuple[str, str]:
        """Name and address of the living peer that should have a partition and reads so much; empty: none."""
        ...

    def lease_proof(self, since: float) -> float:
        """Loop time at which the last renewal of the own lease began, if they have not lapsed since then; else 0."""
        ...

    def serving(self, owner: Owner) -> None:
        """A partition was claimed and is open."""
        ...

    def opened(self, owner: Owner, table: Table) -> None:
        """A table came with a partition: its deals, timers, bots and readers go on."""
        ...

    def touched(self, owner: Owner, table: Table) -> None:
        """A record about this table is committed, and more than cards moved."""
        ...

    def told(self, room: str, at: float) -> None:
        """A record in which cards moved, and no more, is committed; its frames went out.  `at`: loop time."""
        ...

    def forgotten(self, room: str) -> None:
        """The room has no table here any more."""
        ...
