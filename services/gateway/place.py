"""A player's place at a table, seen from their socket: attach, moves in, frames out."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.engines import EngineAway, EngineRefusal
from servicekit.seat import SeatSession, Sent
from servicekit.sockets import AGAIN, TAKEN_OVER, Socket
from services.gateway.parts import Parts
from wire.client_out import TakenOver, Waiting

MAX_EARLY = 64
"""Moves kept until the seat is attached."""
FIRST_TRY, NEXT_TRY = 1.5, 5.0
"""Seconds until “waiting for the table” is said, and of each attempt after that."""
ANY_TABLE = ""
"""While the lobby can't be had: whatever table is live in the room."""

_WAITING = msgspec.json.encode(Waiting())
_TAKEN_OVER = msgspec.json.encode(TakenOver())


class TellError(Protocol):
    def __call__(self, code: str, text: str = "", *, req: int | None = None, id: int | None = None) -> None: ...


class Place:
    """At no table, on the way to one, or attached: never at two."""

    def __init__(self, socket: Socket, parts: Parts, error: TellError) -> None:
        self._socket = socket
        self._parts = parts
        self._sent = parts.metrics.sent
        self._error = error
        self._table: str | None = None
        self._session: SeatSession | None = None
        self._attached = False
        self._turn = 0
        """Grows whenever the place changes, so that an attempt knows that it is not wanted any more."""
        self._attaching: set[asyncio.Task[None]] = set()
        self._early: deque[tuple[int, bytes]] = deque()
        self._log = logs.logger(__name__)

    def sit(self, who: pb.AttachRequest, table: str | None) -> None:
        """Be at this table, or at none."""
        if table == self._table:
            return
        if table and self._table == ANY_TABLE and self._attached:
            self._table = table
            return
        self._stand(detach=False)
        if table is None or self._table:  # what waits was meant for the table before
            self._refuse_early()
        self._table = table
        if table is not None:
            self._start(who, table)

    def leave(self) -> None:
        """The socket is gone."""
        self._stand(detach=True)
        self._table = None

    def move(self, id: int, body: bytes) -> None:
        """A move's whole message; kept while the seat is being attached."""
        if self._attached:
            self._pass_on(id, body)
        elif self._table is None:
            self._error("no_table", "nothing is being played", id=id)
        elif len(self._early) >= MAX_EARLY:
            self._error("slow_down", "the table can't be reached", id=id)
        else:
            self._early.append((id, body))

    # ---- attaching ----

    def _start(self, who: pb.AttachRequest, table: str, after: float = 0.0) -> None:
        request = pb.AttachRequest()
        request.CopyFrom(who)
        request.table = table
        task = asyncio.create_task(self._attach(request, self._turn, after))
        self._attaching.add(task)
        task.add_done_callback(self._attaching.discard)

    async def _attach(self, request: pb.AttachRequest, turn: int, after: float) -> None:
        """Attach, however long it takes: an engine may be away, a table may be opening."""
        loop = asyncio.get_running_loop()
        started, told = loop.time(), False
        pause = after or 0.1
        if after:
            await asyncio.sleep(after)
        while turn == self._turn and not self._socket.closing:
            session = self._session = self._parts.seat(
                self._parts.feeds, request, self, timed=self._parts.metrics.move_answered
            )
            try:
                await session.attach(NEXT_TRY if told else FIRST_TRY)
            except EngineAway:
                if turn == self._turn and not told:
                    told = True
                    self._socket.send(_WAITING)
            except EngineRefusal as refusal:
                if turn == self._turn:
                    self._log.info(
                        "the table didn't take the player", room=request.room, player=request.player, why=str(refusal)
                    )
                    self._refuse_early()
                    self._parts.lobbies.doubt(request.room)
            else:
                if turn == self._turn and not session.over:
                    self._attached = True
                    self._parts.metrics.seat_taken(loop.time() - started)
                    self._log.info("at the table", room=request.room, seat=session.seat, player=request.player)
                    while self._early:
                        self._pass_on(*self._early.popleft())
                return
            await asyncio.sleep(pause)
            pause = min(2.0, pause * 2)

    def _stand(self, *, detach: bool) -> None:
        """An attempt under way ends by itself, and detaches if it was attached after all."""
        self._turn += 1
        if self._session is not None:
            if detach:
                self._parts.metrics.moves_unanswered(self._session.waiting_for_answers)
            self._session.close(detach=detach)
            self._session = None
        if self._attached:
            self._attached = False
            self._parts.metrics.seat_given_up()

    # ---- moves ----

    def _pass_on(self, id: int, body: bytes) -> None:
        sent = self._session.send(id, body) if self._session is not None else Sent.OVER
        if sent is Sent.FULL:
            self._error("slow_down", "too many moves wait for answers", id=id)
        elif sent is Sent.OVER:
            self._error("no_table", "nothing is being played", id=id)

    def _refuse_early(self) -> None:
        while self._early:
            self._error("no_table", "nothing is being played", id=self._early.popleft()[0])

    # ---- what the session tells ----

    def on_snapshot(self, body: bytes) -> None:
        self._socket.send(body)
        self._sent.frames_sent += 1
        self._sent.frame_bytes += len(body)

    def on_frame(self, kind: int, body: bytes) -> None:
        self._socket.send(body)
        sent = self._sent
        sent.frames_sent += 1
        sent.frame_bytes += len(body)

    def on_answer(self, body: bytes) -> None:
        self._socket.send(body)

    def on_waiting(self) -> None:
        self._socket.send(_WAITING)

    def on_taken_over(self) -> None:
        self._socket.send(_TAKEN_OVER)
        self._socket.close(TAKEN_OVER, "taken over")

    def on_superseded(self) -> None:
        """The page has another socket by now.  If it has not, its clock was a slow gateway's: it comes back."""
        self._socket.close(AGAIN, "superseded")

    def on_no_table(self) -> None:
        """The lobby will say what now; should it say nothing new, look whether the table is back."""
        session, table = self._session, self._table
        self._stand(detach=False)
        self._refuse_early()
        if session is None or table is None or self._socket.closing:
            return
        self._parts.lobbies.doubt(session.room)
        self._start(session.request, table, after=1.0)
