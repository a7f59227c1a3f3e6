"""What a table does by itself: the grace, the countdown, the game's own clocks, the standings, the end."""

from __future__ import annotations

import msgspec

from services.engine import records as r
from services.engine import table_presence as presence
from services.engine.sitting import Sitting
from services.engine.table import COUNTDOWN_MS, EXPIRY_MS, STANDINGS_MS

_WAKE_LIMIT = 100


def wake(sitting: Sitting) -> None:
    """All that is due at this room time, one step each; nothing when asked early."""
    table, now = sitting.table, sitting.now
    for _ in range(_WAKE_LIMIT):
        at = table.wakes_at()
        if at is None or at > now or not _next_due(sitting):
            return


def _next_due(sitting: Sitting) -> bool:
    table, s, now = sitting.table, sitting.table.state, sitting.now
    late = next((m for m in s.members if m.grace_at is not None and m.grace_at <= now), None)
    sitting.begin()
    if late is not None:
        presence.grace_over(sitting, late)
    elif any(t is not None and t + EXPIRY_MS <= now for t in (s.alone_since, s.held_at)):
        presence.close(sitting, "expired")
    elif s.countdown_at is not None and s.countdown_at <= now:
        sitting.emit(r.WentLive())
        sitting.settle(STANDINGS_MS)
    elif s.standings_at is not None and s.standings_at <= now:
        sitting.emit(r.StandingsShown())
    else:
        events = table.game.wake(table.cards, table.play_now(now))
        for event in events:
            sitting.play(event)
        sitting.settle(STANDINGS_MS)
    if not sitting.steps[-1].events:
        sitting.steps.pop()
        return False
    return True


def deal(sitting: Sitting, asked: int, event: bytes) -> bool:
    """A checked deal is there.  It counts only if the table still waits for just this one."""
    table = sitting.table
    if table.state.phase != "dealing" or table.state.asked != asked:
        return False
    sitting.begin()
    sitting.play(msgspec.msgpack.decode(event, type=table.game.spec.event_type))
    sitting.emit(r.CountdownBegun(COUNTDOWN_MS))
    return True
