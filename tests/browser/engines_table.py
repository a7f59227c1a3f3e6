"""What the engine has of a table, beside what a page shows of it."""

from __future__ import annotations

import time

from games.snatch_solitaire.messages import View
from services.engine.table import Table
from tests.browser.phone_page import PATIENCE, PhonePage, Seen


async def same(phone: PhonePage, table: Table, name: str = "Ann") -> None:
    """The page comes to show its player all that the engine has for them, and nothing else.

    It is not the engine's `seq` that tells when: another's move among their own cards moves that on, too,
    and is told to nobody else.
    """
    last = time.monotonic() + PATIENCE / 1000
    while (wrong := differences(await phone.table(), table, name)) and time.monotonic() < last:
        await phone.page.wait_for_timeout(50)
    assert wrong == []


def differences(seen: Seen, table: Table, name: str) -> list[str]:
    """What is otherwise on the page than in the engine's view for this player."""
    me = next(m for m in table.state.members if m.name == name)
    view: View = table.game.view(table.cards, me.seat)
    mine = view.mine
    assert mine is not None
    left = {s.seat: s.left for s in view.seats}
    told = {
        "work": (seen.work, mine.work),
        "snatch": (seen.snatch, mine.snatch),
        "stock": (seen.in_stock, mine.stock),
        "turned": ((seen.in_turned, seen.turned), (len(mine.turned), mine.turned[-1] if mine.turned else None)),
        "cards left": (seen.seats, left),
        "own cards left": (seen.left, left[me.seat]),
        "undo": (seen.undo, mine.undo),
        "middle": (
            sorted((p.id, p.top) for p in seen.middle),
            sorted((p.id, p.top[-1].card) for p in view.middle),
        ),
        "on their way": (seen.flying, []),
    }
    return [f"{what}: the page {shown}, the engine {known}" for what, (shown, known) in told.items() if shown != known]
