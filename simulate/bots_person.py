"""A person at the table, as a script: sees what a phone shows, and moves at a person's pace.

It knows the same useful moves as a bot and takes the first that it notices.  Unlike a bot it
flicks through its stock faster than it plays a card, plays onto a pile that has just changed,
and what it has decided on is judged again as the finger comes down: a card whose place is gone
by then stays where it is, and the time is lost.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import msgspec

from games.snatch_solitaire.bot import useful
from games.snatch_solitaire.messages import EndHand, Move, Turn, View
from simulate.bots_clock import Clock
from simulate.bots_room import Line
from simulate.screen import Screen
from wire import client_in
from wire import client_out as out

_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(out.ServerMessage).decode

IDLE = 0.5
"""Seconds until the next look when there is nothing to do."""


class Pace(NamedTuple):
    """Of a person, in seconds."""

    play: tuple[float, float]
    """From a look at the table to the card that is played: seeing, deciding, and the hand's way."""
    turn: tuple[float, float]
    """From a look at the table to the tap on the stock."""
    notice: float
    """The chance to notice a move at a look."""


PACES: dict[str, Pace] = {
    "calm": Pace((1.4, 2.6), (0.8, 1.4), 0.70),
    "usual": Pace((0.9, 1.7), (0.5, 0.9), 0.85),
    "quick": Pace((0.6, 1.1), (0.35, 0.6), 0.95),
}


class Person:
    """Sits on a line, once it is given one, from the first deal to the end of a hand."""

    def __init__(self, clock: Clock, pace: Pace, dice: Random) -> None:
        self.line: Line | None = None
        self.played = 0
        """Cards played and stocks turned."""
        self._clock, self._pace, self._dice = clock, pace, dice
        self.screen = Screen()
        self._awake = self._waits = False

    def say(self, move: Move | client_in.TableMove) -> None:
        """Send it as a page does."""
        assert self.line is not None
        id = self.line.last + 1
        body = client_in.MoveMessage(id, self.screen.seq, msgspec.Raw(_encode(move)))
        self.line.send(id, _encode(body))

    def on_snapshot(self, body: bytes) -> None:
        message = _decode(body)
        assert isinstance(message, out.Snapshot)
        self.screen.snapshot(message)

    def on_frame(self, kind: int, body: bytes) -> None:
        message = _decode(body)
        assert isinstance(message, (out.TableFrame, out.SeatFrame))
        self.screen.frame(message)
        if self.screen.live and not self._awake:
            self._awake = True
            self._look()
        elif self._waits and self.line is not None and not self.line.waiting_for_answers:
            self._waits = False
            self._look()

    def _look(self) -> None:
        """Decide on a move; the hand comes down later."""
        assert self.line is not None
        if not self.screen.live:
            return
        if self.line.waiting_for_answers:
            self._waits = True
            return
        move = self._choice()
        if move is None:
            self._clock.call_in(IDLE, self._look)
            return
        shortest, longest = self._pace.turn if isinstance(move, Turn) else self._pace.play
        self._clock.call_in(self._dice.uniform(shortest, longest), lambda: self._touch(move))

    def _touch(self, move: Move) -> None:
        if self.screen.live and move in self._open():
            self.played += 1
            self.say(move)
        self._look()

    def _choice(self) -> Move | None:
        for move in self._open():
            if isinstance(move, Turn | EndHand) or self._dice.random() < self._pace.notice:
                return move
        return None

    def _open(self) -> list[Move]:
        """What may be done now, best first; the stock last."""
        view: Any = self.screen.view
        assert isinstance(view, View)
        mine = view.mine
        if mine is None:
            return []
        moves: list[Move] = [move for move, _ in useful(view, mine)]
        if view.end_offered:
            moves.append(EndHand())
        elif not mine.stuck and (mine.stock or mine.turned):
            moves.append(Turn())
        return moves
