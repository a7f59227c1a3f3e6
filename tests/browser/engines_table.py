"""What the engine has of a table, beside what a page shows of it."""

from __future__ import annotations

import asyncio

from games.snatch_solitaire.messages import View
from services.engine.table import Table
from tests.browser.phone_page import PATIENCE, PhonePage, Seen


async def same(phone: PhonePage, table: Table, name: str = "Ann") -> None:
    """The page, once it is at rest, shows its player all that the engine has for them, and nothing else."""
    seen = await _caught_up(phone, table)
    me = next(m for m in table.state.members if m.name == name)
    view: View = table.game.view(table.cards, me.seat)
    mine = view.mine
    assert mine is not None
    assert seen.work == mine.work
    assert (seen.snatch, seen.in_stock, seen.in_turned) == (mine.snatch, mine.stock, len(mine.turned))
    assert seen.turned == (mine.turned[-1] if mine.turned else None)
    assert seen.seats == {s.seat: s.left for s in view.seats}
    assert seen.left == seen.seats[me.seat]
    assert seen.undo == mine.undo
    assert sorted((p.id, p.top) for p in seen.middle) == sorted((p.id, p.top[-1].card) for p in view.middle)


async def _caught_up(phone: PhonePage, table: Table) -> Seen:
    """What the page shows when it is at rest and as far as the engine is, which clocks of its own may bring further."""
    async with asyncio.timeout(PATIENCE / 1000):
        seen = await phone.table(after=table.seq - 1)
        while not (seen.settled and seen.seq == table.seq):
            seen = await phone.table(after=table.seq - 1)
    return seen
