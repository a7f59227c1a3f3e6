"""A table as an audience may see it, from nothing."""

from __future__ import annotations

from typing import Any

import msgspec

from services.engine.sitting import member_view, outcome_view
from services.engine.table import Table
from wire import client_out as out

_encoder = msgspec.json.Encoder()


def table_view(table: Table, now: int) -> out.TableView:
    """The table around the cards, the same for everybody."""
    s = table.state
    phase: Any = s.phase
    left = None
    if s.phase == "countdown":
        left = s.countdown_left if s.countdown_at is None else max(0, s.countdown_at - now)
    return out.TableView(
        table=s.table,
        game=s.game,
        phase=phase,
        host=s.host,
        members=[member_view(m) for m in s.members],
        options=s.options,
        paused_by=-1 if s.held_at is not None else s.paused_by,
        countdown=left,
        outcome=outcome_view(table) if s.phase == "standings" else None,
        over=s.over,
        notice=s.notice,
    )


def snapshot(table: Table, seat: int | None, now: int) -> bytes:
    """The bytes that browsers get; `seat` None is the TV."""
    member = table.member(seat) if seat is not None else None
    eyes = seat if member is not None and member.playing else None
    return _encoder.encode(
        out.Snapshot(
            v=out.VERSION,
            room=table.state.room,
            now=now,
            seq=table.seq,
            table=table_view(table, now),
            view=table.game.view(table.cards, eyes) if table.seq else None,
            you=out.You(member.seat, not member.playing) if member is not None else None,
            answered=member.answered if member is not None else 0,
        )
    )
