"""A table's state, and the one function that changes it.

Rules of this module:
- `evolve` alone changes a table.  It is total and deterministic: the same events at the
  same room times give the same states, byte for byte.  What happens is decided elsewhere
  (`table_moves`, `table_presence`, `table_clock`).
- Time is room time in whole ms; it comes in as an argument.  The game is told play time,
  which runs only while a hand is live and not paused.
- A member's number (`seat`) is the index in `members`, never reused; members stay.
"""

from __future__ import annotations

from typing import Any

import msgspec

from games.contract import Game, Outcome
from services.engine import records as r

GRACE_MS = 15_000
EXPIRY_MS = 600_000
COUNTDOWN_MS = 3_000
STANDINGS_MS = 6_000
ANSWERS_KEPT = 256
"""Ids below the last one whose answers are known: as many as a gateway may ask for again (`seat.MAX_UNANSWERED`)."""
TABS_KEPT = 4
"""Tabs that had a seat before, whose ids are known when they come back."""
REFUSALS_KEPT = 32
"""Of each of those, the last: with all that there are, a full room's snapshot would be more than a record takes."""
MAX_MEMBERS = 64

AnyGame = Game[Any, Any, Any, Any, Any, Any]


class Answer(msgspec.Struct, array_like=True):
    """What a move id was answered: `no` None when it was done."""

    id: int
    no: r.Refused | None


class FormerTab(msgspec.Struct, array_like=True):
    """A tab that had the seat: its page may come back, with moves of which it doesn't know that they were decided."""

    tab: int
    answered: int
    answers: list[Answer]


class Member(msgspec.Struct, array_like=True):
    """Someone on the game screen.  `been`: has had a device here; `gone`: screens say that they left.

    `answers` holds refusals: an id up to `answered` that is not among them was done.
    """

    seat: int
    player: str
    name: str
    colour: int
    bot: str | None
    playing: bool = False
    attached: bool = False
    been: bool = False
    gone: bool = False
    grace_at: int | None = None
    session: int = 0
    tab: int = 0
    answered: int = 0
    answers: list[Answer] = []
    worker: str = ""
    via: str = ""
    frames: int = 0
    attempt: int = 0
    former: list[FormerTab] = []
    hello_at: int = 0
    """When the session's socket said hello, by its gateway's clock in ms; 0: unknown."""

    @property
    def present(self) -> bool:
        """As the stuck rule counts it: a bot will be driven again, so it always is."""
        return self.attached or self.bot is not None


class State(msgspec.Struct, array_like=True):
    """All of a table but the game's cards.  `asked` counts deals asked for: which one a result is for."""

    room: str
    table: str
    game: str
    host: int
    members: list[Member]
    options: dict[str, Any]
    alone_since: int | None
    frames: int
    sessions: int
    phase: str = "setup"
    hand: int = 0
    asked: int = 0
    over: bool = False
    notice: str | None = None
    paused_by: int | None = None
    held_at: int | None = None
    countdown_at: int | None = None
    countdown_left: int = 0
    standings_at: int | None = None
    played: int = 0
    running_since: int | None = None
    dealt_seq: int = 0
    """`seq` with this hand's deal: a move of an earlier hand was made on less."""


