"""Ready deals by kind, and which to make next.  No I/O, no clock: `dealing` drives it.

A kind is stocked for the tables that are foreseen to ask for it: as many deals as tables, so
that all of them may ask at once, and a few more where there is a base.  A deal leaves the
stock once, to one table.
"""

from __future__ import annotations

from collections import OrderedDict, deque

from services.engine.deal_worker import Kind

MOST = 4096
"""Deals in stock, of some 1 to 5 KB: beyond it only what tables wait for is made."""
BATCH = 8
"""Deals that a worker makes in one go: what a table begins to wait for waits at most so long for a worker."""
KEPT = 8
"""Deals of a kind that stay for the next table to come once those they were made for have gone elsewhere."""
KINDS_KEPT = 32
"""Kinds that no table is foreseen to ask for and that keep theirs."""

_NOW, _SOON, _LATER = range(3)


class _Shelf:
    __slots__ = ("base", "later", "making", "ready", "soon", "waiting")

    def __init__(self) -> None:
        self.ready: deque[bytes] = deque()
        self.making = 0
        self.base = 0
        self.soon = 0
        """Tables that may ask at any moment."""
        self.later = 0
        """Tables that will, after the hand they play."""
        self.waiting: OrderedDict[str, int] = OrderedDict()
        """Rooms that wait, with their turn among all that wait."""

    @property
    def wanted(self) -> int:
        return self.base + self.soon + self.later


class Stock:
    def __init__(self) -> None:
        self._shelves: dict[Kind, _Shelf] = {}
        self._unwanted: OrderedDict[Kind, None] = OrderedDict()
        self._count = 0
        self._making = 0
        self._turn = 0

    def __len__(self) -> int:
        """Deals that are ready."""
        return self._count

    @property
    def waiting(self) -> int:
        """Tables that wait for a deal."""
        return sum(len(shelf.waiting) for shelf in self._shelves.values())

    def keep(self, kind: Kind, base: int) -> None:
        """Always have so many of this kind."""
        self._shelf(kind).base = base
        self._look_at(kind)

    def foresee(self, kind: Kind, soon: bool, by: int = 1) -> None:
        """One table more will ask for this kind; `by` -1: one fewer."""
        shelf = self._shelf(kind)
        if soon:
            shelf.soon += by
        else:
            shelf.later += by
        self._look_at(kind)

    def ask(self, kind: Kind, room: str) -> bytes | None:
        """A ready deal of this kind; None: the room waits for one now."""
        shelf = self._shelf(kind)
        if shelf.ready:
            self._count -= 1
            deal = shelf.ready.popleft()
            self._look_at(kind)
            return deal
        self._turn += 1
        shelf.waiting[room] = self._turn
        self._look_at(kind)
        return None

    def no_longer(self, kind: Kind, room: str) -> None:
        """The room doesn't wait any more."""
        shelf = self._shelves.get(kind)
        if shelf is not None and shelf.waiting.pop(room, None) is not None:
            self._look_at(kind)

    def next(self, later: bool = True) -> tuple[Kind, int] | None:
        """What an idle worker should make, which then counts as being made: who waits longest goes first.

        Then kinds that tables may ask for at any moment, the one with the least of it first,
        then those for later, unless `later` is False.
        """
        best: tuple[tuple[float, ...], Kind, int] | None = None
        room = MOST - self._count - self._making
        for kind, shelf in self._shelves.items():
            found = _need(shelf, room)
            if found is not None and (later or found[0][0] < _LATER) and (best is None or found[0] < best[0]):
                best = (found[0], kind, found[1])
        if best is None:
            return None
        _, kind, count = best
        self._shelves[kind].making += count
        self._making += count
        return kind, count

    def made(self, kind: Kind, count: int, deals: list[bytes]) -> list[tuple[str, bytes]]:
        """What `next` said is there: each room that waited with its deal, in their order.

        `deals` empty: it failed, and is due again, after what others wait for.
        """
        shelf = self._shelf(kind)
        shelf.making -= count
        self._making -= count
        given = []
        for deal in deals:
            if shelf.waiting:
                given.append((shelf.waiting.popitem(last=False)[0], deal))
            else:
                shelf.ready.append(deal)
                self._count += 1
        if not deals:
            self._turn += 1
            shelf.waiting = OrderedDict.fromkeys(shelf.waiting, self._turn)
        self._look_at(kind)
        return given

    def _shelf(self, kind: Kind) -> _Shelf:
        shelf = self._shelves.get(kind)
        if shelf is None:
            shelf = self._shelves[kind] = _Shelf()
        return shelf

    def _look_at(self, kind: Kind) -> None:
        """Drop what is too much, and kinds that nobody wants for the longest time."""
        shelf = self._shelves[kind]
        while len(shelf.ready) > shelf.wanted + KEPT:
            shelf.ready.pop()
            self._count -= 1
        if shelf.wanted or shelf.waiting or shelf.making:
            self._unwanted.pop(kind, None)
            return
        self._unwanted[kind] = None
        self._unwanted.move_to_end(kind)
        if len(self._unwanted) > KINDS_KEPT:
            oldest, _ = self._unwanted.popitem(last=False)
            self._count -= len(self._shelves.pop(oldest).ready)


def _need(shelf: _Shelf, room: int) -> tuple[tuple[float, ...], int] | None:
    """How urgent a shelf is, lower first, and how many to make now; None: nothing."""
    waiting = len(shelf.waiting) - shelf.making
    if waiting > 0:
        return (_NOW, next(iter(shelf.waiting.values()))), min(waiting, BATCH)
    there = len(shelf.ready) + shelf.making - len(shelf.waiting)
    short = min(shelf.wanted - there, room, BATCH)
    if short <= 0:
        return None
    now = shelf.base + shelf.soon
    return ((_SOON, there / now) if there < now else (_LATER, there / shelf.wanted)), short
