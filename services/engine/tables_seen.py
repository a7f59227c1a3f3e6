"""What there is at an engine's tables, counted when somebody asks: players, bots, games and how far they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from servicekit.meters import Key
from services.engine.ledger import Ledger
from services.engine.metrics import TablesSeen
from services.engine.table import State

QUIET = 120.0
"""Seconds without a move that was done, with players there and the hand live: it may be stuck."""


class TablesLook:
    """Remembers from one look to the next when each hand last went on: moves pay nothing for it."""

    def __init__(self) -> None:
        self._went_on: dict[str, tuple[int, float]] = {}
        """By table: the number of its last event, and when that was first seen."""

    def look(self, ledgers: Iterable[Ledger], now: float) -> TablesSeen:
        """`now`: seconds of a clock that only goes forward."""
        tables, players, bots = Counter[Key](), Counter[Key](), Counter[Key]()
        went_on: dict[str, tuple[int, float]] = {}
        quiet = 0
        for ledger in ledgers:
            for room in ledger.rooms.values():
                table, s = room.table, room.table.state
                phase = _phase(s)
                tables[s.game, phase] += 1
                there = sum(m.attached for m in s.members if m.bot is None)
                players[(s.game,)] += there
                bots[(s.game,)] += sum(m.bot is not None for m in s.members)
                if phase != "live" or not there:
                    continue
                seq, since = self._went_on.get(s.table, (-1, now))
                went_on[s.table] = (seq, since) if seq == table.seq else (table.seq, now)
                quiet += now - went_on[s.table][1] >= QUIET
        self._went_on = went_on
        return TablesSeen(tables, players, bots, quiet)


def _phase(state: State) -> str:
    paused = state.phase == "live" and (state.paused_by is not None or state.held_at is not None)
    return "paused" if paused else state.phase
