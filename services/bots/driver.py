"""One bot seat: it reads what its seat's screen is sent, and asks a mind now and then.

A bot acts in the phase `live` alone, never while paused, and looks again only when its
last move has been answered.  Its clock is play time: it runs while cards may move, so
that a pause freezes the mind's next look with what is left of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any, Protocol

import msgspec

from games.contract import Game, Mind
from servicekit import logs
from services.bots.agenda import Timer
from services.bots.metrics import BotsMetrics
from services.bots.reading import TABLE_EVENTS, Reader
from wire import client_in, client_out, frames

_encode = msgspec.json.encode


class Line(Protocol):
    """The way to the engine, as servicekit.seat.SeatSession has it."""

    seat: int
    answered: int
    last: int

    def send(self, id: int, body: bytes) -> Any: ...

    @property
    def waiting_for_answers(self) -> int: ...


class Driver:
    """`ended` is called once, with why, when there is nothing left to drive."""

    def __init__(
        self,
        game: Game[Any, Any, Any, Any, Any, Any],
        minds: Callable[[str], Mind[Any, Any]],
        level: str,
        reader: Reader,
        timer: Timer,
        dice: Random,
        metrics: BotsMetrics,
        ended: Callable[[str], None],
    ) -> None:
        self._game, self._minds, self._reader = game, minds, reader
        self._timer, self._dice, self._metrics, self._ended = timer, dice, metrics, ended
        self.line: Line | None = None
        self.level = level
        self.view: Any = None
        self.seq = 0
        self.phase = "setup"
        self.over = False
        self._paused = self._playing = False
        self._options: dict[str, Any] = {}
        self._waiting = False
        """For the table: the engine can't be reached."""
        self._mind = minds(level)
        self._played = 0.0
        self._running_since: float | None = None
        self._left = 0.0
        """Seconds of play time until the next look, while the clock stands still."""
        self._due = 0.0
        self._hungry = False
        """A look is due and waits for the last move's answer."""
        self._moves: set[int] = set()
        """Ids whose answers have not been counted."""
        self._log = logs.logger(__name__)

    # ---- what the seat is told: SeatSink ----

    def on_snapshot(self, body: bytes) -> None:
        self._metrics.snapshot_read()
        snapshot: Any = self._read(self._reader.snapshot, body)
        if snapshot is None or self.line is None:
            return
        table: client_out.TableView = snapshot.table
        me = next((m for m in table.members if m.seat == self.line.seat), None)
        self.seq, self.view, self._options = snapshot.seq, snapshot.view, table.options
        self._waiting, self._paused = False, table.paused_by is not None
        self._playing = me is not None and me.playing
        if me is not None and me.bot is not None:
            self._set_level(me.bot)
        self._moves = {id for id in self._moves if id > snapshot.answered}
        self._enter(table.phase)
        self._fed()

    def on_frame(self, kind: int, body: bytes) -> None:
        frame: Any = self._read(self._reader.frame, body)
        if frame is None:
            return
        for step in frame.steps:
            if step.id is not None and step.id in self._moves and self._own(step, kind):
                self._moves.discard(step.id)
                self._metrics.move_answered(step.no.code if step.no is not None else "ok")
            for event in step.ev:
                if isinstance(event, TABLE_EVENTS):
                    self._table_event(event)
                else:
                    self._game.apply(self._ready_view(), event)
                if self.over:
                    return
        self.seq = frame.seq
        self._fed()

    def on_answer(self, body: bytes) -> None:
        """Of a move that was sent twice, or that the engine could not read."""
        self._moves.clear()
        self._metrics.move_answered("again")
        self._fed()

    def on_waiting(self) -> None:
        self._waiting = True
        self._settle()

    def on_taken_over(self) -> None:
        self.end("taken_over")

    def on_superseded(self) -> None:
        self.end("taken_over")

    def on_no_table(self) -> None:
        self.end("no_table")

    def end(self, why: str) -> None:
        """Let go of the seat: no look comes after this."""
        if self.over:
            return
        self.over = True
        self._timer.drop(self)
        self._ended(why)

    # ---- what it makes of it ----

    def _read(self, decode: Callable[[bytes], Any], body: bytes) -> Any:
        if self.over:
            return None
        try:
            return decode(body)
        except msgspec.DecodeError as error:
            # It can't know its cards any more; whoever drives next starts from a snapshot.
            self._log.error("a bot can't read its table", why=str(error))
            self.end("unreadable")
            return None

    def _own(self, step: Any, kind: int) -> bool:
        return self.line is not None and (step.by == self.line.seat or (step.by is None and kind == frames.SEAT))

    def _ready_view(self) -> Any:
        if self.view is None:
            self.view = self._blank([])
        return self.view

    def _blank(self, seats: list[int]) -> Any:
        """The view of a game before its first deal, which nobody has sent."""
        options: Any = msgspec.convert(self._options, self._game.spec.options_type)
        return self._game.view(self._game.open(seats, options), None)

    def _table_event(self, event: Any) -> None:
        match event:
            case client_out.Seated(seats=seats):
                self._playing = self.line is not None and self.line.seat in seats
                self.view = self._blank(seats)
            case client_out.OptionsAre(options=options):
                self._options = options
            case client_out.Renamed(member=member):
                if self.line is not None and member.seat == self.line.seat and member.bot is not None:
                    self._set_level(member.bot)
            case client_out.Dealing():
                self._enter("dealing")
            case client_out.Countdown():
                self._enter("countdown")
            case client_out.Live():
                self._enter("live")
            case client_out.Paused():
                self._paused = True
            case client_out.Resumed():
                self._paused = False
            case client_out.Scores():
                self._enter("scores")
            case client_out.FinalStandings():
                self._enter("standings")
            case client_out.Setup():
                self._playing = self._paused = False
                self._enter("setup")
            case client_out.Closed():
                self.end("closed")
        self._settle()

    def _set_level(self, level: str) -> None:
        if level != self.level:
            self.level = level
            self._mind = self._minds(level)

    def _enter(self, phase: str) -> None:
        """Plans are a hand's own: none outlives it, none comes before it."""
        if phase != "live" or self.phase != "live":
            if phase != "live" and self.phase == "live":
                self._mind = self._minds(self.level)
            self._stop_clock()
            self._left = 0.0
            self._paused = self._paused and phase == "live"
        self.phase = phase
        self._settle()

    # ---- its clock ----

    def _settle(self) -> None:
        """Start or stop the clock, whichever is right now."""
        runs = self.phase == "live" and self._playing and not (self._paused or self._waiting or self.over)
        if runs and self._running_since is None:
            now = self._timer.now()
            self._running_since = now
            self._plan(now + self._left)
        elif not runs:
            self._stop_clock()

    def _stop_clock(self) -> None:
        if self._running_since is None:
            return
        now = self._timer.now()
        self._played += now - self._running_since
        self._running_since = None
        self._left = max(0.0, self._due - now)
        self._hungry = False
        self._timer.drop(self)

    def _plan(self, at: float) -> None:
        self._due = at
        self._timer.put(at, self)

    def _fed(self) -> None:
        """Something was shown: a look that waited for an answer may have it now."""
        if self._hungry and self._running_since is not None and not self._busy():
            self._hungry = False
            self._plan(self._timer.now())

    def _busy(self) -> bool:
        return self.line is None or self.line.waiting_for_answers > 0

    def look(self, late: float) -> None:
        """Ask the mind, and send what it wants to do."""
        if self._running_since is None or self.line is None or self.over:
            return
        if self._busy():
            self._hungry = True
            return
        now = self._timer.now()
        started = time.thread_time()
        play_time = round((self._played + now - self._running_since) * 1000)
        move, pause = self._mind.look(self.view, play_time, self._dice)
        self._metrics.looked(late, time.thread_time() - started)
        self._plan(now + pause / 1000)
        if move is not None:
            id = self.line.last + 1
            self._moves.add(id)
            self.line.send(id, _encode(client_in.MoveMessage(id, self.seq, msgspec.Raw(_encode(move)))))
