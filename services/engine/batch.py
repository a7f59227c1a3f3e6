"""One record in the making: what all that arrived together does to the tables of a partition.

Group commit: items are decided one after another, each against the state after the one
before it; one record holds it all.  Frames, replies and answers wait until it is committed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import calls, frames, table_clock, table_moves
from services.engine import records as r
from services.engine import table_presence as presence
from services.engine.items import Call, CallRefused, CommandItem, DealItem, DropItem, Item
from services.engine.ledger import Ledger
from services.engine.sitting import Fault, Sitting
from services.engine.table import Member, Table
from wire.news import TableNews

_MOVE, _DETACH = pb.COMMAND_KIND_MOVE, pb.COMMAND_KIND_DETACH


class Batch:
    """Take items, then `finish`; commit the record; then run `afterwards` and send `outgoing`."""

    def __init__(self, ledger: Ledger, epoch: int, now: int, writes: int = r.VERSION) -> None:
        """`writes`: the record's version; nothing goes in that its readers don't know."""
        self.ledger, self.epoch, self.now, self.writes = ledger, epoch, now, writes
        self.snapshots = ledger.due_snapshots(now, writes) if ledger.time_to_look(now) else []
        self.deferred: list[Item] = []
        """For a room whose table was closed in this batch: the next one takes them."""
        self.afterwards: list[Callable[[], None]] = []
        self.unrecorded = False
        """Something is told that no record holds, a no as well: true only while the partition is this engine's."""
        self.outgoing: list[frames.Outgoing] = []
        self.news: list[TableNews] = []
        self.faults: list[Fault] = []
        self.decided: list[tuple[str, int, list[str]]] = []
        """Of each table that had moves: its game, how many, and the codes of those that were refused."""
        self.arrived: list[float] = []
        """When each move that is decided here came, in seconds of the loop's clock."""
        self.chunks: list[r.Chunk] = []
        self.sittings: dict[str, Sitting] = {}

    # ---- items ----

    def wake(self) -> None:
        """Whatever the tables do by themselves at this time."""
        at = self.ledger.next_wake()
        if at is None or at > self.now:
            return
        for name, room in list(self.ledger.rooms.items()):
            if room.wakes_at is not None and room.wakes_at <= self.now:
                sitting = self._sitting(name, room.table)
                try:
                    table_clock.wake(sitting)
                except Exception as fault:
                    self.faults.append(Fault(fault, name))

    def take(self, item: Item) -> None:
        try:
            if isinstance(item, CommandItem):
                self._command(item)
            elif isinstance(item, Call):
                self._call(item)
            elif isinstance(item, DealItem):
                self._deal(item)
            else:
                self._drop(item)
        except Exception as fault:
            self.faults.append(_fault(fault, item))
            item.fail()

    def finish(self) -> None:
        """No more items: count and encode the frames."""
        for name, sitting in self.sittings.items():
            self.faults += sitting.faults
            self.news += sitting.news
            if not sitting.steps:
                continue
            told = frames.tell(sitting, self.epoch)
            self.chunks.append(told.chunk)
            self.outgoing += told.frames
            if told.moves:
                self.decided.append((sitting.table.state.game, told.moves, told.refused))
            if sitting.table.state.phase == "closed":
                why = next((n.why for n in sitting.news if n.what == "closed"), "")
                self.ledger.close(name, why)
            elif name in self.ledger.rooms:
                self.ledger.changed(name)

    @property
    def empty(self) -> bool:
        """Nothing to log."""
        return not self.chunks and not self.snapshots

    # ---- commands ----

    def _command(self, item: CommandItem) -> None:
        c = item.command
        room, kind = c.room, c.kind
        table = self._table(room, item)
        if table is None:
            if item not in self.deferred:
                detach = kind == _DETACH
                self._reply(item, pb.REPLY_KIND_DETACHED if detach else pb.REPLY_KIND_NO_TABLE)
            return
        member = table.member(c.seat)
        if kind == _DETACH:
            sitting = self._sitting(room, table)
            if c.session:
                presence.detach(sitting, c.seat, c.session)
            elif c.id:
                self.ledger.undo(c.id)
                presence.detach_attempt(sitting, c.id)
            self._reply(item, pb.REPLY_KIND_DETACHED)
        elif member is None or c.session != member.session:
            old = member is not None and c.session < member.session
            self._reply(item, pb.REPLY_KIND_TAKEN_OVER if old else pb.REPLY_KIND_NO_TABLE)
        elif kind == _MOVE:
            self._move(item, room, table, member)
        else:
            self._bad(item, "unknown kind of command")

    def _move(self, item: CommandItem, room: str, table: Table, member: Member) -> None:
        id, next_id = item.command.id, member.answered + 1
        if 0 < id < next_id:
            no = next((a.no for a in member.answers if a.id == id), None)
            self._reply(item, pb.REPLY_KIND_ANSWERED, body=frames.answer_body(id, no))
        elif id > next_id:
            self._reply(item, pb.REPLY_KIND_EXPECT, next_id)
        else:
            try:
                asked = table_moves.decode(table.game, item.command.body, id)
            except table_moves.BadMessage as bad:
                self._bad(item, str(bad))
                return
            table_moves.move(self._sitting(room, table), member, id, asked)
            self.arrived.append(item.at)

    def _bad(self, item: CommandItem, text: str) -> None:
        self._reply(item, pb.REPLY_KIND_BAD, body=frames.error_body("bad_message", text[:200], item.command.id))

    def _reply(self, item: CommandItem, kind: pb.ReplyKind.ValueType, id: int | None = None, body: bytes = b"") -> None:
        self.unrecorded = True
        self.afterwards.append(lambda: item.reply(kind, id, body))

    # ---- calls, deals, callers that are gone ----

    def _call(self, call: Call) -> None:
        self.unrecorded = True
        try:
            decide = _CALLS[type(call.request)]
            decide(self, call, call.request)
        except CallRefused as refused:
            error = refused
            self.afterwards.append(lambda: call.refuse(error))

    def _open(self, call: Call, request: pb.OpenRequest) -> None:
        table = self._table(request.room, call)
        if call in self.deferred:
            return
        if table is not None and table.state.table != request.table:
            raise CallRefused("ALREADY_EXISTS", table.state.table)
        if table is None:
            closed = self.ledger.closed.get(request.room)
            if closed is not None and closed.table == request.table:
                raise CallRefused("INVALID_ARGUMENT", "gone")
            sessions = closed.session if closed is not None else 0
            event = calls.opened(request, self.ledger.games, self.ledger.last, sessions)
            table = self.ledger.opened(event, 0, self.now)
            sitting = self._sitting(request.room, table)
            sitting.changed = True
            sitting.begin().events.append(event)
        self.afterwards.append(lambda: call.answer(pb.OpenResponse(table=request.table)))

    def _close(self, call: Call, request: pb.CloseRequest) -> None:
        table = self._live(call, request.room, request.table)
        if table is None:
            return
        sitting = self._sitting(request.room, table)
        sitting.begin()
        presence.close(sitting, request.why[:32] or "closed")
        self.afterwards.append(lambda: call.answer(pb.CloseResponse()))

    def _attach(self, call: Call, request: pb.AttachRequest) -> None:
        table = self._live(call, request.room, request.table)
        if table is None:
            return
        if request.attempt in self.ledger.undone:
            raise CallRefused("FAILED_PRECONDITION", "undone")
        newcomer = calls.newcomer(request, table)
        sitting = self._sitting(request.room, table)
        try:
            member = presence.attach(sitting, newcomer, request, call.via, self.writes)
        except presence.TableFull:
            raise CallRefused("RESOURCE_EXHAUSTED", "full") from None
        session = member.session

        def answer() -> None:
            if request.attempt in self.ledger.undone:
                # Given up in the same record.  Whoever has the seat by now came to an empty one: nobody overtook it.
                call.refuse(CallRefused("FAILED_PRECONDITION", "undone"))
                return
            if member.session != session:
                # A newer tab came in the same record: a snapshot from after it would hide the frame that says so.
                call.refuse(calls.overtaken(request, member))
                return
            snapshot = calls.snapshot(table, member, self.epoch, self.now)
            call.answer(pb.AttachResponse(seat=member.seat, session=session, snapshot=snapshot))

        self.afterwards.append(answer)

    def _view(self, call: Call, request: pb.ViewRequest) -> None:
        table = self._live(call, request.room, request.table)
        if table is None:
            return
        member = calls.viewer(request, table)

        def answer() -> None:
            if member is not None and member.session != request.session:
                # Another tab came in the same record: what is answered now are its moves, not this one's.
                call.refuse(CallRefused("FAILED_PRECONDITION", "taken_over"))
                return
            call.answer(pb.ViewResponse(snapshot=calls.snapshot(table, member, self.epoch, self.now)))

        self.afterwards.append(answer)

    def _tables(self, call: Call, request: pb.TablesRequest) -> None:
        self.afterwards.append(lambda: call.answer([calls.summary(room.table) for room in self.ledger.rooms.values()]))

    def _deal(self, item: DealItem) -> None:
        table = self.ledger.table(item.room)
        if table is not None and table.state.table == item.table:
            table_clock.deal(self._sitting(item.room, table), item.asked, item.event)

    def _drop(self, item: DropItem) -> None:
        for name, room in self.ledger.rooms.items():
            for m in room.table.state.members:
                if m.attached and m.bot is None and m.via == item.caller:
                    presence.detach(self._sitting(name, room.table), m.seat, m.session)

    # ---- inside ----

    def _table(self, room: str, item: Item) -> Table | None:
        """None when there is none, or the item is for the next batch (see `deferred`)."""
        entry = self.ledger.rooms.get(room)
        if entry is None:
            return None
        if entry.table.state.phase == "closed":
            self.deferred.append(item)
            return None
        return entry.table

    def _live(self, call: Call, room: str, id: str) -> Table | None:
        """Raises CallRefused; None: the next batch answers."""
        table = self._table(room, call)
        if table is None and call in self.deferred:
            return None
        if table is None or (id and table.state.table != id):
            raise CallRefused("NOT_FOUND", "no_table")
        return table

    def _sitting(self, name: str, table: Table) -> Sitting:
        sitting = self.sittings.get(name)
        if sitting is None:
            sitting = self.sittings[name] = Sitting(table, self.now)
        return sitting


_CALLS: dict[type, Any] = {
    pb.OpenRequest: Batch._open,
    pb.CloseRequest: Batch._close,
    pb.AttachRequest: Batch._attach,
    pb.ViewRequest: Batch._view,
    pb.TablesRequest: Batch._tables,
}

__all__ = ["Batch", "DropItem"]


def _fault(error: Exception, item: Item) -> Fault:
    if isinstance(item, CommandItem):
        return Fault(error, item.command.room, item.command.seat)
    if isinstance(item, Call):
        return Fault(error, getattr(item.request, "room", ""))
    return Fault(error, item.room if isinstance(item, DealItem) else "")
