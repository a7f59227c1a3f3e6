"""One hand of a person and some bots, from the deal to its end, on a clock of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from games.registry import GAMES, MINDS
from services.bots.driver import Driver
from services.bots.metrics import BotsMetrics
from services.bots.reading import reader
from simulate.bots_clock import Clock
from simulate.bots_person import PACES, Person
from simulate.bots_room import GAME, HOST, Room
from wire import client_in

PHONE_WAY = 0.05
"""Seconds between a person's phone and the table, each way."""
BOT_WAY = 0.005
EARLY = 120.0
"""Seconds of play after which it is looked who is ahead."""
LONGEST = 3600.0
"""Seconds in which any hand is over; one that isn't is a fault."""


class Hand(NamedTuple):
    """What came of it.  Seat 0 is the person, 1 and up are the bots, in the order of their levels."""

    seconds: float
    """Of play, from “Snatch!” to “Snatch!”."""
    left: tuple[int, ...]
    """Cards in each snatch pile."""
    winners: tuple[int, ...]
    """Several when they share the win."""
    early: tuple[int, ...]
    """Cards left when EARLY had passed; `left` if it was over by then."""
    played: int
    """What the person did."""
    snatched: int
    """Cards of anyone that came back."""
    turns: int
    """How often the snatch piles turned."""


def play(seed: int, shift: int, levels: Sequence[str], pace: str) -> Hand:
    """The hand of this seed.  Another `shift` deals the same decks to other seats.

    Raises AssertionError for one that never ends.
    """
    clock = Clock()
    room = Room(clock, levels)
    dice = Random(f"{seed}/{shift}")
    person = Person(clock, PACES[pace], Random(dice.random()))
    person.line = room.attach(HOST, PHONE_WAY, person)
    for number, level in enumerate(levels, 1):
        seat_bot(room, number, level, Random(dice.random()))
    room.begin()
    person.say(client_in.Deal())
    _until(room, "dealing")
    room.deal(Random(seed), shift)
    _until(room, "live")
    began = clock.now()
    early: list[int] = []
    clock.call_in(EARLY, lambda: early.extend(_left(room)))
    _until(room, "scores")
    left = _left(room)
    outcome = room.table.outcome()
    assert outcome is not None
    return Hand(
        clock.now() - began,
        left,
        tuple(sorted(outcome.winners)),
        tuple(early) or left,
        person.played,
        room.refused.count("snatched"),
        room.table.cards.turns,
    )


def seat_bot(room: Room, number: int, level: str, dice: Random) -> Driver:
    """A driver of the bots service on the room's seat `number`."""
    driver = Driver(GAMES[GAME], MINDS[GAME], level, reader(GAME), room.clock, dice, _metrics(), _let_go)
    driver.line = room.attach(f"bot{number}", BOT_WAY, driver, worker="bots")
    return driver


def _until(room: Room, phase: str) -> None:
    if not room.clock.run(lambda: room.table.state.phase == phase, LONGEST):
        raise AssertionError(f"still {room.table.state.phase} after {room.clock.now():.0f} s, not {phase}")


def _left(room: Room) -> tuple[int, ...]:
    return tuple(seat.left for seat in room.table.game.view(room.table.cards, None).seats)


@cache
def _metrics() -> BotsMetrics:
    return BotsMetrics()


def _let_go(why: str) -> None:
    raise AssertionError(f"a bot let go of its seat: {why}")