class Table:
    """`cards` is the game's state, None before the first deal of a game is asked for."""

    def __init__(self, game: AnyGame, state: State, cards: Any = None) -> None:
        self.game, self.state, self.cards = game, state, cards

    @classmethod
    def open(cls, game: AnyGame, event: r.Opened, now: int) -> Table:
        members = [
            Member(
                seat,
                new.player,
                new.name,
                new.colour,
                new.bot,
                grace_at=None if new.bot else now + GRACE_MS,
                session=event.sessions,
                frames=event.frames,
            )
            for seat, new in enumerate(event.members)
        ]
        return cls(
            game,
            State(
                event.room,
                event.table,
                event.game,
                event.host,
                members,
                event.options,
                now,
                event.frames,
                event.sessions,
            ),
        )

    # ---- questions ----

    @property
    def seq(self) -> int:
        return int(self.cards.seq) if self.cards is not None else 0

    @property
    def game_on(self) -> bool:
        """A game whose end its host's leaving would be."""
        s = self.state
        return s.phase in ("dealing", "countdown", "live") or (s.phase == "scores" and not s.over)

    @property
    def paused(self) -> bool:
        return self.state.paused_by is not None or self.state.held_at is not None

    def options(self) -> Any:
        return msgspec.convert(self.state.options, self.game.spec.options_type)

    def outcome(self) -> Outcome | None:
        return self.game.outcome(self.cards) if self.cards is not None else None

    def member(self, seat: int) -> Member | None:
        members = self.state.members
        return members[seat] if 0 <= seat < len(members) else None

    def seat_of(self, player: str) -> Member | None:
        return next((m for m in self.state.members if m.player == player), None)

    def playing(self) -> list[int]:
        return [m.seat for m in self.state.members if m.playing]

    def bot_levels(self) -> dict[str, str]:
        """By player."""
        return {m.player: m.bot for m in self.state.members if m.bot is not None}

    def humans_present(self) -> int:
        return sum(m.attached for m in self.state.members if m.bot is None)

    def play_now(self, now: int) -> int:
        s = self.state
        return s.played if s.running_since is None else s.played + max(0, now - s.running_since)

    def wakes_at(self) -> int | None:
        """The room time at which something happens by itself."""
        s = self.state
        times = [m.grace_at for m in s.members if m.grace_at is not None]
        if s.countdown_at is not None:
            times.append(s.countdown_at)
        if s.standings_at is not None:
            times.append(s.standings_at)
        if s.alone_since is not None:
            times.append(s.alone_since + EXPIRY_MS)
        if s.held_at is not None:
            times.append(s.held_at + EXPIRY_MS)
        if s.running_since is not None:
            at = self.game.wakes_at(self.cards)
            if at is not None:
                times.append(s.running_since + max(0, at - s.played))
        return min(times) if times else None

    # ---- change ----

    def answer(self, seat: int, id: int, no: r.Refused | None) -> None:
        """A move is decided: the same id again gets this."""
        m = self.state.members[seat]
        m.answered = id
        answers = m.answers
        if no is not None:
            answers.append(Answer(id, no))
        while answers and answers[0].id <= id - ANSWERS_KEPT:
            del answers[0]

    def evolve(self, event: r.Event, now: int) -> None:
        """Take a logged event in at this room time."""
        if type(event) is r.Played:
            self.play(msgspec.msgpack.decode(event.event, type=self.game.spec.event_type))
        else:
            _EVOLVE[type(event)](self, event, now)

    def play(self, event: Any) -> None:
        """Take an event of the game in."""
        self.game.evolve(self.cards, event)

    def _entered(self, event: r.Entered, now: int) -> None:
        new, s = event.member, self.state
        s.members.append(
            Member(len(s.members), new.player, new.name, new.colour, new.bot, session=s.sessions, frames=s.frames)
        )

    def _attached(self, event: r.Attached, now: int) -> None:
        m = self.state.members[event.seat]
        if event.tab != m.tab:
            _change_tab(m, event.tab, event.back)
        m.session, m.worker, m.via, m.attempt = event.session, event.worker, event.via, event.attempt
        m.hello_at = event.hello_at
        m.attached, m.been, m.gone, m.grace_at = True, True, False, None
        self._attend(now)

    def _detached(self, event: r.Detached, now: int) -> None:
        m = self.state.members[event.seat]
        m.attached, m.worker, m.via = False, "", ""
        m.grace_at = None if m.bot else now + GRACE_MS
        self._attend(now)

    def _left(self, event: r.LeftTable, now: int) -> None:
        m = self.state.members[event.seat]
        m.attached, m.gone, m.grace_at, m.worker, m.via = False, True, None, "", ""
        self._attend(now)

    def _grace_over(self, event: r.GraceOver, now: int) -> None:
        m = self.state.members[event.seat]
        m.gone, m.grace_at = True, None

    def _attend(self, now: int) -> None:
        s = self.state
        if self.humans_present():
            s.alone_since = None
        elif s.alone_since is None:
            s.alone_since = now
        if s.phase == "live":
            present = frozenset(m.seat for m in s.members if m.playing and m.present)
            self.game.attend(self.cards, present, self.play_now(now))

    def _host_passed(self, event: r.HostPassed, now: int) -> None:
        self.state.host = event.seat

    def _recoloured(self, event: r.Recoloured, now: int) -> None:
        self.state.members[event.seat].colour = event.colour

    def _bots_levelled(self, event: r.BotsLevelled, now: int) -> None:
        for m in self.state.members:
            if m.bot is not None:
                m.bot = event.level

    def _options_set(self, event: r.OptionsSet, now: int) -> None:
        self.state.options = event.options

    def _game_opened(self, event: r.GameOpened, now: int) -> None:
        s = self.state
        for m in s.members:
            m.playing = m.seat in event.seats
        s.hand, s.over, s.notice, s.played = 0, False, None, 0
        self.cards = self.game.open(event.seats, self.options())

    def _deal_asked(self, event: r.DealAsked, now: int) -> None:
        s = self.state
        s.phase, s.hand, s.asked = "dealing", event.hand, s.asked + 1

    def _countdown_begun(self, event: r.CountdownBegun, now: int) -> None:
        s = self.state
        s.phase, s.countdown_left, s.dealt_seq = "countdown", event.ms, self.seq
        s.countdown_at = None if s.held_at is not None else now + event.ms

    def _went_live(self, event: r.WentLive, now: int) -> None:
        s = self.state
        s.phase, s.countdown_at, s.countdown_left = "live", None, 0
        self._run(now)
        self._attend(now)

    def _run(self, now: int) -> None:
        """Let play time run or stand, as the phase and the pauses now say."""
        s = self.state
        s.played, s.running_since = self.play_now(now), None
        if s.phase == "live" and not self.paused:
            s.running_since = now

    def _paused_by(self, event: r.PausedBy, now: int) -> None:
        self.state.paused_by = event.seat
        self._run(now)

    def _resumed_by(self, event: r.ResumedBy, now: int) -> None:
        self.state.paused_by = None
        self._run(now)

    def _held(self, event: r.Held, now: int) -> None:
        s = self.state
        s.held_at = now
        if s.countdown_at is not None:
            s.countdown_left, s.countdown_at = max(0, s.countdown_at - now), None
        self._run(now)

    def _released(self, event: r.Released, now: int) -> None:
        s = self.state
        s.held_at = None
        if s.phase == "countdown":
            s.countdown_at = now + s.countdown_left
        self._run(now)

    def _hand_over(self, event: r.HandOver, now: int) -> None:
        s = self.state
        s.phase, s.over, s.paused_by = "scores", event.over, None
        s.standings_at = now + event.ms if event.over else None
        self._run(now)

    def _standings_shown(self, event: r.StandingsShown, now: int) -> None:
        self.state.phase, self.state.standings_at = "standings", None

    def _back_to_setup(self, event: r.BackToSetup, now: int) -> None:
        s = self.state
        s.phase, s.hand, s.over, s.notice, s.paused_by, s.held_at = "setup", 0, False, event.notice, None, None
        s.countdown_at, s.countdown_left, s.standings_at, s.played, s.running_since = None, 0, None, 0, None
        for m in s.members:
            m.playing = False
        self.cards = None

    def _closed(self, event: r.TableClosed, now: int) -> None:
        s = self.state
        s.phase = "closed"
        s.held_at = s.alone_since = s.countdown_at = s.standings_at = s.running_since = None
        for m in s.members:
            m.grace_at = None


