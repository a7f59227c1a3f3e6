"""One room's part of a record while it is being made: what each command did, step by step.

A command is decided and its events are taken in at once, so that the next one is judged
against the state after it.  Nothing of this is shown before the record is committed; if it
never is, the table is dropped with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from services.engine import records as r
from services.engine.table import Member, Table
from wire import client_out as out
from wire.news import TableNews

_FOLLOW_LIMIT = 100
"""`Game.follow` ends by itself; a game that doesn't must not hold up its neighbours."""


_IN_HAND = frozenset(("dealing", "countdown", "live"))


class Step:
    """What one command did; without `seat`, the table by itself."""

    __slots__ = ("events", "greeting", "id", "no", "private", "seat", "session", "shown")

    def __init__(self, seat: int | None = None, id: int | None = None) -> None:
        self.seat, self.id = seat, id
        self.events: list[r.Event] = []
        self.shown: list[Any] = []
        """What everyone sees, table events and the public part of the game's."""
        self.private: list[tuple[int, Any]] = []
        """What a seat sees beyond that."""
        self.no: r.Refused | None = None
        self.session = 0
        """Of the tab that sent the move."""
        self.greeting: int | None = None
        """The seat that a new session begins on: its older tabs learn it from a frame."""


def _hand_end(event: r.Event) -> str:
    """How a hand ends by an event; empty: it goes on."""
    match event:
        case r.HandOver():
            return "played"
        case r.BackToSetup() | r.TableClosed(why="host_left"):
            return "host_left"
        case r.TableClosed():
            return "closed"
        case _:
            return ""


class Fault(NamedTuple):
    """An error of our own, and where: what an operator needs to find the room again."""

    error: BaseException
    room: str
    seat: int | None = None


class Sitting:
    """The steps of one table in one record.  `news` is for the rooms service, `faults` for the log."""

    def __init__(self, table: Table, now: int) -> None:
        self.table, self.now = table, now
        self.steps: list[Step] = []
        self.news: list[TableNews] = []
        self.faults: list[Fault] = []
        self.changed = False
        """More than cards moved: phase, members, clocks or pauses may be others now."""
        self.hand_end = ""
        """How a hand ended, if one did: `played`, `host_left`, `closed`."""

    def begin(self, seat: int | None = None, id: int | None = None) -> Step:
        step = Step(seat, id)
        self.steps.append(step)
        return step

    def emit(self, event: r.Event) -> None:
        """Take a table event in, and show what of it is to be seen."""
        self.changed = True
        table, step = self.table, self.steps[-1]
        seat = getattr(event, "seat", None)
        member = table.member(seat) if isinstance(seat, int) else None
        before = (member.present, member.gone) if member is not None else (False, False)
        if table.state.phase in _IN_HAND:
            self.hand_end = _hand_end(event) or self.hand_end
        table.evolve(event, self.now)
        step.events.append(event)
        step.shown += show(table, event, member, before)

    def play(self, event: Any) -> None:
        """Take an event of the game in."""
        step, game = self.steps[-1], self.table.game
        game.evolve(self.table.cards, event)
        step.events.append(r.Played(event))
        public = game.redact(event, None)
        if public is not None:
            step.shown.append(public)
        for seat in game.private_to(event):
            own = game.redact(event, seat)
            if own is not None:
                step.private.append((seat, own))

    def settle(self, standings_ms: int) -> None:
        """After a move, a wake or a change of presence: what now follows by itself."""
        table = self.table
        game, cards = table.game, table.cards
        for _ in range(_FOLLOW_LIMIT):
            if table.state.phase != "live":
                return
            if game.hand_over(cards):
                over = table.outcome() is not None
                self.emit(r.HandOver(over, standings_ms if over else 0))
                return
            events = game.follow(cards, table.play_now(self.now))
            if not events:
                return
            for event in events:
                self.play(event)
        raise RuntimeError(f"{table.state.game}: follow never ends")

    def tell(self, what: str, player: str, why: str = "", bots: dict[str, str] | None = None) -> None:
        """Tell rooms, once the record is committed."""
        s = self.table.state
        self.news.append(TableNews(s.room, s.table, what, player, why, bots or {}))


def member_view(m: Member) -> out.Member:
    """A member as every screen shows one."""
    level: Any = m.bot
    return out.Member(m.seat, m.player, m.name, m.colour, level, m.playing, m.present, m.gone)


def show(table: Table, event: r.Event, member: Member | None, before: tuple[bool, bool]) -> list[Any]:
    """What all screens see of a table event, after it was taken in; `before`: present, gone."""
    s = table.state
    match event:
        case r.Entered():
            return [out.Joined(member_view(s.members[-1]))]
        case r.Attached(seat=seat) | r.Detached(seat=seat) | r.LeftTable(seat=seat) | r.GraceOver(seat=seat):
            assert member is not None
            shown: list[Any] = []
            if member.present != before[0]:
                shown.append(out.Presence(seat, member.present))
            if member.gone != before[1]:
                shown.append(out.Gone(seat, member.gone))
            return shown
        case r.HostPassed(seat=seat):
            return [out.HostIs(seat)]
        case r.Recoloured():
            assert member is not None
            return [out.Renamed(member_view(member))]
        case r.BotsLevelled():
            return [out.Renamed(member_view(m)) for m in s.members if m.bot is not None]
        case r.OptionsSet():
            return [out.OptionsAre(s.options)]
        case r.GameOpened(seats=seats):
            return [out.Seated(seats)]
        case r.DealAsked(hand=hand):
            return [out.Dealing(hand)]
        case r.CountdownBegun(ms=ms):
            return [out.Countdown(s.hand, ms)]
        case r.WentLive():
            return [out.Live()]
        case r.PausedBy(seat=seat):
            return [out.Paused(seat)]
        case r.ResumedBy(seat=seat):
            return [out.Resumed(seat)]
        case r.Held():
            return [out.Paused(-1)]
        case r.Released():
            return [out.Resumed(-1)] if s.paused_by is None else [out.Paused(s.paused_by)]
        case r.HandOver(over=over, ms=ms):
            return [out.Scores(over, ms)]
        case r.StandingsShown():
            return [out.FinalStandings(outcome_view(table))]
        case r.BackToSetup(notice=notice):
            return [out.Setup(notice)]
        case r.TableClosed(why=why):
            return [out.Closed(why)]
        case _:
            return []


def outcome_view(table: Table) -> out.Outcome:
    """The end of a game as screens show it; empty before it."""
    outcome = table.outcome()
    if outcome is None:
        return out.Outcome([], [])
    return out.Outcome([out.Place(p.seat, p.total, p.place) for p in outcome.places], list(outcome.winners))
