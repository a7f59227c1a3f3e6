"""What a page or a TV shows: a table and a hand, kept up to date by what it is told.

No I/O: messages go in, and what they answered comes out.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import msgspec

from games.contract import Game
from games.registry import GAMES
from simulate.snatch_solitaire import OWES
from wire import client_out as out

AnyGame = Game[Any, Any, Any, Any, Any, Any]


class Verdict(NamedTuple):
    """An own move was decided: `where` it was told is `table`, `seat` or `answer`."""

    id: int
    no: out.No | None
    where: str


class Screen:
    """One audience's picture.  `seat` None: a TV."""

    def __init__(self) -> None:
        self.room = ""
        self.table: out.TableView | None = None
        self.view: Any = None
        self.seq = 0
        self.you: out.You | None = None
        self.answered = 0
        self.placed: Counter[int] | None = None
        """Cards each seat has put in the middle in this hand; None when it was joined in mid-hand."""
        self.owed = False
        """The own part of what everyone saw is still to come, in the seat frame of the same moment."""
        self.game: AnyGame | None = None
        self._event_type: Any = None

    @property
    def seat(self) -> int | None:
        return self.you.seat if self.you is not None else None

    @property
    def live(self) -> bool:
        """Cards may move."""
        return self.table is not None and self.table.phase == "live" and self.table.paused_by is None

    def phase(self) -> str:
        return self.table.phase if self.table is not None else ""

    # ---- taking in -----------------------------------------------------------

    def snapshot(self, message: out.Snapshot) -> None:
        """Everything, from nothing."""
        self.room, self.table, self.seq = message.room, message.table, message.seq
        self.you, self.answered = message.you, message.answered
        self._use(message.table.game)
        assert self.game is not None
        self.placed, self.owed = None, False
        self.view = None if message.view is None else msgspec.convert(message.view, self.game.spec.view_type)

    def frame(self, message: out.TableFrame | out.SeatFrame) -> list[Verdict]:
        """The verdicts on own moves that it holds.  Raises msgspec.ValidationError for an unknown event."""
        where = "table" if isinstance(message, out.TableFrame) else "seat"
        verdicts = []
        if where == "seat":
            self.owed = False
        for step in message.steps:
            for event in step.ev:
                self.take(msgspec.convert(event, self._event_type))
            own = step.by == self.seat if where == "table" else True
            if own and step.id is not None:
                verdicts.append(Verdict(step.id, step.no, where))
        self.seq = message.seq
        return verdicts

    def _use(self, game: str) -> None:
        self.game = GAMES[game]
        self._event_type = out.TableEvent | self.game.spec.public_event_type

    def take(self, event: Any) -> None:
        """One event, decoded."""
        table = self.table
        if table is None or self.game is None:
            return
        if isinstance(event, out.TableEvent):
            self._table_event(table, event)
            return
        if self.view is None:
            self.view = self._before_the_first_deal(table)
        kind = type(event).__struct_config__.tag
        if kind == "dealt":
            self.placed = Counter()
        elif kind == "placed" and self.placed is not None:
            self.placed[event.seat] += 1
        self.game.apply(self.view, event)
        seat = self.seat
        if seat is not None and self._member(seat).playing and OWES[self.game.spec.id](event, seat):
            self.owed = True

    def _before_the_first_deal(self, table: out.TableView) -> Any:
        assert self.game is not None
        seats = [m.seat for m in table.members if m.playing]
        options: Any = msgspec.convert(table.options, self.game.spec.options_type)
        eyes = self.seat if self.seat in seats else None
        return self.game.view(self.game.open(seats, options), eyes)

    def _table_event(self, table: out.TableView, event: out.TableEvent) -> None:
        match event:
            case out.Joined(member=member) | out.Renamed(member=member):
                table.members = sorted(
                    [*(m for m in table.members if m.seat != member.seat), member], key=lambda m: m.seat
                )
            case out.Presence(seat=seat, present=present):
                self._member(seat).present = present
            case out.Gone(seat=seat, gone=gone):
                self._member(seat).left = gone
            case out.HostIs(seat=seat):
                table.host = seat
            case out.OptionsAre():
                table.options = event.options
            case out.Seated(seats=seats):
                for member in table.members:
                    member.playing = member.seat in seats
                if self.you is not None:
                    self.you.watching = self.you.seat not in seats
                self.view, table.outcome, table.over, table.notice = None, None, False, None
            case out.Dealing():
                table.phase = "dealing"
            case out.Countdown(ms=ms):
                table.phase, table.countdown = "countdown", ms
            case out.Live():
                table.phase, table.countdown = "live", None
            case out.Paused(by=by):
                table.paused_by = by
            case out.Resumed():
                table.paused_by = None
            case out.Scores(over=over):
                table.phase, table.over, table.paused_by = "scores", over, None
            case out.FinalStandings(outcome=outcome):
                table.phase, table.outcome = "standings", outcome
            case out.Setup(notice=notice):
                table.phase, table.notice, table.outcome, table.over = "setup", notice, None, False
                table.paused_by, self.view = None, None
                for member in table.members:
                    member.playing = False
                if self.you is not None:
                    self.you.watching = True
            case out.Closed():
                table.phase = "closed"

    def _member(self, seat: int) -> out.Member:
        assert self.table is not None
        return next(m for m in self.table.members if m.seat == seat)