def _change_tab(m: Member, tab: int, back: bool) -> None:
    """A new tab counts from 1; one that was here before goes on where it was, or it would move twice.

    It is the event that says so: engines of release 0.1.0 let every tab count from 1.
    """
    former = [f for f in m.former if f.tab != tab]
    was = next((f for f in m.former if back and f.tab == tab), FormerTab(tab, 0, []))
    if m.answered:
        former.append(FormerTab(m.tab, m.answered, m.answers[-REFUSALS_KEPT:]))
    m.tab, m.answered, m.answers = tab, was.answered, was.answers
    m.former = former[-TABS_KEPT:]


_EVOLVE: dict[type, Any] = {
    r.Entered: Table._entered,
    r.Attached: Table._attached,
    r.Detached: Table._detached,
    r.LeftTable: Table._left,
    r.GraceOver: Table._grace_over,
    r.HostPassed: Table._host_passed,
    r.Recoloured: Table._recoloured,
    r.BotsLevelled: Table._bots_levelled,
    r.OptionsSet: Table._options_set,
    r.GameOpened: Table._game_opened,
    r.DealAsked: Table._deal_asked,
    r.CountdownBegun: Table._countdown_begun,
    r.WentLive: Table._went_live,
    r.PausedBy: Table._paused_by,
    r.ResumedBy: Table._resumed_by,
    r.Held: Table._held,
    r.Released: Table._released,
    r.HandOver: Table._hand_over,
    r.StandingsShown: Table._standings_shown,
    r.BackToSetup: Table._back_to_setup,
    r.TableClosed: Table._closed,
}
