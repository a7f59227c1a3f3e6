"""Deals: whatever a table may ask for is made before it asks, off the event loop.

What tables will need is foreseen from what they are at: in setup the seats that are there,
during a hand and at its scores the next hand.  A result is only ever an offer: it becomes
part of a table by a record, if that table still waits for just this deal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from servicekit import logs
from services.engine.deal_stock import Stock
from services.engine.deal_worker import Kind
from services.engine.dealers import Dealers
from services.engine.table import AnyGame, Table
from services.engine.table_moves import seats_to_deal

AGAIN = 1.0
BASE = 2
"""Deals of each game and seat count that are there before any table is."""

SHARE = 0.2
"""Of a core at most, for what tables that play will ask for: who takes hundreds of them over has more to do."""

Ready = Callable[[bytes], None]


class _Foreseen:
    """What a room's table is at, and the kind that it will ask for; `kind` None: nothing."""

    __slots__ = ("asked", "kind", "soon", "table")

    def __init__(self, table: str, asked: int, kind: Kind | None, soon: bool) -> None:
        self.table, self.asked, self.kind, self.soon = table, asked, kind, soon


class _Wait:
    """A table in `dealing`.  `event`: what it was given."""

    __slots__ = ("asked", "began", "event", "kind", "ready", "table")

    def __init__(self, table: str, asked: int, kind: Kind, ready: Ready, began: float) -> None:
        self.table, self.asked, self.kind, self.ready, self.began = table, asked, kind, ready, began
        self.event: bytes | None = None


