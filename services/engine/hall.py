"""All partitions of this engine: which to claim, which to give away, and what goes on beside them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from servicekit import logs
from servicekit.bus import Bus
from servicekit.ending import in_order
from services.engine.beacons import Beacons
from services.engine.board import Board, Lease
from services.engine.bots import BotSeats
from services.engine.callers import Callers
from services.engine.claims import STABLE, Claims, Placed, ranking, to_hand_over
from services.engine.dealing import Deals
from services.engine.items import DealItem
from services.engine.keeper import Keeper
from services.engine.log import Log
from services.engine.metrics import EngineMetrics
from services.engine.owner import MakeOwner, Owner
from services.engine.partition import Phase
from services.engine.records import VERSION
from services.engine.standstill import Standstill
from services.engine.stream import Asker, Stream
from services.engine.table import AnyGame, Table
from services.engine.versions import Versions
from wire import subjects
from wire.places import PARTITIONS, partition_of

CLAIMS_AT_ONCE = 64
HAND_OVERS_AT_ONCE = 2
"""Partitions on their way to another engine: each stands still until it is open there, so few share its time."""
LANDS_WITHIN = 0.5
"""Seconds after which one that is on its way makes room for the next all the same."""
MISSING_LEFT = 5.0
"""Seconds that a placement which vanished is left to the owner that it named, to put it back or to halt."""
TICK = 0.25
DRAIN_WITHIN = 6.0
AFTER_FAULT = 1.0


class Hall:
    """Implements `Floor` for its owners.  `partitions`: all there are; the model has fewer."""

    def __init__(
        self,
        bus: Bus,
        asker: Asker,
        games: Mapping[str, AnyGame],
        deals: Deals,
        metrics: EngineMetrics,
        name: str,
        lease: Lease,
        partitions: Sequence[int] = range(PARTITIONS),
        trim_after: float = 0.0,
        owner: MakeOwner = Owner,
    ) -> None:
        self.trim_after = trim_after
        self.name, self.addr, self.boot = name, lease.addr, lease.boot
        self.games, self.bus, self.metrics = games, bus, metrics
        stream = Stream(asker, subjects.LOG_STREAM)
        self.log = Log(stream, lambda verdict: metrics.append_doubted(verdict.value))
        self.standstill = Standstill(self.log.waited, lambda: stream.refusal)
        self.board = Board(
            bus, Stream(asker, f"KV_{subjects.OWN_BUCKET}"), self._on_lease, self._on_placed, self._on_missing
        )
        self.keeper = Keeper(bus, self.board, name, lease, metrics, self._look, self._name_taken)
        self.beacons = Beacons(bus, metrics)
        self.bots = BotSeats(bus, metrics)
        self.callers = Callers(bus)
        self.deals = deals
        self.resigned = False
        """Another process took this engine's name: serve nothing any more."""
        self._partitions, self._owner = partitions, owner
        self._claims = Claims(name, partitions)
        self._versions = Versions()
        self._owners: dict[int, Owner] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ticker: asyncio.Task[None] | None = None
        self._draining = False
        self._in_air: dict[int, float] = {}
        self._landed = asyncio.Event()
        self._recovering: dict[int, float] = {}
        """Partitions whose owner is gone, as they are claimed, and since when that is known."""
        self._missing: dict[int, float] = {}
        self._looking = False
        self._saying: asyncio.TimerHandle | None = None
        self._log = logs.logger(__name__)

    # ---- for the calls ----

    def owner_of(self, room: str) -> Owner | None:
        """The open owner of a room's partition, if that is here."""
        owner = self._owners.get(partition_of(room))
        return owner if owner is not None and owner.open else None

    def owners(self) -> list[Owner]:
        return [owner for owner in self._owners.values() if owner.open]

    def missing(self) -> str | None:
        """None when this engine serves its share, or every partition is served somewhere."""
        if self.resigned:
            return "another process has this engine's name"
        halted = sum(o.partition.phase is Phase.HALTED for o in self._owners.values())
        if halted:
            return f"{halted} of {len(self._partitions)} partitions are halted: see GET /partitions"
        if (standing := self.standstill.missing()) is not None:
            return standing
        live = self.keeper.alive() | {self.name}
        if self.board.complete(live, self._partitions):
            return None
        later = sum(at.entry.reads > VERSION for at in self.board.placed.values())
        if later:
            return f"{later} partitions have a log of a later release, and no engine here that reads it"
        share = [p for p in self._partitions if ranking(p, live)[0] == self.name]
        closed = [p for p in share if p not in self._owners or not self._owners[p].open]
        return f"{len(closed)} of {len(share)} partitions of its share are not open" if closed or not share else None

    # ---- for operators ----

    def halted(self) -> dict[int, Owner]:
        """Partitions that stand still here until an operator has looked."""
        return {p: o for p, o in self._owners.items() if o.partition.phase is Phase.HALTED and p not in self._tasks}

    def states(self) -> dict[str, dict[str, Any]]:
        """Every partition that is here, as an operator sees it."""
        return {
            str(number): {
                "phase": owner.partition.phase.value,
                "epoch": owner.partition.epoch,
                "rooms": len(owner.ledger.rooms),
                **({"why": owner.partition.why} if owner.partition.why else {}),
            }
            for number, owner in sorted(self._owners.items())
        }

    def claim_anew(self, partition: int, *, lose: bool) -> Owner:
        """Forget a halted owner, and claim from the log as it is now."""
        assert partition in self.halted()
        return self._claim(partition, lose=lose)

    # ---- coming and going ----

    async def start(self) -> None:
        """Raises StreamAway when NATS has no log or bucket, or doesn't answer."""
        await self.bots.start()
        await self.callers.start()
        await self.board.start()
        await self.keeper.start()
        self._ticker = asyncio.create_task(self._tick(), name="engine-ticker")
        self._look()

    async def stop(self) -> None:
        """Hand everything over, then say that this engine ends."""
        self._draining = True
        self.keeper.leave()
        await in_order(
            ("partitions", self._drain),
            ("partitions' ends", self._end_owners),
            ("ticker", self._end_ticker),
            ("lease", self.keeper.stop),
            ("board", self.board.stop),
            ("callers", self.callers.stop),
            ("bots", self.bots.stop),
        )

    async def _drain(self) -> None:
        """A few at a time while there is somebody to take them: the others are served meanwhile."""
        if not self.bus.is_connected:
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + DRAIN_WITHIN
        serving = [owner for number, owner in self._owners.items() if number in self._tasks]
        waiting = deque(sorted(serving, key=lambda o: (o.open, o.number)))
        while waiting and loop.time() < end:
            if self._air_free() or not self._readers(0):
                self._give(waiting.popleft())
            else:
                await self._landing()
        for owner in waiting:
            self._give(owner)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=max(0.5, end - loop.time()))

    async def _end_owners(self) -> None:
        if self._saying is not None:
            self._saying.cancel()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _end_ticker(self) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)

    # ---- Floor ----

    @property
    def writes(self) -> int:
        return self._versions.writes

    def heir(self, partition: int, reads: int) -> tuple[str, str]:
        readers = self._readers(reads)
        engine = ranking(partition, readers)[0] if readers else ""
        return engine, self.board.leases[engine][0].addr if engine else ""

    def _readers(self, version: int) -> set[str]:
        """Living peers that read so much, and take anything at all."""
        leases = self.board.leases
        alive = self.keeper.alive() - self._leavers()
        return {e for e in alive if e in leases and leases[e][0].reads >= version}

    def _leavers(self) -> set[str]:
        """Peers that give all away: what is given to them comes back, or to nobody when all end at once."""
        return {engine for engine, (lease, _) in self.board.leases.items() if lease.leaving}

    def lease_proof(self, since: float) -> float:
        return self.keeper.proved_at if since > self.keeper.lapsed_at else 0.0

    def serving(self, owner: Owner) -> None:
        if (since := self._recovering.pop(owner.number, None)) is not None:
            self.metrics.recovered(asyncio.get_running_loop().time() - since)
        self._changed()
        self._look_soon()

    def opened(self, owner: Owner, table: Table) -> None:
        self._beside(self.beacons.opened, owner, table)
        self._beside(self.bots.opened, owner, table)
        self._beside(self._deal, owner, table)

    def touched(self, owner: Owner, table: Table) -> None:
        self._beside(self.beacons.touched, owner, table)
        self._beside(self.bots.touched, owner, table)
        self._beside(self._deal, owner, table)

    def told(self, room: str, at: float) -> None:
        self.beacons.told(room, at)

    def _beside(self, told: Callable[[Owner, Table], None], owner: Owner, table: Table) -> None:
        """What goes on beside the tables must not take their partition with it."""
        try:
            told(owner, table)
        except Exception:
            self.metrics.faulted()
            self._log.exception("a fault beside a table", room=table.state.room)

    def forgotten(self, room: str) -> None:
        self.beacons.forgotten(room)
        self.bots.forgotten(room)
        self.deals.forget(room)

    def _deal(self, owner: Owner, table: Table) -> None:
        s = table.state

        def ready(asked: int, event: bytes) -> None:
            owner.submit(DealItem(s.room, s.table, asked, event))

        self.deals.look(table, ready)

    # ---- claims and hand-overs ----

    def _look(self) -> None:
        """Claim what is due, give away what is another's by now."""
        self._looking = False
        # Before the board is read to its end, what is not read yet would look like nobody's.
        if self._ticker is None or self._draining or self.resigned or not self.bus.is_connected:
            return
        now = asyncio.get_running_loop().time()
        self._look_at_versions(now)
        claiming = sum(o.partition.phase not in (Phase.OPEN, Phase.HALTED) for o in self._owners.values())
        self._missing = {p: at for p, at in self._missing.items() if now - at < MISSING_LEFT}
        held = {*self._owners, *self._missing}
        for partition in self._claims.due(self.board.placed, self.keeper.alive(), held, now, self._leavers()):
            if claiming >= CLAIMS_AT_ONCE:
                break
            claiming += 1
            self._note_recovery(partition)
            self._claim(partition)
        if now - self.keeper.set_changed_at < STABLE:
            return
        # What only just came may come from the very engine that should have it, which ends and gives all away.
        settled = now - STABLE
        serving = [o for o in self._owners.values() if o.open and not o.leaving and (o.served_at or now) <= settled]
        leaving = [o for o in serving if to_hand_over([o.number], self.name, self._readers(o.needs))]
        for owner in leaving[: self._air_free()]:
            self._give(owner)

    def _note_recovery(self, partition: int) -> None:
        """Whoever comes to a partition that nobody had, or that was given to it, makes nothing good."""
        at, since = self.board.placed.get(partition), self._claims.orphaned(partition)
        self._recovering.pop(partition, None)
        if at is not None and at.entry.owner != self.name and since is not None:
            self._recovering[partition] = since

    def _give(self, owner: Owner) -> None:
        self._in_air[owner.number] = asyncio.get_running_loop().time()
        owner.hand_to(*self.heir(owner.number, owner.needs))

    def _air_free(self) -> int:
        """How many more may be on their way to other engines."""
        now = asyncio.get_running_loop().time()
        self._in_air = {p: at for p, at in self._in_air.items() if now - at < LANDS_WITHIN}
        return max(0, HAND_OVERS_AT_ONCE - len(self._in_air))

    async def _landing(self) -> None:
        """Wait until another engine has opened what was given to it."""
        self._landed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LANDS_WITHIN / 5):
                await self._landed.wait()

    def _look_at_versions(self, now: float) -> None:
        leases = self.board.leases
        alive = self.keeper.alive()
        reads = {engine: lease.reads for engine, (lease, _) in leases.items() if engine != self.name}
        self._versions.look(
            [v for engine, v in reads.items() if engine in alive],
            [v for engine, v in reads.items() if engine not in alive],
            now,
        )
        for owner in self.owners():
            owner.rewrite()

    def _claim(self, partition: int, *, lose: bool = False) -> Owner:
        owner = self._owners[partition] = self._owner(partition, self, lose=lose)
        task = self._tasks[partition] = asyncio.create_task(owner.run(), name=f"partition:{partition}")
        task.add_done_callback(lambda _: self._ended(partition))
        return owner

    def _changed(self) -> None:
        """Say how many partitions are here now, once they stop changing."""
        if self._saying is not None:
            self._saying.cancel()
        self._saying = asyncio.get_running_loop().call_later(0.5, self._say)

    def _say(self) -> None:
        self._saying = None
        self._log.info("partitions", open=len(self.owners()), tables=len(self.beacons), peers=len(self.keeper.alive()))

    def _ended(self, partition: int) -> None:
        del self._tasks[partition]
        owner = self._owners[partition]
        if owner.partition.phase is not Phase.HALTED:
            if owner.faulted and not self._draining:
                asyncio.get_running_loop().call_later(AFTER_FAULT, self._owners.pop, partition, None)
            else:
                del self._owners[partition]
        if owner.served_at is not None:
            self._changed()
            self._look_soon()  # An unsuccessful claim is tried again with the next beat.

    def _look_soon(self) -> None:
        if not self._looking:
            self._looking = True
            asyncio.get_running_loop().call_soon(self._look)

    def _on_lease(self, engine: str, lease: Lease, revision: int) -> None:
        self.keeper.heard(engine, lease, revision)
        if lease.gone:
            self._look_soon()

    def _on_placed(self, partition: int, placed: Placed) -> None:
        if placed.entry.state == "open" and self._in_air.pop(partition, None) is not None:
            self._landed.set()
            self._look_soon()
        self._missing.pop(partition, None)
        owner = self._owners.get(partition)
        if owner is not None:
            owner.placed(placed)
            if partition in self.halted() and placed.entry.owner != self.name:
                del self._owners[partition]
        elif placed.entry.state == "offer":
            self._look_soon()

    def _on_missing(self, partition: int) -> None:
        self._missing[partition] = asyncio.get_running_loop().time()
        owner = self._owners.get(partition)
        if owner is not None:
            owner.unplaced()

    def _name_taken(self, addr: str) -> None:
        self._log.error("another process has this engine's name: this one serves no more", addr=addr)
        self.resigned = True
        for task in self._tasks.values():
            task.cancel()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            try:
                self.standstill.look()
                await self.beacons.tick()
                await self.bots.tick()
                self.callers.look(self.owners())
            except Exception:
                self._log.exception("a fault beside the tables")
