"""A twin of the engine's table for bots: the real game, a clock that only tests move, no network."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from games.contract import Refusal
from games.registry import MINDS
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.messages import Move, Options
from services.bots.agenda import Looker
from services.bots.driver import Driver
from services.bots.metrics import BotsMetrics
from services.bots.reading import reader
from wire import client_in, client_out, frames

MS = 0.001


class HandClock:
    """An agenda whose time passes by `pass_ms` alone."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._entries: dict[int, tuple[float, Looker]] = {}

    def now(self) -> float:
        return self._now

    def put(self, at: float, looker: Looker) -> None:
        self._entries[id(looker)] = (at, looker)

    def drop(self, looker: Looker) -> None:
        self._entries.pop(id(looker), None)

    @property
    def waiting(self) -> int:
        return len(self._entries)

    def pass_ms(self, ms: float) -> None:
        """Everything due until then happens, in order, each at its time."""
        end = self._now + ms * MS
        while self._entries:
            key, (at, looker) = min(self._entries.items(), key=lambda entry: entry[1][0])
            if at > end:
                break
            del self._entries[key]
            self._now = max(self._now, at)
            looker.look(0.0)
        self._now = end


class TwinLine:
    """A seat's way to the twin.  With `holding`, moves wait for `answer`."""

    def __init__(self, table: TwinTable, seat: int) -> None:
        self.seat, self.answered, self.last = seat, 0, 0
        self.holding = False
        self.sent: list[tuple[float, Move]] = []
        """When, in ms of the clock, and what."""
        self._table = table
        self._held: list[tuple[int, int, Move]] = []

    @property
    def waiting_for_answers(self) -> int:
        return len(self._held)

    def send(self, id: int, body: bytes) -> None:
        message = msgspec.json.decode(body, type=client_in.MoveMessage)
        assert message.id == id == self.last + 1
        assert message.basis <= self._table.seq
        move: Move = msgspec.json.decode(message.m, type=Move)
        self.last = id
        self.sent.append((self._table.clock.now() * 1000, move))
        self._held.append((id, message.basis, move))
        if not self.holding:
            self.answer()

    def answer(self) -> None:
        while self._held:
            id, basis, move = self._held.pop(0)
            self.answered = id
            self._table.move(self.seat, id, basis, move)


class TwinTable:
    """A live table of Snatch Solitaire with a driver for each of its seats."""

    def __init__(self, *levels: str, seed: int = 1) -> None:
        self.clock, self.dice = HandClock(), Random(seed)
        self.seats = list(range(len(levels)))
        self.state: Any = None
        self.phase: client_out.Phase = "setup"
        self.seq = self.number = 0
        self.paused = False
        self.refused: list[str] = []
        self.ended: list[tuple[int, str]] = []
        self.levels = list(levels)
        self.drivers: list[Driver] = []
        self.lines: list[TwinLine] = []
        for seat in self.seats:
            self.drivers.append(self._driver(seat))
            self.lines.append(TwinLine(self, seat))
            self.drivers[seat].line = self.lines[seat]
            self.snapshot(seat)

    def _driver(self, seat: int) -> Driver:
        return Driver(
            GAME,
            MINDS["snatch_solitaire"],
            self.levels[seat],
            reader("snatch_solitaire"),
            self.clock,
            Random(self.dice.random()),
            BotsMetrics(),
            lambda why: self.ended.append((seat, why)),
        )

    # ---- what drivers are told ----

    def snapshot(self, seat: int) -> None:
        members: list[Any] = [
            client_out.Member(s, f"b{s}", f"Bot {s}", s, bot=self.levels[s], playing=self.state is not None)  # type: ignore[arg-type]
            for s in self.seats
        ]
        table = client_out.TableView(
            "t1", "snatch_solitaire", self.phase, 0, members, {"length": "to50"}, 0 if self.paused else None
        )
        view = GAME.view(self.state, seat) if self.seq else None
        body = client_out.Snapshot(
            client_out.VERSION, "BCDFG", 0, self.seq, table, view, answered=self.lines[seat].answered
        )
        self.drivers[seat].on_snapshot(msgspec.json.encode(body))

    def tell(self, *events: client_out.TableEvent) -> None:
        self._table_frame([client_out.Step(list(events))])

    def _table_frame(self, steps: list[client_out.Step]) -> None:
        self.number += 1
        body = msgspec.json.encode(client_out.TableFrame(self.number, self.seq, steps))
        for driver in self.drivers:
            driver.on_frame(frames.TABLE, body)

    def happen(self, events: Any, by: int | None = None, id: int | None = None, no: str | None = None) -> None:
        """Game events, as an engine frames them; a refusal goes to its seat alone."""
        public: list[Any] = []
        own: dict[int, list[Any]] = {seat: [] for seat in self.seats}
        for event in events:
            GAME.evolve(self.state, event)
            self.seq += 1
            if (part := GAME.redact(event, None)) is not None:
                public.append(part)
            for seat in self.seats:
                if (part := GAME.redact(event, seat)) is not None:
                    own[seat].append(part)
        if public:
            self._table_frame([client_out.Step(public, by, id)])
        for seat in self.seats:
            refusal = client_out.No(no) if no is not None and seat == by else None
            if own[seat] or refusal is not None or (seat == by and not public):
                step = client_out.Step(own[seat], None, id if seat == by else None, refusal)
                self.drivers[seat].on_frame(frames.SEAT, msgspec.json.encode(client_out.SeatFrame(1, self.seq, [step])))

    # ---- what happens ----

    def new_game(self) -> None:
        self.state = GAME.open(self.seats, Options("to50"))
        self.tell(client_out.Seated(self.seats))

    def deal(self) -> None:
        """To the moment before “Snatch!”."""
        self.phase = "dealing"
        self.tell(client_out.Dealing(1))
        self.happen([GAME.deal(self.seats, Options("to50"), self.dice)])
        self.phase = "countdown"
        self.tell(client_out.Countdown(1, 3000))

    def go(self) -> None:
        self.phase = "live"
        self.tell(client_out.Live())

    def pause(self) -> None:
        self.paused = True
        self.tell(client_out.Paused(0))

    def resume(self) -> None:
        self.paused = False
        self.tell(client_out.Resumed(0))

    def end_hand(self) -> None:
        """The scores show, as after any hand's end."""
        self.phase = "scores"
        self.tell(client_out.Scores(False))

    def move(self, seat: int, id: int, basis: int, move: Move) -> None:
        """Judge it as the engine does: never outside a live hand, never while paused."""
        try:
            if self.phase != "live":
                raise Refusal("not_live")
            if self.paused:
                raise Refusal("paused")
            self.happen(GAME.decide(self.state, seat, move, 0, basis), seat, id)
        except Refusal as refusal:
            self.refused.append(refusal.code)
            self.happen([], seat, id, refusal.code)
            return
        if GAME.hand_over(self.state):
            self.end_hand()
            return
        while events := GAME.follow(self.state, 0):
            self.happen(events)
