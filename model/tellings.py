"""Whatever leaves an engine is held to what is committed at that moment: frames, replies, answers, Views."""

from __future__ import annotations

from typing import Any

import grpc
import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from model.links import Refused
from model.truth import RoomTruth, Truth, Violate
from services.engine import records as r
from services.engine.table import Member
from wire import client_out as out
from wire import frames
from wire.places import partition_of

COMMITTED = "nothing is told before it is committed"
BELIEVED = "no two writers are believed"


class _Cards(msgspec.Struct):
    digest: int


class _Seen(msgspec.Struct):
    view: _Cards | None = None
    answered: int = 0


_seen = msgspec.json.Decoder(_Seen)
_answer = msgspec.json.Decoder(out.Answer)
_beacon = msgspec.json.Decoder(frames.Beacon)


class Tellings:
    """`published` and `answered` are called as a message leaves an engine."""

    def __init__(self, truth: Truth, violate: Violate) -> None:
        self._truth, self._violate = truth, violate

    # ---- frames ----

    def published(self, subject: str, data: bytes) -> None:
        """A frame of a room: `f.<room>.…`."""
        name = subject.split(".")[1]
        frame = frames.unpack(data)
        room = self._truth.rooms.get(name)
        if room is None:
            self._violate(COMMITTED, f"{subject}: a frame of a room that is nowhere in the log")
            return
        at = self._truth.partition(partition_of(name))
        if frame.epoch not in at.epochs:
            self._violate(BELIEVED, f"{subject}: a frame of epoch {frame.epoch}, which never claimed")
        if frame.kind == frames.BEACON:
            self._truth.count("beacons")
            self._beacon(subject, room, _beacon.decode(frame.body))
            return
        if frame.kind == frames.TABLE:
            told = room.table_frames.get(frame.number)
        else:
            told = room.seat_frames.get((int(subject.rpartition(".")[2]), frame.number))
        if told is None:
            self._violate(COMMITTED, f"{subject}: frame {frame.number} of epoch {frame.epoch} is in no record")
            return
        if told.epoch != frame.epoch:
            self._violate(
                BELIEVED, f"{subject}: frame {frame.number} is of epoch {told.epoch}, told by epoch {frame.epoch}"
            )
        for seat, session, id in frame.answered:
            reign = room.reign_of.get((seat, session))
            if reign is None:
                self._violate(COMMITTED, f"{subject}: seat {seat} session {session} is in no record")
            elif id and (id not in reign.decided or (seat, id) not in told.answers):
                self._violate(COMMITTED, f"{subject}: frame {frame.number} answers {id} of seat {seat}: not decided")

    def _beacon(self, subject: str, room: RoomTruth, beacon: frames.Beacon) -> None:
        if beacon.table > room.table_number:
            self._violate(COMMITTED, f"{subject}: table number {beacon.table}, committed is {room.table_number}")
        for seat, number in beacon.seats.items():
            known = room.seat_number.get(seat)
            if known is not None and number > known:
                self._violate(COMMITTED, f"{subject}: seat {seat}'s number {number}, committed is {known}")

    # ---- answers ----

    def answered(self, method: str, request: Any, response: Any) -> None:
        """An answer of a unary call or, of `Commands`, a batch of replies."""
        if method == "Commands":
            for reply in response.replies:
                self._reply(reply)
        elif isinstance(response, Refused):
            self._refusal(method, request, response)
        elif method == "Attach":
            room = self._truth.rooms.get(request.room)
            if room is None or (response.seat, response.session) not in room.reign_of:
                self._violate(COMMITTED, f"Attach to {request.room}: session {response.session} is in no record")
            else:
                self._snapshot(f"Attach to {request.room}", request.room, room, response, response.snapshot)
        elif method == "View":
            room = self._truth.rooms.get(request.room)
            if room is None:
                self._violate(COMMITTED, f"View of {request.room}, which is nowhere in the log")
            else:
                self._truth.count("views")
                self._snapshot(f"View of {request.room}", request.room, room, request, response.snapshot)
        elif method == "Open":
            room = self._truth.rooms.get(request.room)
            if room is None or not room.base:
                self._violate(COMMITTED, f"Open of {request.room} is in no record")

    def _snapshot(self, where: str, name: str, room: RoomTruth, whose: Any, snapshot: pb.Snapshot) -> None:
        at = self._truth.partition(partition_of(name))
        if snapshot.epoch not in at.epochs:
            self._violate(BELIEVED, f"{where}: epoch {snapshot.epoch} never claimed")
        if snapshot.table_number > room.table_number:
            self._violate(COMMITTED, f"{where}: table number {snapshot.table_number} > {room.table_number}")
        known = room.seat_number.get(whose.seat)
        if known is not None and snapshot.seat_number > known:
            self._violate(COMMITTED, f"{where}: seat number {snapshot.seat_number} > {known}")
        reign = room.reign_of.get((whose.seat, whose.session))
        if reign is not None and snapshot.answered > reign.last:
            self._violate(COMMITTED, f"{where}: answered {snapshot.answered}, decided is {reign.last}")
        seen = _seen.decode(snapshot.body)
        if seen.view is not None and seen.view.digest not in room.positions:
            self._violate(COMMITTED, f"{where}: shows cards that were never committed")

    def _refusal(self, method: str, request: Any, refused: Refused) -> None:
        room = self._truth.rooms.get(request.room)
        if refused.detail == "not_owner" or refused.code is grpc.StatusCode.UNAVAILABLE:
            return
        if refused.detail == "no_table":
            if room is not None and not room.closed and room.base:
                self._violate(BELIEVED, f"{method}: {request.room} is said to have no table, and has one")
        elif refused.detail == "taken_over":
            newest = room.session.get(getattr(request, "seat", -1), 0) if room is not None else 0
            if method == "View" and request.session >= newest:
                self._violate(BELIEVED, f"View of {request.room}: session {request.session} is said to be taken over")
            elif method == "Attach":
                self._later_hello(request, refused.detail)
        elif (method, refused.detail) == ("Attach", "superseded"):
            self._later_hello(request, refused.detail)
        elif (method, refused.detail) == ("Attach", "undone"):
            self._undone(request)
        elif method != "Open":
            self._violate(BELIEVED, f"{method}: {refused.code.name} {refused.detail}")

    def _later_hello(self, request: pb.AttachRequest, detail: str) -> None:
        """An Attach is turned away for a socket that said hello later: then that one is in the log.

        It may have gone since, and an earlier one come to the empty seat: all that in one record.
        """
        self._truth.count(f"attach {detail}")
        member = self._member(request)
        latest = self._truth.rooms[request.room].latest_hello.get(member.seat, 0) if member is not None else -1
        if latest < request.hello_at:
            self._violate(BELIEVED, f"Attach of {request.player} is {detail}, and nobody said hello later: {member}")

    def _undone(self, request: pb.AttachRequest) -> None:
        """An Attach is turned away for its caller gave it up: then it has no seat."""
        self._truth.count("attach undone")
        member = self._member(request)
        if member is not None and member.attached and member.attempt == request.attempt:
            self._violate(BELIEVED, f"Attach of {request.player} is undone, and has the seat: {member}")

    def _member(self, request: pb.AttachRequest) -> Member | None:
        table = self._truth.partition(partition_of(request.room)).ledger.table(request.room)
        return table.seat_of(request.player) if table is not None else None

    def _reply(self, reply: pb.Reply) -> None:
        if reply.kind in (pb.REPLY_KIND_NOT_OWNER, pb.REPLY_KIND_BUSY):
            self._truth.count("not owner" if reply.kind == pb.REPLY_KIND_NOT_OWNER else "busy")
            return
        if reply.kind == pb.REPLY_KIND_DETACHED:
            self._detached(reply)
            return
        where = f"{reply.room} seat {reply.seat} session {reply.session}"
        room = self._truth.rooms.get(reply.room)
        if room is None:
            self._violate(BELIEVED, f"{where}: told {pb.ReplyKind.Name(reply.kind)} of a room that never was")
            return
        reign = room.reign_of.get((reply.seat, reply.session))
        if reign is None:
            self._violate(COMMITTED, f"{where}: told {pb.ReplyKind.Name(reply.kind)}; the session is in no record")
        elif reply.kind == pb.REPLY_KIND_ANSWERED:
            self._truth.count("answered again")
            self._stored(where, reign.decided.get(reply.id), reply)
        elif reply.kind == pb.REPLY_KIND_EXPECT:
            self._truth.count("expects")
            if reign.last < reply.id - 1:
                self._violate(COMMITTED, f"{where}: told to go on with {reply.id}, decided is {reign.last}")
        elif reply.kind == pb.REPLY_KIND_TAKEN_OVER:
            if room.session.get(reply.seat, 0) <= reply.session:
                self._violate(BELIEVED, f"{where}: told that it was taken over, and is the newest")
        elif reply.kind == pb.REPLY_KIND_NO_TABLE:
            if not room.closed:
                self._violate(BELIEVED, f"{where}: told that there is no table, and there is")
        else:
            self._violate(BELIEVED, f"{where}: told {pb.ReplyKind.Name(reply.kind)}")

    def _detached(self, reply: pb.Reply) -> None:
        """Confirmed: then it is in the log that this session, or this attempt to attach, has no socket."""
        self._truth.count("detaches confirmed")
        table = self._truth.partition(partition_of(reply.room)).ledger.table(reply.room)
        for m in table.state.members if table is not None else ():
            mine = (m.seat, m.session) == (reply.seat, reply.session) if reply.session else m.attempt == reply.id
            if m.attached and mine:
                self._violate(BELIEVED, f"{reply.room} seat {m.seat}: a detach is confirmed, and it is attached")

    def _stored(self, where: str, decided: Any, reply: pb.Reply) -> None:
        answer = _answer.decode(reply.body)
        if decided is None:
            self._violate(COMMITTED, f"{where}: {reply.id} is answered, and decided by no record")
        elif not same(decided.no, answer.no) and not (decided.no is None and answer.no is None):
            self._violate("an answer never changes", f"{where}: {reply.id} is {decided.no}, told {answer.no}")


def same(logged: r.Refused | None, told: out.No | None) -> bool:
    """A refusal as logged and as told."""
    if logged is None or told is None:
        return logged is None and told is None
    return (logged.code, logged.by, logged.pile) == (told.code, told.by, told.pile)
