"""The own moves that no answer has come for, as the page keeps them (`web/src/lib/outbox.ts`).

Ids count up from 1 in each tab without gaps.  A move that is thrown out undecided leaves
its id free, and those behind it move up.  An id that was given to a socket is that move's
for as long as the socket lives.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from wire import client_in
from wire import client_out as out

STALE_AFTER = 10.0
"""Seconds: nobody wants a flick of so long ago carried out, if no server has it yet."""

_encode = msgspec.json.Encoder().encode


class Told:
    """What was said of one move id, and when (monotonic seconds)."""

    __slots__ = ("at", "no", "where")

    def __init__(self, no: out.No | None, where: str, at: float) -> None:
        self.at, self.no, self.where = at, no, [where]


class Pending:
    """One move on its way.

    `shown`: a snapshot holds what it did already, only the verdict is still asked for.
    `sent`: it was said on the socket that is open now, so its answer decides, however old it is.
    """

    __slots__ = ("answer", "at", "basis", "id", "m", "sent", "shown")

    def __init__(self, id: int, basis: int, m: Any, at: float) -> None:
        self.id, self.basis, self.at = id, basis, at
        self.m = msgspec.Raw(_encode(m))
        self.shown = self.sent = False
        self.answer: asyncio.Future[Told] = asyncio.get_running_loop().create_future()

    def data(self) -> bytes:
        """The message as it is sent: the same bytes for as long as it has its id."""
        return _encode(client_in.MoveMessage(self.id, self.basis, self.m))


class Outbox:
    """Moves by id, in order.  `last` is the highest id given; `highest` the highest ever."""

    def __init__(self) -> None:
        self.pending: dict[int, Pending] = {}
        self.last = 0
        self.highest = 0

    def add(self, m: Any, basis: int, at: float) -> Pending:
        self.last += 1
        self.highest = max(self.highest, self.last)
        move = self.pending[self.last] = Pending(self.last, basis, m, at)
        return move

    def settle(self, id: int) -> Pending | None:
        """This one has its answer."""
        return self.pending.pop(id, None)

    def unsent(self) -> None:
        """The socket is gone, and with it all that its gateway kept."""
        for p in self.pending.values():
            p.sent = False

    def rebase(self, answered: int, now: float, fresh: bool) -> list[Pending]:
        """A snapshot: what is up to `answered` is in it, what was sent keeps its id, the rest is numbered behind.

        Gives those that are dropped undecided: too old and not sent, or, with `fresh`, of another table.
        """
        known = [] if fresh else list(self.pending.values())
        decided = [p for p in known if p.id <= answered]
        sent = [p for p in known if p.id > answered and p.sent]
        behind = [p for p in known if p.id > answered and not p.sent and now - p.at < STALE_AFTER]
        kept = {*map(id, decided), *map(id, sent), *map(id, behind)}
        dropped = [p for p in self.pending.values() if id(p) not in kept]
        for p in decided:
            p.shown = True
        self._number([*decided, *sent], behind, max([answered, *(p.id for p in sent)]))
        return dropped

    def drop(self, move_id: int) -> Pending | None:
        """Thrown out undecided: its id is free, those behind it move up."""
        dropped = self.pending.pop(move_id, None)
        if dropped is not None:
            before = [p for p in self.pending.values() if p.id < move_id]
            behind = [p for p in self.pending.values() if p.id > move_id]
            self._number(before, behind, move_id - 1)
        return dropped

    def _number(self, before: list[Pending], behind: list[Pending], last: int) -> None:
        for number, p in enumerate(behind, last + 1):
            p.id = number
        self.pending = {p.id: p for p in (*before, *behind)}
        self.last = last + len(behind)
        self.highest = max(self.highest, self.last)
