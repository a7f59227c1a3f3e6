"""What all players of a room see, kept once: frames that are the same bytes are decoded once and taken in once.

Each seat has its own cards beside it (`load_seat`), and still hears every frame on its own
socket: what is shared is the work, not the hearing.  Which moves a frame shows is kept with
it, so that every reader can be told how long after they were due it came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from games.registry import GAMES
from games.snatch_solitaire.messages import Dealt, HandEnded, Placed, PublicEvent, SnatchCount, View
from simulate.screen import Screen
from wire import client_out as out

GAME = GAMES["snatch_solitaire"]
REMEMBERED = 64
"""Frames whose decoded form is kept for the sockets that are behind."""


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """`out.Step` with its events typed."""

    ev: list[out.TableEvent | PublicEvent] = []
    by: int | None = None
    id: int | None = None
    no: out.No | None = None


class TableFrame(msgspec.Struct, tag_field="t", tag="table", forbid_unknown_fields=True):
    n: int
    seq: int
    steps: list[Step]


class SeatFrame(msgspec.Struct, tag_field="t", tag="seat", forbid_unknown_fields=True):
    n: int
    seq: int
    steps: list[Step]


Message = (
    TableFrame
    | SeatFrame
    | out.Welcome
    | out.Lobby
    | out.Done
    | out.Snapshot
    | out.Answer
    | out.Expect
    | out.Pong
    | out.Waiting
    | out.LobbyAway
    | out.NoTable
    | out.TakenOver
    | out.Error
)

decode = msgspec.json.Decoder(Message).decode
TABLE_EVENTS = frozenset(out.TableEvent.__args__)
OWED = frozenset((Placed, SnatchCount))
"""Public events of which their seat is told more in its own frame."""
_TABLE = b'{"t":"table",'


class Heard:
    """A table frame, decoded.

    `moves`: the (seat, id, due, owed) that it answers; due is None when it isn't known, and
    `owed` says that the seat's own part is still to come, in its seat frame.
    `own`: events that each seat must take into its own cards, too.
    `taken`: the room's picture has it, one way or the other.
    """

    __slots__ = ("moves", "n", "own", "seq", "steps", "taken")

    def __init__(self, frame: TableFrame) -> None:
        self.taken = False
        self.n, self.seq, self.steps = frame.n, frame.seq, frame.steps
        self.moves: list[tuple[int, int, float | None, bool]] = []
        self.own: list[Any] = []


Due = Callable[[int, int], float | None]
"""When a seat's move of this id was due; None when that isn't known."""


class Picture:
    """One room's.

    It begins with the snapshot of one seat, and the first frame after it is that seat's next one:
    others may hear older ones meanwhile.  From there on frames are taken in by their numbers.
    """

    def __init__(self, due: Due, changed: Callable[[], None]) -> None:
        """`changed` is called when the table's phase or host may be another."""
        self.screen = Screen()
        self.n: int | None = None
        """The last frame in it; None while no frame came after the snapshot."""
        self.contested: Counter[tuple[int, int]] = Counter()
        """Cards that came back from a spot, by its pile and the seat that took it."""
        self._source: object = None
        """Whose snapshot it began with."""
        self._due, self._changed = due, changed
        self._recent: dict[bytes, Heard] = {}

    @property
    def view(self) -> View | None:
        view: View | None = self.screen.view
        return view

    def snapshot(self, snapshot: out.Snapshot, hearer: object, alone: bool) -> View | None:
        """A seat's: the room's picture follows when it is behind.  Gives the view in it, own cards too.

        `alone`: nobody else hears the room's frames just now, so the picture may be old.
        """
        view = None if snapshot.view is None else msgspec.convert(snapshot.view, View)
        screen = self.screen
        another = screen.table is None or screen.table.table != snapshot.table.table
        waiting = self.n is None and self._source is hearer
        if alone or another or waiting or snapshot.seq > screen.seq:
            screen.snapshot(out.Snapshot(snapshot.v, snapshot.room, snapshot.now, snapshot.seq, snapshot.table, None))
            self.n, self._source = None, hearer
            if another:
                self._recent.clear()
            if view is not None:
                screen.view = msgspec.structs.replace(view, mine=None, middle=list(view.middle))
            self._changed()
        return view

    def table_frame(self, data: bytes, hearer: object) -> Heard | None:
        """The frame of these bytes, if they are one; taken in when nobody had it yet."""
        heard = self._recent.get(data)
        if heard is None:
            if not data.startswith(_TABLE):
                return None
            heard = self._recent[data] = self._read(data)
            if len(self._recent) > REMEMBERED:
                del self._recent[next(iter(self._recent))]
        if not heard.taken:
            self._take(heard, hearer)
        return heard

    def _read(self, data: bytes) -> Heard:
        frame = decode(data)
        assert isinstance(frame, TableFrame)
        heard = Heard(frame)
        for step in frame.steps:
            for event in step.ev:
                if type(event) is Dealt or type(event) is HandEnded:
                    heard.own.append(event)
            if step.by is None:
                continue
            if step.id is not None:
                owed = any(type(event) in OWED for event in step.ev)
                heard.moves.append((step.by, step.id, self._due(step.by, step.id), owed))
            elif step.no is not None and step.no.pile is not None and step.no.by is not None:
                self.contested[step.no.pile, step.no.by] += 1
        return heard

    def _take(self, heard: Heard, hearer: object) -> None:
        if self.n is None:
            if hearer is not self._source:
                return
        elif heard.n <= self.n:
            heard.taken = True
            return
        heard.taken = True
        screen = self.screen
        table_changed = False
        for step in heard.steps:
            for event in step.ev:
                if type(event) in TABLE_EVENTS:
                    table_changed = True
                    screen.take(event)
                elif screen.view is None:
                    screen.take(event)
                else:
                    GAME.apply(screen.view, event)
        screen.seq, self.n = heard.seq, heard.n
        if table_changed:
            self._changed()