class Deals:
    """`taken` hears how long a table waited for its deal in seconds, and whether it was there already.

    `checked` hears how many deals a worker made, and the seconds that it took for each.
    """

    def __init__(
        self,
        games: Mapping[str, AnyGame],
        workers: int,
        taken: Callable[[float, bool], None],
        dealers: Dealers | None = None,
        checked: Callable[[int, float], None] = lambda count, seconds: None,
    ) -> None:
        self._games, self._taken, self._checked = games, taken, checked
        self._dealers = dealers or Dealers(games, workers)
        self._stock = Stock()
        self._foreseen: dict[str, _Foreseen] = {}
        self._waits: dict[str, _Wait] = {}
        self._jobs: set[asyncio.Task[None]] = set()
        self._rest: asyncio.TimerHandle | None = None
        """Until it is over nothing is made for later."""
        self._ended = False
        self._log = logs.logger(__name__)

    @property
    def ready(self) -> bool:
        """A worker has answered."""
        return self._dealers.ready

    @property
    def stocked(self) -> int:
        """Deals that are ready for whoever asks."""
        return len(self._stock)

    @property
    def waiting(self) -> int:
        """Tables that wait for a deal now."""
        return self._stock.waiting

    @property
    def rooms(self) -> int:
        """Rooms that anything is kept of."""
        return len(self._foreseen.keys() | self._waits.keys())

    async def start(self) -> None:
        await self._dealers.start()
        for game in self._games.values():
            for count in range(game.spec.min_seats, game.spec.max_seats + 1):
                options = msgspec.to_builtins(game.spec.options_type())
                self._stock.keep(_kind(game, range(count), options), BASE)
        self._next()

    async def stop(self) -> None:
        """What is being made is given up."""
        self._ended = True
        self._rested()
        for job in self._jobs:
            job.cancel()
        await self._dealers.stop()

    def look(self, table: Table, ready: Callable[[int, bytes], None]) -> None:
        """Foresee what this table will ask for; `ready(asked, event)` once it waits for it.

        Called after each record about it: during a hand it must cost next to nothing.
        """
        s = table.state
        if s.phase == "dealing":
            self._ask(table, ready)
            return
        seen = self._foreseen.get(s.room)
        playing = s.phase in ("countdown", "live")
        if playing and seen is not None and seen.asked == s.asked and seen.table == s.table:
            return
        self._no_wait(s.room)
        kind = self._coming(table)
        if seen is not None:
            if (seen.kind, seen.soon) == (kind, not playing):
                seen.table, seen.asked = s.table, s.asked
                return
            self._unforesee(s.room)
        self._foreseen[s.room] = _Foreseen(s.table, s.asked, kind, not playing)
        if kind is not None:
            self._stock.foresee(kind, not playing)
            self._next()

    def forget(self, room: str) -> None:
        """The room's table is gone from here."""
        self._unforesee(room)
        self._no_wait(room)

    def _coming(self, table: Table) -> Kind | None:
        """What the table's next deal will be, as it looks now."""
        s, spec = table.state, table.game.spec
        if s.phase == "closed":
            return None
        seats = seats_to_deal(table, coming=True) if s.phase == "setup" else table.playing()
        return _kind(table.game, seats, s.options) if len(seats) >= spec.min_seats else None

    def _ask(self, table: Table, ready: Callable[[int, bytes], None]) -> None:
        s, loop = table.state, asyncio.get_running_loop()
        asked = s.asked

        def give(event: bytes) -> None:
            ready(asked, event)

        wait = self._waits.get(s.room)
        if wait is not None and (wait.table, wait.asked) == (s.table, asked):
            wait.ready = give
            if wait.event is not None:
                loop.call_soon(give, wait.event)
            return
        self.forget(s.room)
        kind = _kind(table.game, table.playing(), s.options)
        wait = self._waits[s.room] = _Wait(s.table, asked, kind, give, loop.time())
        wait.event = self._stock.ask(kind, s.room)
        if wait.event is not None:
            self._taken(0.0, True)
            loop.call_soon(give, wait.event)
        self._next()

    def _unforesee(self, room: str) -> None:
        seen = self._foreseen.pop(room, None)
        if seen is not None and seen.kind is not None:
            self._stock.foresee(seen.kind, seen.soon, by=-1)

    def _no_wait(self, room: str) -> None:
        wait = self._waits.pop(room, None)
        if wait is not None and wait.event is None:
            self._stock.no_longer(wait.kind, room)

    def _next(self) -> None:
        """Let idle workers begin."""
        while len(self._jobs) < self._dealers.workers and not self._ended:
            due = self._stock.next(later=self._rest is None)
            if due is None:
                return
            job = asyncio.create_task(self._make(*due), name="deal")
            self._jobs.add(job)
            job.add_done_callback(self._done)

    def _done(self, job: asyncio.Task[None]) -> None:
        self._jobs.discard(job)
        self._next()

    def _rested(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        self._next()

    async def _make(self, kind: Kind, count: int) -> None:
        loop, deals = asyncio.get_running_loop(), list[bytes]()
        began = loop.time()
        try:
            deals = await self._dealers.make(kind, count)
            self._checked(count, (loop.time() - began) / count)
        except Exception:
            self._log.exception("no deal could be made; once more", game=kind.game, seats=len(kind.seats))
            await asyncio.sleep(AGAIN)
        finally:
            if self._rest is None and not self._ended:
                self._rest = loop.call_later((loop.time() - began) * (1 / SHARE - 1), self._rested)
            self._hand_out(kind, count, deals)

    def _hand_out(self, kind: Kind, count: int, deals: list[bytes]) -> None:
        loop = asyncio.get_running_loop()
        for room, event in self._stock.made(kind, count, deals):
            wait = self._waits[room]
            wait.event = event
            self._taken(loop.time() - wait.began, False)
            loop.call_soon(wait.ready, event)


def _kind(game: AnyGame, seats: Sequence[int], options: Mapping[str, Any]) -> Kind:
    """Of the options only those that make another deal."""
    names = game.spec.deal_options
    chosen = options if names is None else {name: options[name] for name in names}
    return Kind(game.spec.id, tuple(seats), msgspec.json.encode(chosen).decode())
