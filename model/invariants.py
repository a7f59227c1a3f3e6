"""What must hold in every world, and the observer who holds everybody to it.

| invariant | is |
| --- | --- |
| one order | a partition's records follow one another, epochs never fall, each slot and each claim is there once |
| nothing lost | an engine's tables are what the log says, as it begins to serve and after each of its records |
| nothing doubled | a move is accepted by one record at most, and never after it was told refused |
| ids in order | the ids of a tab are decided once each, without gaps; sessions only grow |
| nothing is told before it is committed | frames, replies, answers, Views, and what phones show |
| no two writers are believed | whatever an engine tells is of an epoch that claimed, and true |
| an answer never changes | a phone is told the same of a move, whoever it asks |
| no acknowledged move is lost | what a phone was shown or told done stays |
| a slot's bytes never change | an append that is sent again is the same |
| the log keeps what is needed | nothing above the oldest snapshot needed is removed |
| deposed only by a higher epoch | … that was written or placed |
| a good log is never called a bad one | no partition halts |
| silence counts between own renewals | two of them at least, before a peer is judged dead |
| no fault of our own | nothing raises that isn't caught, and no engine logs an error |
| all is well once faults stop | partitions open, moves answered, screens current |
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from model.bus import SimBus
from model.cluster import Cluster
from model.jetstream import Stream
from model.judgements import Judgements, wrapped
from model.links import Refused
from model.loop import Node, SimLoop
from model.nats import SimNats
from model.phone import Player
from model.store import Store, Stored, Subject
from model.tellings import Tellings
from model.truth import GAMES, Truth, table_hash
from services.engine import records as r
from services.engine.board import KV
from services.engine.ledger import Ledger
from wire import subjects
from wire.news import Entry
from wire.places import partition_of

NO_FAULT = "no fault of our own"
_LOG = subjects.LOG_SUBJECTS[:-1]


class Broken(Exception):
    """An invariant doesn't hold."""

    def __init__(self, invariant: str, how: str, at: float) -> None:
        super().__init__(f"{invariant}: {how} (at {at:.3f} s)")
        self.invariant, self.how, self.at = invariant, how, at

    def __reduce__(self) -> Any:
        return Broken, (self.invariant, self.how, self.at)


