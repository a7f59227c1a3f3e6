"""A table played through the engine's own batches, without I/O: one record for each `do`.

Every record is also replayed into a second ledger, which must then hold the same bytes.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec

from games.registry import GAMES
from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import records as r
from services.engine import table_store as store
from services.engine.batch import Batch
from services.engine.items import Call, CommandItem, DealItem, Item
from services.engine.ledger import Ledger
from services.engine.sitting import Fault
from services.engine.table import COUNTDOWN_MS, Table
from tests.services.engine_twin import TWIN
from wire import frames

ROOM = "BCDFG"
GAMES_HERE = {**GAMES, TWIN.spec.id: TWIN}


class Later:
    """A future's twin, without a loop."""

    def __init__(self) -> None:
        self.result: Any = None
        self.error: Exception | None = None

    def done(self) -> bool:
        return self.result is not None or self.error is not None

    def set_result(self, result: Any) -> None:
        self.result = result

    def set_exception(self, error: Exception) -> None:
        self.error = error


class Phone:
    """A player's tab at the table."""

    def __init__(self, play: Play, player: str, tab: int, name: str) -> None:
        self.play, self.player, self.tab, self.name = play, player, tab, name
        self.seat, self.session, self.last = -1, 0, 0
        self.replies: list[pb.Reply] = []
        self.snapshot: dict[str, Any] = {}

    def reply(self, reply: pb.Reply) -> None:
        self.replies.append(reply)

    def attach(self) -> Phone:
        request = pb.AttachRequest(room=ROOM, player=self.player, tab=self.tab, name=self.name)
        response = self.play.call(request, via="gateway-1")
        self.seat, self.session = response.seat, response.session
        self.last = response.snapshot.answered
        self.snapshot = json.loads(response.snapshot.body)
        return self

    def command(self, m: dict[str, Any] | bytes, id: int | None = None, basis: int = 0) -> CommandItem:
        if id is None:
            self.last += 1
            id = self.last
        body = m if isinstance(m, bytes) else json.dumps({"t": "move", "id": id, "basis": basis, "m": m}).encode()
        kind = pb.COMMAND_KIND_MOVE
        command = pb.Command(room=ROOM, seat=self.seat, session=self.session, id=id, body=body, kind=kind)
        return CommandItem(command, self)

    def move(self, t: str, **more: Any) -> str | None:
        """Make a move; the code of its refusal, if it was refused."""
        item = self.command({"t": t, **more})
        self.play.do(item)
        return self.play.answer(self.seat, item.command.id)

    def gone(self) -> CommandItem:
        kind = pb.COMMAND_KIND_DETACH
        return CommandItem(pb.Command(room=ROOM, seat=self.seat, session=self.session, kind=kind), self)

    def drop(self) -> None:
        """The socket closes."""
        self.play.do(self.gone())

    def view(self) -> dict[str, Any]:
        request = pb.ViewRequest(room=ROOM, seat=self.seat, session=self.session)
        found: dict[str, Any] = json.loads(self.play.call(request).snapshot.body)
        return found


