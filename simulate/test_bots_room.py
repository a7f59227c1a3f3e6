"""The room of simulated hands: what its seats are sent is what the engine has, and no card is ever lost."""

from __future__ import annotations

from random import Random

import pytest

from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.messages import Turn
from simulate.bots_clock import Clock
from simulate.bots_hand import seat_bot
from simulate.bots_person import PACES, Person
from simulate.bots_room import HOST, Room
from simulate.snatch_solitaire import faults
from wire import client_in


class Witness(Person):
    """Counts its cards after every frame."""

    def __init__(self, clock: Clock, dice: Random) -> None:
        super().__init__(clock, PACES["usual"], dice)
        self.frames, self.amiss = 0, list[str]()

    def on_frame(self, kind: int, body: bytes) -> None:
        super().on_frame(kind, body)
        self.frames += 1
        if self.screen.view is not None and not self.screen.owed:
            self.amiss += faults(self.screen.view, self.screen.seat, self.screen.placed)


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_a_person_has_52_cards_after_every_frame(level: str) -> None:
    clock = Clock()
    room = Room(clock, [level])
    person = Witness(clock, Random(3))
    seat_bot(sit(room, person), 1, level, Random(4))
    deal(room, person)
    assert clock.run(lambda: room.table.state.phase == "scores", 3600)
    assert person.frames > 100
    assert person.amiss == []


def sit(room: Room, person: Person, way: float = 0.05) -> Room:
    person.line = room.attach(HOST, way, person)
    return room


def deal(room: Room, person: Person, shift: int = 0) -> None:
    """To “Snatch!”."""
    room.begin()
    person.say(client_in.Deal())
    assert room.clock.run(lambda: room.table.state.phase == "dealing", 60)
    room.deal(Random(4), shift)
    assert room.clock.run(lambda: room.table.state.phase == "live", 60)


def alone(way: float) -> tuple[Clock, Room, Person]:
    """A live hand of a person without bots, who has had no time to move."""
    clock = Clock()
    room = Room(clock, [])
    person = Person(clock, PACES["usual"], Random(1))
    deal(sit(room, person, way), person)
    return clock, room, person


def test_a_move_takes_its_way_there_and_its_answer_the_same_back() -> None:
    clock, room, person = alone(way=0.25)
    line, sent = person.line, clock.now()
    assert line is not None
    before = room.table.seq
    person.say(Turn())
    assert clock.run(lambda: room.table.seq > before, 60)
    assert clock.now() - sent == pytest.approx(0.25)
    assert clock.run(lambda: line.waiting_for_answers == 0, 60)
    assert clock.now() - sent == pytest.approx(0.5)


def test_a_persons_screen_ends_up_with_what_the_engine_has() -> None:
    clock, room, person = alone(way=0.05)
    clock.run(lambda: False, clock.now() + 30.0)
    assert person.played > 10
    line = person.line
    assert line is not None
    clock.run(lambda: line.waiting_for_answers == 0, clock.now() + 5.0)
    assert person.screen.view == GAME.view(room.table.cards, line.seat)


def test_another_shift_deals_the_same_decks_to_other_seats() -> None:
    rooms = []
    for shift in (0, 1):
        room = Room(Clock(), ["easy"])
        person = Person(room.clock, PACES["usual"], Random(1))
        deal(sit(room, person), person, shift)
        rooms.append({seat: own.snatch for seat, own in room.table.cards.own.items()})
    assert rooms[0][0] == rooms[1][1]
    assert rooms[0][1] == rooms[1][0]
    assert rooms[0][0] != rooms[0][1]