class Observer:
    """Hears all, knows all, and changes nothing."""

    def __init__(
        self, loop: SimLoop, nats: SimNats, cluster: Cluster, tell: Callable[[str], None] | None = None
    ) -> None:
        self._loop, self._nats, self._cluster, self._tell = loop, nats, cluster, tell
        self.truth = Truth(self.violate)
        self.tellings = Tellings(self.truth, self.violate)
        self.judgements = Judgements(self.truth, self.violate)
        self.on_append: list[Callable[[SimBus], None]] = []
        """Told as an append to the log leaves an engine."""
        self.on_placed: list[Callable[[Entry], None]] = []
        """Told as a placement is committed."""
        self._broken: Broken | None = None
        nats.committed.append(self._committed)
        loop.observe(self._look)

    def violate(self, invariant: str, how: str) -> None:
        """The first one ends the world, at the end of this instant: nobody may catch it."""
        if self._broken is None:
            self._broken = Broken(invariant, how, self._loop.now)
            self.tell(f"BROKEN {invariant}: {how}")

    def tell(self, text: str) -> None:
        if self._tell is not None:
            self._tell(f"{self._loop.now:8.4f} {self._loop.running.name:14} {text}")

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.judgements.watching())
            stack.enter_context(wrapped(SimBus, "publish", self._published))
            stack.enter_context(wrapped(Subject, "purge_below", self._purged))
            stack.enter_context(wrapped(Stream, "_refuse", self._refused))
            yield

    def _look(self) -> None:
        if self._broken is not None:
            raise self._broken
        if self._loop.errors:
            raise Broken(NO_FAULT, self._loop.errors[0], self._loop.now)
        if self._cluster.faults:
            raise Broken(NO_FAULT, self._cluster.faults[0], self._loop.now)

    # ---- what is heard ----

    def _committed(self, message: Stored) -> None:
        if message.subject.startswith(_LOG):
            number = int(message.subject[len(_LOG) :])
            if self._tell is not None:
                self._tell_record(message)
            self.truth.record(number, message.sequence, message.headers, message.data)
        elif message.subject.startswith(KV + "p."):
            entry = msgspec.json.decode(message.data, type=Entry)
            self.tell(f"placed {message.subject[len(KV) :]}: {entry}")
            self.truth.placed(int(message.subject[len(KV) + 2 :]), entry.epoch)
            for heard in list(self.on_placed):
                heard(entry)

    def _published(
        self, original: Callable[..., Any], bus: SimBus, subject: str, payload: bytes, *rest: Any, **more: Any
    ) -> Any:
        if subject.startswith("f."):
            self.tell(f"publishes {subject}")
            self.tellings.published(subject, payload)
        elif subject.startswith(_LOG):
            headers = more.get("headers") or (rest[1] if len(rest) > 1 else None) or {}
            self.judgements.slot(int(subject[len(_LOG) :]), headers, payload)
            for heard in list(self.on_append):
                heard(bus)
        return original(bus, subject, payload, *rest, **more)

    def answered(self, node: Node, method: str, request: Any, response: Any) -> None:
        """An engine answers."""
        if self._tell is not None:
            text = str(response).replace("\n", " ")
            self.tell(f"answers {method}: {text[:200]}")
        self.tellings.answered(method, request, response)

    def _refused(
        self, original: Callable[..., Any], stream: Stream, reply: str, code: int, error: int, *text: str
    ) -> Any:
        self.truth.count({10071: "10071s", 10164: "10164s"}.get(error, "other refusals"))
        return original(stream, reply, code, error, *text)

    def _purged(self, original: Callable[..., Any], subject: Subject, sequence: int) -> Any:
        name = subject.history[-1].subject if subject.history else ""
        if name.startswith(_LOG):
            self.tell(f"purges {name} below {sequence}")
            self.truth.purged(int(name[len(_LOG) :]), sequence)
        return original(subject, sequence)

    def _tell_record(self, message: Stored) -> None:
        record = r.decode(message.data)
        moves = [
            (chunk.room, s.seat, s.id, s.no.code if s.no else [type(e).__name__ for e in s.events])
            for chunk in record.chunks
            for s in chunk.steps
        ]
        snapshots = [s.room for s in record.snapshots]
        self.tell(
            f"committed {message.subject} at {message.sequence}: {message.headers} {record.kind} {snapshots} {moves}"
        )

    # ---- the end ----

    def unsettled(self, partitions: tuple[int, ...], players: list[Player]) -> list[str]:
        """What is not well yet."""
        missing = []
        for number in partitions:
            open_at = [o for e in self._cluster.alive() if not e.ended for o in e.hall.owners() if o.number == number]
            if not any(o.partition.epoch == self.truth.partition(number).epoch for o in open_at):
                missing.append(f"partition {number} is open nowhere")
        for player in players:
            missing += self._unsettled_player(player)
        return missing

    def _unsettled_player(self, player: Player) -> list[str]:
        tab = player.tab
        if tab.over:
            newest = self._newest_tab(player)
            return [] if newest != tab.number else [f"{tab} was told that it is over, and has the seat"]
        if not tab.connected or not tab.live:
            return [f"{tab} is not at the table"]
        missing = []
        if tab.pending:
            missing.append(f"{tab} waits for answers to {[p.id for p in tab.pending]}")
        if tab.questions:
            missing.append(f"{tab} asked about {sorted(tab.questions)}, which were decided, and hears nothing")
        table = self.truth.partition(partition_of(player.room)).ledger.table(player.room)
        if table is None:
            return [*missing, f"{player.room} has no table"]
        member = table.seat_of(player.name)
        if member is None or not member.attached or member.tab != tab.number:
            missing.append(f"{tab} believes to be at the table, and is not: {member}")
        if table.cards is not None and table.seq:
            view = table.game.view(table.cards, member.seat if member is not None and member.playing else None)
            shown = (tab.view.top, tab.view.digest, tab.view.rang, tab.view.hand)
            if shown != (view.top, view.digest, view.rang, view.hand or 0):
                missing.append(f"{tab} shows {shown}, the table is {view}")
        if table.state.phase != tab.phase:
            missing.append(f"{tab} shows {tab.phase}, the table is in {table.state.phase}")
        return missing

    def _newest_tab(self, player: Player) -> int:
        room = self.truth.rooms.get(player.room)
        reigns = room.reigns.get(player.tab.seat, []) if room is not None else []
        return reigns[-1].tab if reigns else 0

    def end(self, partitions: tuple[int, ...]) -> None:
        """What is left of the log still tells the same tables.  Raises Broken."""
        store: Store = self._nats.log.store
        for number in partitions:
            ledger = Ledger(GAMES)
            truth = self.truth.partition(number)
            for message in store.subject(subjects.log(number)).there:
                ledger.replay(r.decode(message.data), message.sequence)
            ledger.replayed()
            found = {name: table_hash(room.table) for name, room in ledger.rooms.items()}
            wanted = {name: table_hash(room.table) for name, room in truth.ledger.rooms.items()}
            if found != wanted:
                raise Broken("nothing lost", f"what is left of log.{number} tells other tables", self._loop.now)


__all__ = ["Broken", "Observer", "Refused"]