class Play:
    """One room of a partition.  `told` is what all screens were shown, `news` what rooms was told."""

    def __init__(self, game: str = "twin", bots: int = 0, players: int = 2) -> None:
        self.ledger, self.shadow = Ledger(GAMES_HERE), Ledger(GAMES_HERE)
        self.now, self.sequence, self.epoch = 0, 0, 1
        self.game = game
        self.writes = r.VERSION
        self.log: list[bytes] = []
        self.told: list[dict[str, Any]] = []
        self.private: dict[int, list[dict[str, Any]]] = {}
        self.answers: dict[tuple[int, int], str | None] = {}
        self.answered: list[frames.Answered] = []
        self.frames: list[tuple[str, frames.Frame]] = []
        self.news: list[dict[str, Any]] = []
        self.faults: list[Fault] = []
        self.hand_ends: list[str] = []
        names = ["Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida"][:players]
        self.members = [pb.OpenMember(player=f"p{i}", name=name, colour=i % 8) for i, name in enumerate(names)]
        self.members += [pb.OpenMember(player=f"b{i}", name=f"Bot {i}", bot="easy") for i in range(bots)]
        self.phones = [Phone(self, m.player, 100 + i, m.name) for i, m in enumerate(self.members) if not m.bot]
        self.open("t1")

    def open(self, table: str) -> Any:
        request = pb.OpenRequest(room=ROOM, table=table, game=self.game, host="p0", members=self.members)
        return self.call(request)

    @property
    def table(self) -> Table:
        table = self.ledger.table(ROOM)
        assert table is not None
        return table

    @property
    def phase(self) -> str:
        table = self.ledger.table(ROOM)
        return table.state.phase if table is not None else "closed"

    # ---- doing ----

    def do(self, *items: Item, later: int = 1) -> None:
        """One record with all of this, `later` ms after the one before."""
        self.now += later
        batch = Batch(self.ledger, self.epoch, self.now, self.writes)
        batch.wake()
        for item in items:
            batch.take(item)
        batch.finish()
        if not batch.empty:
            self.sequence += 3  # other partitions' records lie between
            record = r.Record(self.writes, 0, self.epoch, "data", self.now, batch.snapshots, batch.chunks)
            self.log.append(r.encode(record))
            self.ledger.committed(record, self.sequence)
            self.shadow.replay(r.decode(self.log[-1]), self.sequence)
            self.same()
        for after in batch.afterwards:
            after()
        self.news += msgspec.to_builtins(batch.news)
        self.faults += batch.faults
        self.hand_ends += [sitting.hand_end for sitting in batch.sittings.values() if sitting.hand_end]
        for outgoing in batch.outgoing:
            self._hear(outgoing.subject, outgoing.data)
        if batch.deferred:
            self.do(*batch.deferred)

    def call(self, request: Any, via: str = "") -> Any:
        future: Any = Later()
        self.do(Call(request, future, via))
        if future.error is not None:
            raise future.error
        return future.result

    def wait(self, ms: int) -> None:
        """Room time passes, with a record whenever something happens by itself."""
        end = self.now + ms
        while (table := self.ledger.table(ROOM)) is not None:
            at = table.wakes_at()
            if at is None or at > end:
                break
            self.do(later=max(0, at - self.now))
        self.now = max(self.now, end)

    def deal(self) -> None:
        """The deal that the table waits for comes from the pool."""
        table = self.table
        s = table.state
        event = table.game.deal(table.playing(), table.options(), Random(s.asked))
        self.do(DealItem(s.room, s.table, s.asked, msgspec.msgpack.encode(event)))

    def gather(self) -> Play:
        """Everyone attaches."""
        for phone in self.phones:
            phone.attach()
        return self

    def start(self, **options: Any) -> Play:
        """Everyone attaches, the host sets options and deals, the hand goes live."""
        self.gather()
        if options:
            assert self.phones[0].move("options", options=options) is None
        assert self.phones[0].move("deal") is None
        self.deal()
        self.wait(COUNTDOWN_MS)
        assert self.phase == "live"
        return self

    def finish_hand(self, phone: Phone) -> None:
        """This one plays all its cards, alone."""
        while self.phase == "live":
            assert phone.move("take") is None

    # ---- seeing ----

    def answer(self, seat: int, id: int) -> str | None:
        return self.answers[(seat, id)]

    def shown(self, tag: str) -> list[dict[str, Any]]:
        """All events of this tag that every screen was shown."""
        return [e for e in self.told if e["t"] == tag]

    def tv(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.call(pb.ViewRequest(room=ROOM)).snapshot.body)
        return found

    def same(self) -> None:
        """The replayed tables are the played ones, byte for byte."""
        assert sorted(self.shadow.rooms) == sorted(self.ledger.rooms)
        for name, room in self.ledger.rooms.items():
            assert store.dump(self.shadow.rooms[name].table) == store.dump(room.table)

    def _hear(self, subject: str, data: bytes) -> None:
        frame = frames.unpack(data)
        self.frames.append((subject, frame))
        self.answered += [a for a in frame.answered if a.id]
        seat = int(subject.rpartition(".")[2]) if frame.kind == frames.SEAT else None
        for step in json.loads(frame.body)["steps"]:
            events = step.get("ev", [])
            if seat is None:
                self.told += events
            else:
                self.private.setdefault(seat, []).extend(events)
            by = step.get("by") if seat is None else seat
            if "id" in step:
                self.answers[(by, step["id"])] = step["no"]["code"] if "no" in step else None
