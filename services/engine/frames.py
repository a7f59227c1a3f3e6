"""Frames of one record's chunk: encoded once per audience, numbered, with the moves they answer.

For each record and room: a table frame if anything public happened, then a frame for each
seat that has something of its own to see.  Every decided move is answered in exactly one
prefix: the table frame's if all that it did is public, else its seat's.
"""

from __future__ import annotations

from typing import Any

import msgspec

from services.engine import records as r
from services.engine.sitting import Sitting, Step
from services.engine.table import Member, Table
from wire import client_out as out
from wire import frames, subjects

_encoder = msgspec.json.Encoder()


class Outgoing(msgspec.Struct, frozen=True, gc=False):
    """A frame to publish once its record is committed."""

    subject: str
    data: bytes


class Told(msgspec.Struct, frozen=True, gc=False):
    """A chunk for the log, and its frames, to be sent once that is committed."""

    chunk: r.Chunk
    frames: list[Outgoing]
    refused: list[str]
    moves: int


class _Audience:
    """`answered` holds (seat, session, id), as `wire.frames.Answered`."""

    __slots__ = ("answered", "steps")

    def __init__(self) -> None:
        self.steps: list[out.Step] = []
        self.answered: list[tuple[int, int, int]] = []


def tell(sitting: Sitting, epoch: int) -> Told:
    """Count the frames of what a sitting did, and encode them."""
    table = sitting.table
    state = table.state
    members, room, seq = state.members, state.room, table.seq
    public = _Audience()
    seats: dict[int, _Audience] = {}
    logged: list[r.LoggedStep] = []
    refused: list[str] = []
    moves = 0
    for step in sitting.steps:
        _tell_step(members, step, public, seats)
        logged.append(r.LoggedStep(step.events, step.seat, step.id, step.no))
        if step.id is not None:
            moves += 1
        if step.no is not None:
            refused.append(step.no.code)
    outgoing: list[Outgoing] = []
    if public.steps:
        state.frames += 1
        body = _encoder.encode(out.TableFrame(state.frames, seq, public.steps))
        outgoing.append(
            Outgoing(subjects.table(room), frames.pack(frames.TABLE, epoch, state.frames, public.answered, body))
        )
    numbers: dict[int, int] = {}
    for seat, audience in sorted(seats.items()) if len(seats) > 1 else seats.items():
        member = members[seat]
        numbers[seat] = member.frames = number = member.frames + 1
        body = _encoder.encode(out.SeatFrame(number, seq, audience.steps))
        data = frames.pack(frames.SEAT, epoch, number, audience.answered, body)
        outgoing.append(Outgoing(subjects.seat(room, seat), data))
    return Told(r.Chunk(room, logged, state.frames, numbers), outgoing, refused, moves)


def _tell_step(members: list[Member], step: Step, public: _Audience, seats: dict[int, _Audience]) -> None:
    shown, seat, id = step.shown, step.seat, step.id
    if shown:
        public.steps.append(out.Step(shown, seat, id))
    elif step.no is not None and step.no.pile is not None:
        # A pile that was taken flashes on every screen; without an id: it answers nothing.
        public.steps.append(out.Step([], seat, None, _no(step.no)))
    own: list[Any] = []
    if step.private:
        others: dict[int, list[Any]] = {}
        for reader, event in step.private:
            if members[reader].playing:
                (own if reader == seat else others.setdefault(reader, [])).append(event)
        for reader, events in others.items():
            _of(seats, reader).steps.append(out.Step(events))
    if step.greeting is not None:
        session = members[step.greeting].session
        _of(seats, step.greeting).answered.append((step.greeting, session, 0))
    if seat is None or id is None:
        return
    answered = (seat, step.session, id)
    if shown and not own and step.no is None:
        public.answered.append(answered)
        return
    if shown:
        # An older tab that wasn't told yet must not take the step for an answer to its own id.
        public.answered.append((seat, step.session, 0))
    audience = _of(seats, seat)
    audience.steps.append(out.Step(own, None, id, _no(step.no)))
    audience.answered.append(answered)


def _of(seats: dict[int, _Audience], seat: int) -> _Audience:
    audience = seats.get(seat)
    if audience is None:
        audience = seats[seat] = _Audience()
    return audience


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
