"""One simulated player at a table: a socket that comes back, its own cards, and the moves that wait for an answer.

As on the page, moves of a socket that is lost go out again, in order, on the next one; what
falls due meanwhile waits with the time at which it was due.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from random import Random
from typing import Any, Protocol

import msgspec

from games.snatch_solitaire.messages import View
from simulate.load_felt import FeltReport
from simulate.load_mind import choose
from simulate.load_phone import FullPhone
from simulate.load_picture import GAME, Heard, Picture, SeatFrame, decode
from simulate.load_socket import Socket, dial
from simulate.load_tally import Tally
from wire import client_in
from wire import client_out as out

AT_ONCE = 8
"""Moves that may wait for an answer; what is due beyond them goes out as answers come, late."""
FIRST_WAIT, LONGEST_WAIT = 0.2, 5.0
"""Seconds before a lost socket is opened again, as the page does it."""
DEAF_FOR = 3
"""Pings without a word between them, after which a socket is given up."""
TAKEN_OVER = 4001
FINAL = frozenset({TAKEN_OVER, 4002, 4003, 4004})
SLOW_DOWN = 0.5
_BEFORE = View(0, [], [])

_encode = msgspec.json.Encoder().encode


class Home(Protocol):
    """The room that a seat is of."""

    picture: Picture
    playing: bool

    def sat(self, seat: Seat) -> None:
        """Its number is known."""
        ...

    def alone(self, seat: Seat) -> bool:
        """No other seat hears the room's frames."""
        ...

    def news(self) -> None:
        """Something else than a frame came."""
        ...


