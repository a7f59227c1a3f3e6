"""A phone: one player's socket to the gateway, and what its page would know and do.

The socket comes back by itself, and moves without an answer are sent again, by the page's
own rules (`link`, `outbox`).  Nobody presses anything for that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from simulate.findings import Findings
from simulate.link import Link
from simulate.outbox import Outbox, Pending, Told
from simulate.screen import Screen, Verdict
from simulate.snatch_solitaire import FAULTS
from simulate.watchers import Unwatched, Watcher
from wire import client_in
from wire import client_out as out

ONE_ANSWER = "one answer per move id"
CARDS = "52 cards a seat"
SCHEMA = "every message is of the protocol"

LOBBY_WITHIN = 15.0
"""Seconds that a lobby may take to answer."""
ASK_AGAIN = 1.0
"""Seconds after which it is asked again for a verdict that a snapshot leaves open."""
SLOW_DOWN = 0.4
"""Seconds until moves that were too many are sent again."""

_decode = msgspec.json.Decoder(out.ServerMessage).decode
_encode = msgspec.json.Encoder().encode


class Refused(Exception):
    """The lobby would not, or the socket is closed for good."""


class Stale(Exception):
    """The page dropped the move undecided: too old, or of another table."""


class Phone:
    """`start` connects; `screen` follows; `act` and `move` speak."""

    def __init__(
        self, url: str, token: str, tab: int, found: Findings, watcher: Watcher | None = None, *, look: bool = True
    ) -> None:
        """`look` after each frame that all cards are there."""
        self.token, self.tab = token, tab
        self.screen = Screen()
        self.lobby: out.Lobby | None = None
        self.told: dict[int, Told] = {}
        self.outbox = Outbox()
        self.taken_over = asyncio.Event()
        self.closed: str | None = None
        self.live = False
        """A snapshot has come on this socket: moves may be sent."""
        self.no_table = False
        self.watcher: Watcher = watcher or Unwatched()
        self._found = found
        self._looks = look
        self._link = Link(url.replace("http", "ws", 1) + "/ws", self, Random(tab))
        self._until: list[tuple[Callable[[Phone], bool], asyncio.Future[None]]] = []
        self._requests: dict[int, asyncio.Future[None]] = {}
        self._request = 0
        self._last: Pending | None = None
        self._fresh = False
        self._asking: asyncio.TimerHandle | None = None

    # ---- from outside ----------------------------------------------------------

    def start(self) -> None:
        self._link.start()

    def stop(self) -> None:
        """At once, so that nobody who is cancelled as they clear up leaves it open."""
        self._link.stop()
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    @property
    def sent(self) -> int:
        """The highest move id given."""
        return self.outbox.last

    async def until(self, holds: Callable[[Phone], bool]) -> None:
        """Wait until what it was told makes this true.  Raises Refused when it is closed for good."""
        if holds(self):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (holds, future)
        self._until.append(entry)
        if self.closed is not None:
            self._notify()
        try:
            await future
        finally:
            self._until.remove(entry)

    async def act(self, do: Any) -> None:
        """Ask the lobby; raises Refused."""
        self._request += 1
        request = self._request
        done = self._requests[request] = asyncio.get_running_loop().create_future()
        self._link.send(_encode(client_in.LobbyMessage(request, do)))
        try:
            async with asyncio.timeout(LOBBY_WITHIN):  # wait_for may swallow a cancellation
                await done
        finally:
            del self._requests[request]

    async def move(self, m: Any, due: float | None = None) -> Told:
        """Make a move and wait for its answer; `due` is when it should have been made (monotonic).

        Raises Stale, Refused.
        """
        pending = self.begin(m)
        told = await pending.answer
        self._found.answered(told.at - (pending.at if due is None else due))
        return told

    def begin(self, m: Any) -> Pending:
        """Make a move, on top of those that wait already; `answer` of what is returned is its future."""
        now = time.monotonic()
        pending = self._last = self.outbox.add(m, self.screen.seq, now)
        pending.answer.add_done_callback(_retrieved)
        self._found.moves += 1
        self.watcher.made(now)
        if self.closed is not None:
            pending.answer.set_exception(Refused(f"the socket is closed: {self.closed}"))
        elif self.live:
            self._send(pending)
        return pending

    async def say_again(self) -> None:
        """The last move's message once more, as a page does that isn't sure: it must change nothing."""
        if self._last is not None:
            self._send(self._last)

    def described(self) -> str:
        """Where it stands, for a report of what went wrong."""
        socket = "open" if self._link.is_open else "down"
        shown = sorted(id for id, p in self.outbox.pending.items() if p.shown)
        waiting = sorted(set(self.outbox.pending) - set(shown))
        moves = f"moves {waiting} wait, {shown} show without a verdict, {max(self.told, default=0)} was told last"
        return f"seat {self.screen.seat}: socket {socket}, {'at the table' if self.live else 'waiting'}, {moves}"

    # ---- the socket: LinkListener ------------------------------------------------

    def hello(self) -> bytes:
        return _encode(client_in.Hello(out.VERSION, self.token, self.tab))

    def heard(self, data: bytes) -> bool:
        try:
            message = _decode(data)
            verdicts = self._understand(message)
        except msgspec.ValidationError as error:
            self._found.check(SCHEMA, False, f"{error}: {data[:300]!r}")
            return True
        self._found.check(SCHEMA, True, "")
        now = time.monotonic()
        for verdict in verdicts:
            self._judge(verdict, now)
        self._settle(now)
        if isinstance(message, out.Snapshot):
            self._rebased(message, now)
        self._notify()
        return not isinstance(message, out.Pong | out.Error)

    def owed(self) -> bool:
        return bool(self._requests) or any(p.sent for p in self.outbox.pending.values())

    def down(self) -> None:
        self.outbox.unsent()
        was, self.live = self.live, False
        if was:
            self._found.reconnects += 1
            self.watcher.down(time.monotonic())
        for future in self._requests.values():
            if not future.done():
                future.set_exception(Refused("the socket was lost"))
        self._notify()

    def ended(self, code: int, reason: str) -> None:
        """Closed for good: nothing is answered any more."""
        self.live = False
        self.closed = f"{code} {reason}"
        now = time.monotonic()
        for pending in self.outbox.pending.values():
            self._drop(pending, Refused(f"the socket is closed: {self.closed}"), now)
        self.outbox.pending.clear()
        self._notify()

    def _notify(self) -> None:
        if not self._until:
            return
        for holds, future in list(self._until):
            if future.done():
                continue
            if holds(self):
                future.set_result(None)
            elif self.closed is not None:
                future.set_exception(Refused(f"the socket is closed: {self.closed}"))

    # ---- what is said --------------------------------------------------------------

    def _understand(self, message: Any) -> list[Verdict]:
        match message:
            case out.TableFrame() | out.SeatFrame():
                verdicts = self.screen.frame(message)
                self._look()
                return verdicts
            case out.Snapshot():
                self._fresh = self.screen.table is not None and self.screen.table.table != message.table.table
                self.screen.snapshot(message)
                self.no_table = False
                self._look()
            case out.Answer(id=id, no=no):
                return [Verdict(id, no, "answer")]
            case out.Expect(id=id):
                self._send_from(id)
            case out.Lobby():
                self.lobby = message
            case out.Done(req=req):
                self._done(req, None)
            case out.Waiting():
                self.live = False
            case out.NoTable():
                self.no_table = True
            case out.TakenOver():
                self.live = False
                self.taken_over.set()
            case out.Error(code=code, req=req, id=id):
                self._error(code, req, id)
        return []

    def _rebased(self, snapshot: out.Snapshot, now: float) -> None:
        """A snapshot is the truth: moves above its `answered` were never decided, and go out again in order.

        Of those below whose verdict never came it is asked for, by the same message: it
        must be in the table's memory, whoever holds the table now.
        """
        if self._fresh:
            self.told = {}
        unseen = [p for p in self.outbox.pending.values() if not p.shown]
        for dropped in self.outbox.rebase(snapshot.answered, now, self._fresh):
            self._drop(dropped, Stale(f"move {dropped.id}"), now)
        for pending in unseen:
            if pending.shown:
                self.watcher.answered(now)
        self.live = True
        self.watcher.back(now)
        self._send_from(0)
        self._ask_on()

    def _ask_on(self) -> None:
        """Verdicts of moves that a snapshot shows are asked for until they come.

        A gateway keeps the question until it is answered, but a snapshot in the midst of a
        socket's life may have settled the move there before anybody asked.
        """
        if self._asking is None and any(p.shown for p in self.outbox.pending.values()):
            self._asking = asyncio.get_running_loop().call_later(ASK_AGAIN, self._ask)

    def _ask(self) -> None:
        self._asking = None
        if self.live:
            for pending in self.outbox.pending.values():
                if pending.shown:
                    self._send(pending)
            self._ask_on()

    def _once_more(self) -> None:
        if self.live:
            self._send_from(0)

    def _send_from(self, id: int) -> None:
        for pending in list(self.outbox.pending.values()):
            if pending.id >= id:
                self._send(pending)

    def _send(self, pending: Pending) -> None:
        if self._link.send(pending.data()):
            pending.sent = True

    def _settle(self, now: float) -> None:
        """A move's answer is whole when the own part of what everyone saw is there too."""
        if self.screen.owed or not self.outbox.pending:
            return
        for id in [id for id in self.outbox.pending if id in self.told]:
            pending = self.outbox.settle(id)
            assert pending is not None
            told = self.told[id]
            if not pending.shown:
                self.watcher.answered(now)
            if told.no is None:
                self._found.done += 1
            else:
                self._found.refused[told.no.code] += 1
            if not pending.answer.done():
                pending.answer.set_result(told)

    def _error(self, code: str, req: int | None, id: int | None) -> None:
        self._found.errors[code] += 1
        if req is not None:
            self._done(req, Refused(code))
        elif id is not None and code == "slow_down":
            asyncio.get_running_loop().call_later(SLOW_DOWN, self._once_more)
        elif id is not None:
            dropped = self.outbox.drop(id)
            if dropped is not None:
                self._drop(dropped, Refused(f"move {id}: {code}"), time.monotonic())
                self._send_from(id)

    def _drop(self, pending: Pending, why: Exception, now: float) -> None:
        if not pending.shown:
            self.watcher.dropped(now)
        if not pending.answer.done():
            pending.answer.set_exception(why)
        if pending is self._last:
            self._last = None

    def _done(self, req: int, error: Refused | None) -> None:
        future = self._requests.get(req)
        if future is None or future.done():
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    # ---- what must hold --------------------------------------------------------------

    def _look(self) -> None:
        screen = self.screen
        if not self._looks or screen.view is None or screen.game is None or screen.owed:
            return
        for fault in FAULTS[screen.game.spec.id](screen.view, screen.seat, screen.placed) or [""]:
            self._found.check(CARDS, not fault, f"{screen.room}: {fault}")

    def _judge(self, verdict: Verdict, now: float) -> None:
        """The first word on a move answers it; all later ones must agree, and come from elsewhere."""
        told = self.told.get(verdict.id)
        if told is None and verdict.id <= self.outbox.highest:
            self._found.check(ONE_ANSWER, True, "")
            self.told[verdict.id] = Told(verdict.no, verdict.where, now)
            return
        where = f"{self.screen.room} seat {self.screen.seat} move {verdict.id}"
        if told is None:
            self._found.check(ONE_ANSWER, False, f"{where} was never sent")
            return
        again = verdict.where != "answer" and verdict.where in told.where
        self._found.check(ONE_ANSWER, not again, f"{where} was answered twice in {verdict.where} frames")
        same = told.no == verdict.no
        self._found.check(ONE_ANSWER, same, f"{where} was answered {told.no}, then {verdict.no}")
        told.where.append(verdict.where)


def _retrieved(future: asyncio.Future[Told]) -> None:
    """Nobody may be waiting for it: its exception is not news."""
    if not future.cancelled():
        future.exception()


__all__ = ["CARDS", "ONE_ANSWER", "SCHEMA", "Phone", "Refused", "Stale", "Told"]
