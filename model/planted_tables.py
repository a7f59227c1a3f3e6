"""Rules of tables, tellings and gateways, broken on purpose: see `planted`."""

from __future__ import annotations

import contextlib
from typing import Any

from generated.snatch.engine.v1 import engine_pb2 as pb
from model.planting import Original, put, replace
from model.truth import TruthLedger
from servicekit.engine_commands import EngineCommands
from servicekit.seat import SeatSession
from services.engine import calls, frames, table, table_presence
from services.engine import records as r
from services.engine import table_store as store
from services.engine.batch import Batch
from services.engine.items import Call, CommandItem
from services.engine.ledger import Ledger
from services.engine.owner import Owner


def unlogged_refusal(stack: contextlib.ExitStack) -> None:
    """A refusal is answered at once, and not written down."""

    def unlogged(original: Original) -> Any:
        def move(self: Batch, item: CommandItem, *rest: Any) -> None:
            original(self, item, *rest)
            sitting = self.sittings.get(item.command.room)
            if sitting is not None and sitting.steps and (no := sitting.steps[-1].no) is not None:
                step = sitting.steps.pop()
                assert step.id is not None
                self._reply(item, pb.REPLY_KIND_ANSWERED, body=frames.answer_body(step.id, no))

        return move

    put(stack, Batch, "_move", unlogged)


def view_before_commit(stack: contextlib.ExitStack) -> None:
    """A View shows what is decided, committed or not."""

    def early(original: Original) -> Any:
        def view(self: Batch, call: Call, request: Any) -> None:
            before = len(self.afterwards)
            original(self, call, request)
            while len(self.afterwards) > before:
                self.afterwards.pop()()

        return view

    from services.engine import batch

    replace(stack, batch._CALLS, pb.ViewRequest, early(batch._CALLS[pb.ViewRequest]))


def frames_before_commit(stack: contextlib.ExitStack) -> None:
    """Frames go out while their record is on its way."""

    def early(original: Original) -> Any:
        async def commit(self: Owner, batch: Batch, began: float) -> None:
            await self._tell(batch)
            batch.outgoing = []
            await original(self, batch, began)

        return commit

    put(stack, Owner, "_commit", early)


def answers_not_replayed(stack: contextlib.ExitStack) -> None:
    """A new owner doesn't know what was answered."""

    def forgetful(original: Original) -> Any:
        def replay_chunk(self: Ledger, chunk: r.Chunk, sequence: int, now: int) -> None:
            if not isinstance(self, TruthLedger):
                steps = [r.LoggedStep(step.events) for step in chunk.steps]
                chunk = r.Chunk(chunk.room, steps, chunk.table_frames, chunk.seat_frames)
            original(self, chunk, sequence, now)

        return replay_chunk

    put(stack, Ledger, "_replay_chunk", forgetful)


def snapshot_ahead(stack: contextlib.ExitStack) -> None:
    """A snapshot holds the room as it is after its record's own events."""

    def ahead(original: Original) -> Any:
        def finish(self: Batch) -> None:
            original(self)
            rooms = self.ledger.rooms
            self.snapshots = [
                r.RoomSnapshot(s.room, store.dump(rooms[s.room].table)) for s in self.snapshots if s.room in rooms
            ]

        return finish

    put(stack, Batch, "finish", ahead)


def old_tabs_play(stack: contextlib.ExitStack) -> None:
    """A command counts, whichever tab's it is."""

    def any_session(original: Original) -> Any:
        def command(self: Batch, item: CommandItem) -> None:
            table = self.ledger.table(item.command.room)
            member = table.member(item.command.seat) if table is not None else None
            if member is None or item.command.kind != pb.COMMAND_KIND_MOVE:
                original(self, item)
                return
            newest, member.session = member.session, item.command.session
            original(self, item)
            member.session = newest

        return command

    put(stack, Batch, "_command", any_session)


def late_close_detaches(stack: contextlib.ExitStack) -> None:
    """An old socket's close throws the new one out."""

    def any_session(original: Original) -> Any:
        def detach(sitting: Any, seat: int, session: int) -> bool:
            member = sitting.table.member(seat)
            done: bool = original(sitting, seat, member.session if member is not None else session)
            return done

        return detach

    put(stack, table_presence, "detach", any_session)


def gaps_taken(stack: contextlib.ExitStack) -> None:
    """A gateway sends each move to whoever is the owner now, and an engine decides it whatever came before."""

    def any_id(original: Original) -> Any:
        def move(self: Batch, item: CommandItem, table: Any, member: Any) -> None:
            if item.command.id > member.answered + 1:
                member.answered = item.command.id - 1
            original(self, item, table, member)

        return move

    def at_once(original: Original) -> Any:
        def send(self: EngineCommands, talker: Any, command: pb.Command) -> None:
            owner = self._placement.known(talker.partition)
            if owner is not None:
                talker.stalled = False
                self._put(talker, owner.addr, command)
            else:
                original(self, talker, command)

        return send

    put(stack, Batch, "_move", any_id)
    put(stack, EngineCommands, "send", at_once)


def never_sent_again(stack: contextlib.ExitStack) -> None:
    """What was on its way when an engine died is forgotten by the gateway."""

    def forget(original: Original) -> Any:
        def stall(self: EngineCommands, talker: Any) -> None:
            if not talker.sent_to:
                original(self, talker)

        return stall

    put(stack, EngineCommands, "stall", forget)


def questions_forgotten(stack: contextlib.ExitStack) -> None:
    """A decided move that comes again is asked about once."""

    def moves_alone(original: Original) -> Any:
        def outstanding(self: SeatSession) -> Any:
            return iter([c for c in original(self) if c.id > self.answered])

        return outstanding

    put(stack, SeatSession, "outstanding", moves_alone)


def late_attach_wins(stack: contextlib.ExitStack) -> None:
    """Of two sockets the one whose attach arrives last has the seat, whoever said hello last."""
    put(stack, calls, "CLOCKS_APART_MS", lambda _: 0)


def tab_counts_anew(stack: contextlib.ExitStack) -> None:
    """A tab that comes back after another is new to the engine."""

    def forgetful(original: Original) -> Any:
        def change(member: Any, tab: int, back: bool) -> None:
            original(member, tab, False)

        return change

    put(stack, table, "_change_tab", forgetful)
