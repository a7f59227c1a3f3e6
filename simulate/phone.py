"""A phone: one player's socket to the gateway, and what its page would know.

One move is on its way at a time.  The socket comes back by itself; a move without an
answer is sent again, as a page does.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from simulate.findings import Findings
from simulate.screen import Screen, Verdict
from simulate.snatch_solitaire import FAULTS
from wire import client_in
from wire import client_out as out

TAKEN_OVER = 4001
FINAL_CODES = (TAKEN_OVER, 4002, 4003, 4004)
ONE_ANSWER = "one answer per move id"
CARDS = "52 cards a seat"
SCHEMA = "every message is of the protocol"

_decode = msgspec.json.Decoder(out.ServerMessage).decode
_encode = msgspec.json.Encoder().encode


class Refused(Exception):
    """The lobby would not."""


class Told:
    """What was said of one move id."""

    __slots__ = ("at", "no", "where")

    def __init__(self, verdict: Verdict) -> None:
        self.at = time.monotonic()
        self.no = verdict.no
        self.where = [verdict.where]


class Phone:
    """`start` connects; `screen` follows; `act` and `move` speak."""

    def __init__(self, url: str, token: str, tab: int, found: Findings) -> None:
        self._url = url.replace("http", "ws", 1) + "/ws"
        self.token, self.tab = token, tab
        self.screen = Screen()
        self.lobby: out.Lobby | None = None
        self.told: dict[int, Told] = {}
        self.sent = 0
        self.taken_over = asyncio.Event()
        self.closed: str | None = None
        self._found = found
        self._socket: ClientConnection | None = None
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self._pending: bytes | None = None
        self._answer: asyncio.Future[Told] | None = None
        self._requests: dict[int, asyncio.Future[None]] = {}
        self._request = 0

    # ---- from outside ----------------------------------------------------------

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def until(self, holds: Callable[[Phone], bool]) -> None:
        """Wait until what it was told makes this true."""
        async with self._changed:
            await self._changed.wait_for(lambda: holds(self) or self.closed is not None)
        if not holds(self):
            raise Refused(f"the socket is closed: {self.closed}")

    async def act(self, do: Any) -> None:
        """Ask the lobby; raises Refused."""
        self._request += 1
        request = self._request
        done = self._requests[request] = asyncio.get_running_loop().create_future()
        await self._send(_encode(client_in.LobbyMessage(request, do)))
        try:
            await asyncio.wait_for(done, 15)
        finally:
            del self._requests[request]

    async def move(self, m: Any, due: float | None = None) -> Told:
        """Send a move and wait for its answer; `due` is when it should have been sent (monotonic)."""
        id = self.sent + 1
        data = _encode(client_in.MoveMessage(id, self.screen.seq, msgspec.Raw(_encode(m))))
        self.sent = id
        self._pending = data
        self._answer = asyncio.get_running_loop().create_future()
        began = time.monotonic() if due is None else due
        self._found.moves += 1
        await self._send(data)
        told = await self._answer
        self._found.answered(told.at - began)
        if told.no is None:
            self._found.done += 1
        else:
            self._found.refused[told.no.code] += 1
        return told

    async def say_again(self) -> None:
        """The last move's message once more, as a page does that isn't sure: it must change nothing."""
        if self._pending is not None:
            await self._send(self._pending)

    # ---- the socket --------------------------------------------------------------

    async def _send(self, data: bytes) -> None:
        socket = self._socket
        if socket is not None:
            with contextlib.suppress(ConnectionClosed):
                await socket.send(data, text=True)

    async def _run(self) -> None:
        pause = 0.1
        while True:
            try:
                async with connect(self._url, compression=None, proxy=None, max_queue=256, open_timeout=20) as socket:
                    pause = 0.1
                    await socket.send(_encode(client_in.Hello(out.VERSION, self.token, self.tab)), text=True)
                    self._socket = socket
                    async for message in socket:
                        await self._take(message)
                    code, reason = socket.close_code, socket.close_reason
            except ConnectionClosed as closed:
                code, reason = (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (1006, "")
            except (OSError, InvalidHandshake, TimeoutError) as error:
                code, reason = 0, repr(error)
            self._socket = None
            if code in FINAL_CODES:
                await self._over(f"{code} {reason}")
                return
            self._found.reconnects += 1
            await asyncio.sleep(pause)
            pause = min(2.0, pause * 2)

    async def _over(self, why: str) -> None:
        async with self._changed:
            self.closed = why
            self._changed.notify_all()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Refused(f"the socket is closed: {why}"))

    async def _take(self, data: str | bytes) -> None:
        try:
            message = _decode(data)
            verdicts = self._understand(message)
        except msgspec.ValidationError as error:
            self._found.check(SCHEMA, False, f"{error}: {data[:300]!r}")
            return
        self._found.check(SCHEMA, True, "")
        for verdict in verdicts:
            self._judge(verdict)
        self._settle()
        if isinstance(message, out.Snapshot) and self._pending is not None and self._waiting():
            await self._send(self._pending)
        if isinstance(message, out.Expect) and self._pending is not None:
            await self._send(self._pending)
        async with self._changed:
            self._changed.notify_all()

    def _settle(self) -> None:
        """A move's answer is whole when the own part of what everyone saw is there too."""
        told = self.told.get(self.sent)
        if told is not None and not self.screen.owed and self._answer is not None and not self._answer.done():
            self._answer.set_result(told)

    def _waiting(self) -> bool:
        return self._answer is not None and not self._answer.done()

    def _understand(self, message: Any) -> list[Verdict]:
        match message:
            case out.TableFrame() | out.SeatFrame():
                verdicts = self.screen.frame(message)
                self._look()
                return verdicts
            case out.Snapshot():
                self.screen.snapshot(message)
                self._look()
            case out.Answer(id=id, no=no):
                return [Verdict(id, no, "answer")]
            case out.Lobby():
                self.lobby = message
            case out.Done(req=req):
                self._done(req, None)
            case out.TakenOver():
                self.taken_over.set()
            case out.Error(code=code, req=req, id=id):
                self._error(code, req, id)
        return []

    def _error(self, code: str, req: int | None, id: int | None) -> None:
        self._found.errors[code] += 1
        if req is not None:
            self._done(req, Refused(code))
        elif id is not None and id == self.sent and self._waiting():
            if code == "slow_down":
                asyncio.get_running_loop().call_later(0.3, lambda: asyncio.ensure_future(self.say_again()))
            else:
                assert self._answer is not None
                self._answer.set_exception(Refused(f"move {id}: {code}"))

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
        if screen.view is None or screen.game is None or screen.owed:
            return
        for fault in FAULTS[screen.game.spec.id](screen.view, screen.seat, screen.placed) or [""]:
            self._found.check(CARDS, not fault, f"{screen.room}: {fault}")

    def _judge(self, verdict: Verdict) -> None:
        """The first word on a move answers it; all later ones must agree, and come from elsewhere."""
        where = f"{self.screen.room} seat {self.screen.seat} move {verdict.id}"
        if verdict.id > self.sent:
            self._found.check(ONE_ANSWER, False, f"{where} was never sent")
            return
        told = self.told.get(verdict.id)
        if told is None:
            self._found.check(ONE_ANSWER, True, "")
            self.told[verdict.id] = Told(verdict)
            return
        again = verdict.where != "answer" and verdict.where in told.where
        self._found.check(ONE_ANSWER, not again, f"{where} was answered twice in {verdict.where} frames")
        same = told.no == verdict.no
        self._found.check(ONE_ANSWER, same, f"{where} was answered {told.no}, then {verdict.no}")
        told.where.append(verdict.where)
