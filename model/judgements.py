"""What engines conclude, held to what is so: slots, depositions, halts, deaths of peers, their own tables.

The real classes are wrapped for as long as a world runs; what they do is not changed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from model.truth import Truth, Violate, table_hash
from services.engine import records as r
from services.engine.hall import Hall
from services.engine.keeper import Keeper
from services.engine.lease import Silence
from services.engine.ledger import Ledger
from services.engine.owner import Owner
from services.engine.partition import Partition
from services.engine.stream import EXPECTED, SLOT_ID

RENEWALS = 2


class Judgements:
    """`slot` is called with every append that leaves an engine; the rest hears by `watching`."""

    def __init__(self, truth: Truth, violate: Violate) -> None:
        self._truth, self._violate = truth, violate
        self._slots: dict[str, tuple[int, bytes]] = {}
        self._renewals: dict[int, int] = {}
        """By silence: the own renewals that were acknowledged."""
        self._heard: dict[tuple[int, str], int] = {}
        """By silence and peer: the own renewals when it was heard last."""
        self._gone: set[tuple[int, str]] = set()

    def slot(self, number: int, headers: Mapping[str, str], body: bytes) -> None:
        """An append to `log.<number>` is on its way."""
        id, expected = headers.get(SLOT_ID, ""), int(headers.get(EXPECTED, "-1"))
        if expected < 0:
            self._violate("a slot's bytes never change", f"log.{number}: {id} is appended without a fence")
        before = self._slots.get(id)
        if before is None:
            self._slots[id] = (expected, body)
            return
        self._truth.count("resent appends")
        if before[1] != body:
            self._violate("a slot's bytes never change", f"log.{number}: {id} was sent again with other bytes")
        if before[0] != expected:
            if self._truth.partition(number).last == before[0]:
                self._violate("a slot's bytes never change", f"log.{number}: {id} may yet land at {before[0]}")
            self._slots[id] = (expected, body)
            self._truth.count("new fences")

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Hear what the engines conclude."""
        with contextlib.ExitStack() as stack:
            for owner, name, heard in (
                (Partition, "deposed", self._deposed),
                (Partition, "_halt", self._halted),
                (Ledger, "committed", self._committed),
                (Hall, "serving", self._serving),
                (Keeper, "heard", self._peer_heard),
                (Silence, "gone", self._peer_gone),
                (Silence, "renewed", self._renewed),
                (Keeper, "_note_set", self._set_noted),
            ):
                stack.enter_context(wrapped(owner, name, heard))
            yield

    # ---- what is heard; each gets the original ----

    def _deposed(self, original: Callable[..., Any], partition: Partition) -> None:
        self._truth.count("deposed")
        at = self._truth.partition(partition.number)
        if at.epoch <= partition.epoch and at.placed_epoch <= partition.epoch:
            self._violate(
                "deposed only by a higher epoch",
                f"partition {partition.number} gives up epoch {partition.epoch}; the log has {at.epoch}",
            )
        original(partition)

    def _halted(self, original: Callable[..., Any], partition: Partition, why: str) -> Any:
        self._violate("a good log is never called a bad one", f"partition {partition.number} halts: {why}")
        return original(partition, why)

    def _committed(self, original: Callable[..., Any], ledger: Ledger, record: r.Record, sequence: int) -> None:
        original(ledger, record, sequence)
        for chunk in record.chunks:
            room = ledger.rooms.get(chunk.room)
            if room is not None:
                self._same(chunk.room, table_hash(room.table), sequence, f"after record {sequence}")

    def _serving(self, original: Callable[..., Any], hall: Hall, owner: Owner) -> None:
        fence = owner.partition.fence
        for name, room in owner.ledger.rooms.items():
            self._same(name, table_hash(room.table), fence, f"as {hall.name} begins to serve")
        at = self._truth.partition(owner.number)
        if at.last == fence and set(owner.ledger.rooms) != set(at.ledger.rooms):
            missing = sorted(set(at.ledger.rooms) ^ set(owner.ledger.rooms))
            self._violate("nothing lost", f"{hall.name} begins to serve {owner.number}, rooms differ: {missing}")
        original(hall, owner)

    def _same(self, name: str, hash: int, sequence: int, when: str) -> None:
        room = self._truth.rooms.get(name)
        if room is None or room.hash_at(sequence) != hash:
            self._violate("nothing lost", f"{name}: the engine's table is not what the log says, {when}")

    def _peer_heard(self, original: Callable[..., Any], keeper: Keeper, engine: str, *rest: Any) -> None:
        silence = id(keeper.silence)
        self._heard[silence, engine] = self._renewals.get(silence, 0)
        self._gone.discard((silence, engine))
        original(keeper, engine, *rest)

    def _renewed(self, original: Callable[..., Any], silence: Silence, now: float) -> None:
        self._renewals[id(silence)] = self._renewals.get(id(silence), 0) + 1
        original(silence, now)

    def _peer_gone(self, original: Callable[..., Any], silence: Silence, peer: str) -> None:
        self._gone.add((id(silence), peer))
        original(silence, peer)

    def _set_noted(self, original: Callable[..., Any], keeper: Keeper) -> None:
        before, silence = keeper.alive(), id(keeper.silence)
        original(keeper)
        for peer in sorted(before - keeper.alive()):
            if (silence, peer) in self._gone:
                self._truth.count("peers said gone")
                continue
            self._truth.count("peers judged dead")
            own = self._renewals.get(silence, 0) - self._heard.get((silence, peer), 0)
            if own < RENEWALS:
                self._violate(
                    "silence counts between own renewals",
                    f"{keeper._name} judges {peer} dead, {own} renewals of its own after hearing of it",
                )


@contextlib.contextmanager
def wrapped(owner: type, name: str, heard: Callable[..., Any]) -> Iterator[None]:
    """Calls go to `heard`, which gets the original before their arguments."""
    original = getattr(owner, name)

    def wrapper(*args: Any, **more: Any) -> Any:
        return heard(original, *args, **more)

    setattr(owner, name, wrapper)
    try:
        yield
    finally:
        setattr(owner, name, original)
