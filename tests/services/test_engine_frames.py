"""Frames: what each reader is sent makes its view, and nothing else is in it."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec
import pytest

from games.registry import GAMES
from games.snatch_solitaire.messages import MiddleCard, PublicEvent, View
from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine.items import Call, CallRefused
from tests.services.engine_table import Later, Play
from wire import frames, subjects

GAME = GAMES["snatch_solitaire"]
ROOM = "BCDFG"


class Reader:
    """A seat, or the TV, that keeps its view by its own frames alone."""

    def __init__(self, play: Play, seat: int | None) -> None:
        self.play, self.seat = play, seat
        self.at = 0
        self.view: View = msgspec.convert(self._snapshot()["view"], View)
        self.at = len(play.frames)
        self.cards: set[str] = set()

    def _snapshot(self) -> dict[str, Any]:
        return self.play.tv() if self.seat is None else self.play.phones[self.seat].view()

    def catch_up(self) -> None:
        own = subjects.table(ROOM), subjects.seat(ROOM, self.seat if self.seat is not None else 99)
        for subject, frame in self.play.frames[self.at :]:
            if subject in own:
                for step in json.loads(frame.body)["steps"]:
                    for event in step.get("ev", []):
                        self._take(event)
        self.at = len(self.play.frames)

    def _take(self, event: dict[str, Any]) -> None:
        try:
            shown = msgspec.convert(event, PublicEvent)
        except msgspec.ValidationError:
            return  # the table's own
        if "card" in event:
            self.cards.add(event["card"])
        GAME.apply(self.view, shown)

    def right(self) -> None:
        assert self.view == msgspec.convert(self._snapshot()["view"], View)


def played(seed: int, moves: int, readers: bool = True) -> tuple[Play, list[Reader]]:
    dice = Random(seed)
    play = Play("snatch_solitaire", players=3).start()
    found = [Reader(play, seat) for seat in (None, 0, 1, 2)] if readers else []
    for _ in range(moves):
        if play.phase != "live":
            break
        phone = dice.choice(play.phones)
        legal = GAME.legal_moves(play.table.cards, phone.seat)
        m = json.loads(msgspec.json.encode(dice.choice(legal)))
        play.do(*[p.command(m, basis=play.table.seq) for p in {phone, dice.choice(play.phones)}], later=50)
        for reader in found:
            reader.catch_up()
    return play, found


@pytest.mark.parametrize("seed", range(3))
def test_every_reader_s_view_follows_from_its_snapshot_and_its_frames(seed: int) -> None:
    play, readers = played(seed, 300)
    for reader in readers:
        reader.right()
    assert play.table.seq > 100


def test_the_table_s_frames_and_the_tv_hold_no_card_outside_the_middle() -> None:
    play, [tv, *_] = played(4, 400)
    placed = {e["card"] for e in play.told if e["t"] == "placed"}
    assert tv.cards == placed
    table = [frame.body for subject, frame in play.frames if subject == subjects.table(ROOM)]
    private = (b'"your_', b'"mine"', b'"t":"turned"', b'"worked"', b'"undone"', b'"witness"', b'"decks"')
    assert not [body for body in table for word in private if word in body]
    assert tv.view.mine is None
    shown: list[MiddleCard] = [card for pile in tv.view.middle for card in pile.top]
    assert {card.card for card in shown} <= placed


def test_a_seat_s_frames_hold_its_own_steps_and_nobody_else_s() -> None:
    play, _ = played(5, 200, readers=False)
    for seat in range(3):
        sent = [
            step["id"]
            for subject, frame in play.frames
            if subject == subjects.seat(ROOM, seat)
            for step in json.loads(frame.body)["steps"]
            if "id" in step
        ]
        assert sent == sorted(set(sent))
        assert all((seat, id) in play.answers for id in sent)


def test_each_subject_s_numbers_count_up_by_one() -> None:
    play, _ = played(6, 200, readers=False)
    last: dict[str, int] = {}
    for subject, frame in play.frames:
        assert frame.number == last.get(subject, frame.number - 1) + 1
        assert frame.kind in (frames.TABLE, frames.SEAT)
        last[subject] = frame.number


def test_every_decided_move_is_answered_once_and_seen_by_its_sender() -> None:
    play, _ = played(7, 200, readers=False)
    answered = sorted((a.seat, a.id) for a in play.answered)
    expected = sorted((p.seat, id) for p in play.phones for id in range(1, p.last + 1))
    assert answered == expected
    assert sorted(play.answers) == expected


def test_a_frame_names_the_session_of_every_move_that_it_shows_also_when_that_is_answered_elsewhere() -> None:
    play, _ = played(8, 200, readers=False)
    elsewhere = 0
    for subject, frame in play.frames:
        if subject != subjects.table(ROOM):
            continue
        named = {(a.seat, a.session): a.id for a in frame.answered}
        for step in json.loads(frame.body)["steps"]:
            if "id" in step:
                elsewhere += named[step["by"], play.phones[step["by"]].session] == 0
    assert elsewhere, "no move had a part of its own"


@pytest.mark.parametrize(("tab", "why"), [(7, "superseded"), (8, "taken_over")])
def test_of_two_sockets_that_attach_in_one_record_the_older_is_told_at_once(tab: int, why: str) -> None:
    """Its snapshot would be newer than the frame that tells it of the newer tab."""
    play = Play()
    older, newer = Later(), Later()
    both: tuple[tuple[int, Any], ...] = ((7, older), (tab, newer))
    play.do(*(Call(pb.AttachRequest(room=ROOM, player="p0", tab=t), answer, "gateway-1") for t, answer in both))
    assert isinstance(older.error, CallRefused)
    assert (older.error.status, older.error.detail) == ("FAILED_PRECONDITION", why)
    assert newer.result.session == play.table.state.members[0].session
