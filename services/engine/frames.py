"""Frames of one record's chunk: encoded once per audience, numbered, with the moves they answer.

For each record and room: a table frame if anything public happened, then a frame for each
seat that has something of its own to see.  Every decided move is answered in exactly one
prefix: the table frame's if all that it did is public, else its seat's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from services.engine import records as r
from services.engine.sitting import GameShown, Sitting, Step
from services.engine.table import Member, Table
from wire import client_out as out
from wire import frames, subjects

_encoder = msgspec.json.Encoder()


class Outgoing(NamedTuple):
    """A frame to publish once its record is committed."""

    subject: str
    data: bytes


class Told(NamedTuple):
    """A chunk for the log, and its frames, to be sent once that is committed."""

    chunk: r.Chunk
    frames: list[Outgoing]
    refused: list[str]
    moves: int


class _Audience:
    __slots__ = ("answered", "steps")

    def __init__(self) -> None:
        self.steps: list[out.Step] = []
        self.answered: list[frames.Answered] = []


def tell(sitting: Sitting, epoch: int) -> Told:
    """Count the frames of what a sitting did, and encode them."""
    table = sitting.table
    public = _Audience()
    seats: dict[int, _Audience] = {}
    playing = table.playing()
    refused: list[str] = []
    moves = 0
    for step in sitting.steps:
        _tell_step(table, step, public, seats, playing)
        moves += step.id is not None
        if step.no is not None:
            refused.append(step.no.code)
    outgoing: list[Outgoing] = []
    state = table.state
    if public.steps:
        state.frames += 1
        body = _encoder.encode(out.TableFrame(state.frames, table.seq, public.steps))
        data = frames.pack(frames.TABLE, epoch, state.frames, tuple(public.answered), body)
        outgoing.append(Outgoing(subjects.table(state.room), data))
    for seat in sorted(seats):
        outgoing.append(_seat_frame(table, state.members[seat], seats[seat], epoch))
    chunk = r.Chunk(
        state.room,
        [r.LoggedStep(s.events, s.seat, s.id, s.no) for s in sitting.steps],
        state.frames,
        {seat: state.members[seat].frames for seat in sorted(seats)},
    )
    return Told(chunk, outgoing, refused, moves)


def _seat_frame(table: Table, member: Member, audience: _Audience, epoch: int) -> Outgoing:
    member.frames += 1
    body = _encoder.encode(out.SeatFrame(member.frames, table.seq, audience.steps))
    data = frames.pack(frames.SEAT, epoch, member.frames, tuple(audience.answered), body)
    return Outgoing(subjects.seat(table.state.room, member.seat), data)


def _tell_step(table: Table, step: Step, public: _Audience, seats: dict[int, _Audience], playing: list[int]) -> None:
    shown: list[Any] = []
    private: dict[int, list[Any]] = {}
    redact = table.game.redact
    for item in step.shown:
        if type(item) is not GameShown:
            shown.append(item)
            continue
        for_all = redact(item.event, None)
        if for_all is not None:
            shown.append(for_all)
        for player in playing:
            for_one = redact(item.event, player)
            if for_one is not None:
                private.setdefault(player, []).append(for_one)
    seat, id = step.seat, step.id
    if shown:
        public.steps.append(out.Step(shown, seat, id))
    elif step.no is not None and step.no.pile is not None:
        # A pile that was taken flashes on every screen; without an id: it answers nothing.
        public.steps.append(out.Step([], seat, None, _no(step.no)))
    for other, events in private.items():
        if other != step.seat:
            _of(seats, other).steps.append(out.Step(events))
    if step.greeting is not None:
        session = table.state.members[step.greeting].session
        _of(seats, step.greeting).answered.append(frames.Answered(step.greeting, session, 0))
    if seat is None or id is None:
        return
    answered = frames.Answered(seat, step.session, id)
    own = private.get(seat)
    if own is None and shown and step.no is None:
        public.answered.append(answered)
        return
    if shown:
        # An older tab that wasn't told yet must not take the step for an answer to its own id.
        public.answered.append(frames.Answered(seat, step.session, 0))
    audience = _of(seats, seat)
    audience.steps.append(out.Step(own or [], None, id, _no(step.no)))
    audience.answered.append(answered)


def _of(seats: dict[int, _Audience], seat: int) -> _Audience:
    return seats.setdefault(seat, _Audience())


def _no(no: r.Refused | None) -> out.No | None:
    return None if no is None else out.No(no.code, no.by, no.pile)


def answer_body(id: int, no: r.Refused | None) -> bytes:
    """The stored answer to a move that was sent again."""
    return _encoder.encode(out.Answer(id, _no(no)))


def error_body(code: str, text: str, id: int) -> bytes:
    """What a client is told of a move that was not understood."""
    return _encoder.encode(out.Error(code, text, None, id))


def beacon(table: Table, epoch: int) -> Outgoing:
    """The numbers of each of a table's subjects."""
    state = table.state
    body = _encoder.encode(frames.Beacon(state.frames, {m.seat: m.frames for m in state.members}))
    return Outgoing(subjects.beacon(state.room), frames.pack(frames.BEACON, epoch, 0, (), body))
