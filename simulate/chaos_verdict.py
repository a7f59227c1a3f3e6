"""What a comparison of a room's sides found, and what they are compared by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from simulate.phone import Phone
from simulate.room_log import RoomLog


@dataclass
class RoomVerdict:
    """What a comparison found: acknowledged moves, and hashes of what each side shows."""

    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    untold: int = 0
    unanswered: int = 0
    hashes: dict[str, str] = field(default_factory=dict)
    """By side: clients, engine, log."""
    fell: str = ""
    """Why the room could not be compared at all."""

    @property
    def equal(self) -> bool:
        return not self.fell and len(set(self.hashes.values())) == 1


def digest(views: Sequence[Any]) -> str:
    """One hash of what several audiences see; equal views, equal hashes."""
    return hashlib.blake2b(msgspec.msgpack.encode(list(views), order="deterministic"), digest_size=8).hexdigest()


def log_says(log: RoomLog | None, phones: Sequence[Phone]) -> str:
    """What the log has of each phone's seat, for a report of a room that went wrong."""
    if log is None or log.table is None:
        return "nothing"
    members = log.table.state.members
    return "; ".join(
        f"seat {m.seat}: moves up to {m.answered} decided, session {m.session}, attached {m.attached},"
        f" its tab {'is this phone' if any(p.tab == m.tab for p in phones) else 'is another'}"
        for m in members
        if m.bot is None
    )


def lobby_faults(phone: Phone) -> str:
    """What a page's lobby has that its table hasn't, or the reverse; in words."""
    lobby, table = phone.lobby, phone.screen.table
    if lobby is None or table is None:
        return "no lobby" if lobby is None else "no table"
    if lobby.table != table.table:
        return f"the lobby is at table {lobby.table}, the page at {table.table}"
    away = [p.name for p in lobby.players if not p.present]
    if away:
        return f"away in the lobby: {', '.join(away)}"
    seated = {m.player for m in table.members if not m.left}
    listed = {p.player for p in lobby.players}
    return "" if seated == listed else f"in the lobby {sorted(listed)}, at the table {sorted(seated)}"