class Seat:
    """`connect`, then it follows; `move` when one is due."""

    def __init__(self, home: Home, url: str, token: str, dice: Random, tally: Tally, flat_out: bool) -> None:
        """`flat_out`: its next move is due when the last one's answer is whole."""
        self._home, self._url, self._dice, self._tally = home, url, dice, tally
        self._flat_out = flat_out
        self.token = token
        self.tab = dice.randrange(1, 2**32)
        self.number = -1
        self.view = msgspec.structs.replace(_BEFORE)
        self.socket: Socket | None = None
        self.live = False
        """A snapshot has come on this socket."""
        self.asleep = False
        self._woke = 0.0
        """When it woke last: what was due before waited for it, not for the servers."""
        self.final = False
        self.replaced = False
        """Its page was opened once more at the end: that this one is taken over is no news."""
        self.lobby: out.Lobby | None = None
        self.last = 0
        """The highest move id given."""
        self.pending: dict[int, tuple[float, bytes]] = {}
        """When each was due, and its message."""
        self.backlog: deque[float] = deque()
        self.refused: dict[int, out.No] = {}
        self.acts: dict[int, asyncio.Future[None]] = {}
        self._owed = 0
        """The move whose own part is still to come."""
        self._table_n: int | None = None
        self._seat_n: int | None = None
        self._told_table = self._told_seat = 0
        self.told = 0
        """Every move up to this one was answered, those in `pending` apart."""
        self._lost_at = 0.0
        self._tries = 0
        self._hears = False
        """Something came since the last ping."""
        self._deaf = 0
        self._felt = FeltReport()
        self.phone: FullPhone | None = None
        """A full phone beside it, that hears the same."""

    # ---- the socket ----

    async def connect(self) -> None:
        """Raises OSError."""
        began = time.monotonic()
        self.socket = await dial(self._url, self)
        self._tally.connect.append(time.monotonic() - began)
        self.socket.send(_encode(client_in.Hello(out.VERSION, self.token, self.tab)))

    def ping(self) -> None:
        """As the page, every few seconds; a socket on which nothing comes between them is given up."""
        socket = self.socket
        if socket is None or not socket.open or self.asleep:
            return
        self._deaf = 0 if self._hears else self._deaf + 1
        self._hears = False
        if self._deaf >= DEAF_FOR:
            socket.cut()
            self.lost(socket, -1)
        else:
            socket.send(b'{"t":"ping","at":%d}' % self._deaf)
            if (felt := self._felt.due(time.monotonic())) is not None:
                socket.send(felt)

    def drop(self) -> None:
        """The phone is in a tunnel; it comes back by itself."""
        if self.socket is not None and self.socket.open:
            self.socket.cut()
            self.lost(self.socket, 0)

    def lost(self, socket: Socket, code: int) -> None:
        if not (self.replaced and code == TAKEN_OVER):
            self._tally.closes[{-1: "deaf", 0: "dropped"}.get(code, str(code))] += 1
        if socket is not self.socket:
            return
        self.socket, self.live = None, False
        self._lost_at = self._lost_at or time.monotonic()
        for future in self.acts.values():
            if not future.done():
                future.set_exception(OSError("the socket was lost"))
        if code in FINAL:
            self.final = True
            self._home.news()
            return
        self._again()

    def _again(self) -> None:
        full = min(LONGEST_WAIT, FIRST_WAIT * 2**self._tries)
        self._tries += 1
        asyncio.get_running_loop().call_later(full * (0.5 + self._dice.random() / 2), self._redial)

    def _redial(self) -> None:
        self._dialing = asyncio.ensure_future(self._come_back())

    async def _come_back(self) -> None:
        if self.final or self.socket is not None:
            return
        self._tally.reconnects += 1
        try:
            await self.connect()
        except OSError:
            self._tally.errors["connect"] += 1
            self._again()
        else:
            self._felt.reconnected()

    def leave(self) -> None:
        """For good."""
        self.final, self.live = True, False
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    # ---- moves ----

    @property
    def settled(self) -> bool:
        return not self.pending and not self._owed

    def due(self, due: float) -> None:
        """A move is due; it is made now if the server keeps up."""
        self._tally.fell_due(due)
        if not self.live or self.backlog or len(self.pending) >= AT_ONCE:
            self.backlog.append(due)
        else:
            self.move(due)

    def move(self, due: float) -> None:
        view, mine = self._home.picture.view, self.view.mine
        m = None if view is None or mine is None else choose(view, mine, not self.pending and not self._owed)
        if m is None:
            self._tally.had_none(due)
        else:
            self.say(m, due)
            self._tally.made(due)

    def say(self, m: bytes, due: float) -> int:
        """Send this move; its id."""
        id = self.last = self.last + 1
        data = b'{"t":"move","id":%d,"basis":%d,"m":%b}' % (id, self._home.picture.screen.seq, m)
        self.pending[id] = (due, data)
        if self.live and self.socket is not None:
            self.socket.send(data)
            self._tally.sent += len(data)
        return id

    def kick(self, now: float) -> None:
        """A hand went live: a flat-out player begins."""
        if self.live and self.settled:
            self._next(now)

    def sleep(self) -> None:
        """Its tab sleeps: it reads nothing and makes no move."""
        if self.socket is not None:
            self.asleep = True
            self.socket.pause()

    def wake(self) -> None:
        if self.asleep:
            self.asleep = False
            self._woke = time.monotonic()
            if self.socket is not None:
                self.socket.resume()
            self.kick(time.monotonic())

    def _next(self, now: float) -> None:
        """An answer is whole: what waits goes out."""
        if not self._home.playing:
            self.backlog.clear()
            self._home.news()
        elif self.backlog:
            while self.backlog and len(self.pending) < AT_ONCE:
                self.move(self.backlog.popleft())
        elif self._flat_out and not self.asleep and self.settled:
            self._tally.fell_due(now)
            self.move(now)

    # ---- hearing ----

    def heard(self, socket: Socket, data: bytes) -> None:
        if socket is not self.socket:
            return
        self._tally.received += len(data)
        self._hears = True
        if self.phone is not None:
            self.phone.hear(data)
        table = self._home.picture.table_frame(data, self)
        if table is not None:
            self._table(table)
            return
        message = decode(data)
        if type(message) is SeatFrame:
            self._own(message)
        else:
            self._other(message)

    def _table(self, heard: Heard) -> None:
        now = time.monotonic()
        tally, n = self._tally, heard.n
        if self._table_n is not None and n != self._table_n + 1:
            tally.gaps += 1
            tally.amiss(f"seat {self.number}: table frame {n} after {self._table_n}")
        self._table_n = n
        for event in heard.own:
            GAME.apply(self.view, event)
        number = self.number
        for by, id, due, owed in heard.moves:
            if by != number:
                if due is not None and tally.start <= due < tally.end and due >= self._woke:
                    tally.rival.append(now - due)
                continue
            if id <= self._told_table:
                self._twice(id, "table")
            self._told_table = id
            if owed:
                self._owed = id
            self._answered(id, None, now)
            if not owed:
                self._next(now)

    def _own(self, frame: SeatFrame) -> None:
        now = time.monotonic()
        if self._seat_n is not None and frame.n != self._seat_n + 1:
            self._tally.gaps += 1
            self._tally.amiss(f"seat {self.number}: seat frame {frame.n} after {self._seat_n}")
        self._seat_n = frame.n
        view, answered = self.view, False
        for step in frame.steps:
            for event in step.ev:
                GAME.apply(view, event)
            id = step.id
            if id is not None:
                if id <= self._told_seat:
                    self._twice(id, "seat")
                self._told_seat = id
                if id == self._owed:
                    self._owed = 0
                self._answered(id, step.no, now)
                answered = True
        if answered:
            self._next(now)

    def _answered(self, id: int, no: out.No | None, now: float) -> None:
        """The first word on a move; later ones must agree."""
        sent = self.pending.pop(id, None)
        if sent is None:
            if id > self.last or self.refused.get(id) != no:
                self._tally.doubled += 1
                words = f"seat {self.number} move {id} was answered {self.refused.get(id)}, then {no}"
                self._tally.amiss(words if id <= self.last else f"seat {self.number} never sent move {id}")
            return
        self.told = max(self.told, id)
        self._felt.seen(now - sent[0])
        self._tally.own_frame(sent[0], now, counts=sent[0] >= self._woke)
        if no is not None:
            self._tally.refusals[no.code] += 1
            self.refused[id] = no

    def _twice(self, id: int, where: str) -> None:
        self._tally.doubled += 1
        self._tally.amiss(f"seat {self.number} move {id} was answered twice in {where} frames")

    def _other(self, message: Any) -> None:
        match message:
            case out.Welcome(felt=every):
                self._felt.asked(every, time.monotonic())
            case out.Snapshot():
                self._snapshot(message)
            case out.Answer(id=id, no=no):
                self._answered(id, no, now := time.monotonic())
                self._next(now)
            case out.Expect(id=id):
                self._send_from(id)
            case out.Waiting():
                self.live = False
            case out.Lobby():
                self.lobby = message
            case out.Done(req=req):
                if (done := self.acts.get(req)) is not None and not done.done():
                    done.set_result(None)
            case out.Error(code=code, req=req, id=id):
                self._error(code, req, id)
            case out.TakenOver():
                self.live = False
        self._home.news()

    def _error(self, code: str, req: int | None, id: int | None) -> None:
        self._tally.errors[code] += 1
        if req is not None and (done := self.acts.get(req)) is not None and not done.done():
            done.set_exception(OSError(code))
        elif code == "slow_down":
            asyncio.get_running_loop().call_later(SLOW_DOWN, self._send_from, 0)
        elif id is not None:
            self._tally.amiss(f"seat {self.number} move {id}: {code}")

    def _snapshot(self, snapshot: out.Snapshot) -> None:
        now = time.monotonic()
        if snapshot.you is not None:
            self.number = snapshot.you.seat
            self._home.sat(self)
        view = self._home.picture.snapshot(snapshot, self, self._home.alone(self))
        self.view = msgspec.structs.replace(_BEFORE) if view is None else view
        self._table_n = self._seat_n = None
        self._owed = 0
        if snapshot.answered < self.told:
            self._tally.lost += self.told - snapshot.answered
            self._tally.amiss(f"seat {self.number} was told of move {self.told}; a snapshot knows {snapshot.answered}")
        if self._lost_at:
            self._tally.resume.append(now - self._lost_at)
            self._lost_at, self._tries = 0.0, 0
        self.live = True
        self._send_from(0)  # what is decided already is answered again
        self._next(now)

    def _send_from(self, id: int) -> None:
        if self.live and self.socket is not None:
            for each, (_, data) in list(self.pending.items()):
                if each >= id:
                    self.socket.send(data)

    async def act(self, do: Any) -> None:
        """Ask the lobby.  Raises OSError, TimeoutError."""
        request = len(self.acts) + 1
        done = self.acts[request] = asyncio.get_running_loop().create_future()
        assert self.socket is not None
        self.socket.send(_encode(client_in.LobbyMessage(request, do)))
        async with asyncio.timeout(30):
            await done
