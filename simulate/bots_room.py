"""One room without a network: the engine's own batches, decided on a clock, and the ways to its seats.

Everything but clock and wire is what runs in production: a command is decoded, decided and
logged as the engine does it, and its frames are the bytes that a gateway or a bot is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from random import Random
from typing import Any, Protocol

import msgspec

from games.registry import GAMES
from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import records as r
from services.engine.batch import Batch
from services.engine.items import Call, CommandItem, DealItem, Item
from services.engine.ledger import Ledger
from services.engine.table import Table
from simulate.bots_clock import Clock
from wire import frames

ROOM, TABLE, GAME = "BCDFG", "t1", "snatch_solitaire"
HOST = "person"


class Eyes(Protocol):
    """Who is sent what a seat is sent."""

    def on_snapshot(self, body: bytes) -> None: ...

    def on_frame(self, kind: int, body: bytes) -> None: ...


class Line:
    """A seat's way to its table, `way` seconds long in each direction.  Nothing overtakes on it, nothing is lost."""

    def __init__(self, room: Room, seat: int, session: int, way: float, eyes: Eyes) -> None:
        self.seat, self.session = seat, session
        self.last = self.answered = 0
        self._room, self._way, self.eyes = room, way, eyes

    @property
    def waiting_for_answers(self) -> int:
        return self.last - self.answered

    def send(self, id: int, body: bytes) -> None:
        """A move message, whole; ids count up by one."""
        self.last = id
        command = pb.Command(
            room=ROOM, seat=self.seat, session=self.session, id=id, body=body, kind=pb.COMMAND_KIND_MOVE
        )
        self._room.clock.call_in(self._way, lambda: self._room.do(CommandItem(command, self)))

    def reply(self, reply: pb.Reply) -> None:
        """What is no frame: a command that could not be taken.  There is none here."""
        raise AssertionError(f"seat {self.seat} was answered {pb.ReplyKind.Name(reply.kind)}")

    def hear(self, frame: frames.Frame) -> None:
        """What the table says now is seen a way later."""
        self._room.clock.call_in(self._way, lambda: self._see(frame))

    def _see(self, frame: frames.Frame) -> None:
        for seat, session, id in frame.answered:
            if (seat, session) == (self.seat, self.session):
                self.answered = id
        if frame.body:
            self.eyes.on_frame(frame.kind, frame.body)


class Room:
    """One table, hosted by HOST, with a bot of each of these levels."""

    def __init__(self, clock: Clock, levels: Sequence[str]) -> None:
        self.clock = clock
        self.refused: list[str] = []
        """By their codes, of all seats."""
        self._ledger = Ledger(GAMES)
        self._sequence = 0
        self._lines: list[Line] = []
        self._wake_at: int | None = None
        members = [pb.OpenMember(player=HOST, name="Ann", colour=0)]
        members += [
            pb.OpenMember(player=f"bot{n}", name=f"Bot {n}", colour=n, bot=level) for n, level in enumerate(levels, 1)
        ]
        self._call(pb.OpenRequest(room=ROOM, table=TABLE, game=GAME, host=HOST, members=members))

    @property
    def table(self) -> Table:
        table = self._ledger.table(ROOM)
        assert table is not None
        return table

    def attach(self, player: str, way: float, eyes: Eyes, worker: str = "") -> Line:
        """This member's seat, a bot's by a `worker`.  Nothing is seen on it before `begin`."""
        request = pb.AttachRequest(room=ROOM, table=TABLE, player=player, tab=1 + len(self._lines), worker=worker)
        answer = self._call(request)
        line = Line(self, answer.seat, answer.session, way, eyes)
        self._lines.append(line)
        return line

    def begin(self) -> None:
        """Everyone who will be there is: each sees the table as it is, at once."""
        for line in self._lines:
            request = pb.ViewRequest(room=ROOM, table=TABLE, seat=line.seat, session=line.session)
            line.eyes.on_snapshot(self._call(request).snapshot.body)

    def deal(self, dice: Random, shift: int) -> None:
        """The deal that the table waits for; each `shift` gives the same decks to other seats."""
        table = self.table
        seats = table.playing()
        at = shift % len(seats)
        event = table.game.deal([*seats[at:], *seats[:at]], table.options(), dice)
        self.do(DealItem(ROOM, TABLE, table.state.asked, msgspec.msgpack.encode(event)))

    def do(self, *items: Item) -> None:
        """A record with all of this, and with whatever the table does by itself at this time."""
        batch = Batch(self._ledger, 1, self.clock.ms)
        batch.wake()
        for item in items:
            batch.take(item)
        batch.finish()
        for fault in batch.faults:
            raise fault.error
        self._sequence += 1
        if not batch.empty:
            record = r.Record(r.VERSION, 0, 1, "data", self.clock.ms, batch.snapshots, batch.chunks)
            self._ledger.committed(record, self._sequence)
        for after in batch.afterwards:
            after()
        self.refused += [code for _, _, refused in batch.decided for code in refused]
        for outgoing in batch.outgoing:
            frame = frames.unpack(outgoing.data)
            only = int(outgoing.subject.rpartition(".")[2]) if frame.kind == frames.SEAT else None
            for line in self._lines:
                if only is None or line.seat == only:
                    line.hear(frame)
        self._wind()

    def _call(self, request: Any) -> Any:
        answer: Any = Future()
        self.do(Call(request, answer, via="here"))
        return answer.result(0)

    def _wind(self) -> None:
        """Be there when the table wants to do something by itself."""
        at = self.table.wakes_at()
        if at is not None and at != self._wake_at:
            self._wake_at = at
            self.clock.call_at(at / 1000, self._wake)

    def _wake(self) -> None:
        self._wake_at = None
        self.do()
