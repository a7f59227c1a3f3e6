"""Runs cells of faults on rooms that play, and compares all sides after each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from servicekit.settings import Credentials
from simulate.chaos_cells import Cell
from simulate.chaos_room import ChaosRoom, RoomWish
from simulate.chaos_verdict import RoomVerdict
from simulate.door import Door, check_loopback
from simulate.faults import Faulter, Hit, Hitter, NoParts
from simulate.findings import Findings
from simulate.gaps import NOTABLE, percentile
from simulate.lateness import Lateness
from simulate.log_witness import READ, LogWitness
from simulate.vigil import Stack
from simulate.watchers import Sockets

GATHER_AT_ONCE, GATHER_PARTS = 12, 10
"""Rooms that gather at the same time, and in how many parts the very many do: each waits for its countdown."""
COMPARE_AT_ONCE = 12
SETTLES_WITHIN = 30.0
"""Seconds after the last fault that rooms may take until nobody waits any more."""
BREATH = 1.0
"""Seconds of play before the first fault."""
PARTS_READY = "every part gets ready again by itself"
DRIVEN = "every bot seat is driven again"

PLAY_ERRS = frozenset({"colour_taken", "table_live"})
"""Errors with which a lobby that is well answers people who fidget."""
PLAY_REFUSES = frozenset({"snatched", "no_pile", "nothing_to_turn", "not_live", "paused", "no_fit", "stale"})
"""Refusals that two racers and a tap too many bring about by themselves."""


@dataclass
class CellResult:
    """What a cell brought.  Times in seconds."""

    cell: Cell
    hits: list[Hit]
    seconds: float
    moves: int
    verdicts: dict[str, RoomVerdict]
    gaps: list[float]
    """Each room's longest."""
    last_back: float | None
    """From a fault until the last room that it held up went on, the worst of all hits; None: it held up none."""
    sockets_back: float | None
    tvs_back: float | None
    bots_back: float | None
    reconnects: int
    refused: Counter[str]
    errors: Counter[str]
    broken: Counter[str]
    late_p99: float
    late_max: float
    cpu: float
    """Of one core, that the players' own process used while they played."""
    ready_after: list[float] = field(default_factory=list)
    trouble: str = ""

    @property
    def lost(self) -> int:
        return sum(v.lost for v in self.verdicts.values())

    @property
    def doubled(self) -> int:
        return sum(v.doubled for v in self.verdicts.values())

    @property
    def acknowledged(self) -> int:
        return sum(v.acknowledged for v in self.verdicts.values())

    @property
    def unanswered(self) -> int:
        return sum(v.unanswered for v in self.verdicts.values())

    @property
    def equal(self) -> int:
        return sum(v.equal for v in self.verdicts.values())

    @property
    def odd_refusals(self) -> Counter[str]:
        return Counter({code: n for code, n in self.refused.items() if code not in PLAY_REFUSES})

    @property
    def odd_errors(self) -> Counter[str]:
        return Counter({code: n for code, n in self.errors.items() if code not in PLAY_ERRS})

    def failures(self) -> list[str]:
        """What may never be, in words: losses, doubles, unequal hashes, rooms that don't come back."""
        found = []
        if self.lost:
            found.append(f"{self.lost} acknowledged moves lost")
        if self.doubled:
            found.append(f"{self.doubled} moves doubled")
        if self.unanswered:
            found.append(f"{self.unanswered} moves never answered")
        if self.equal < len(self.verdicts):
            found.append(f"{len(self.verdicts) - self.equal} rooms with unequal hashes")
        found += [f"{invariant}: broken {n}×" for invariant, n in sorted(self.broken.items())]
        if self.trouble:
            found.append(self.trouble)
        if not self.hits:
            found.append("nothing was hit")
        if not self.acknowledged:
            found.append("no move was acknowledged: nothing could be lost")
        return found

    def slow(self) -> list[str]:
        """Times beyond their limits, and noise where there may be none: these count when it is strict."""
        limits = self.cell.limits
        found = []
        for what, limit, value in (
            ("gap p99", limits.gap_p99, percentile(self.gaps, 99)),
            ("gap max", limits.gap_max, max(self.gaps, default=0.0)),
            ("last room back", limits.last_back, self.last_back),
            ("sockets back", limits.sockets, self.sockets_back),
            ("bots driven", limits.bots, self.bots_back),
        ):
            if limit is not None and value is None:
                found.append(f"{what}: the fault held up none, so nothing was measured")
            elif limit is not None and value is not None and value >= limit:
                found.append(f"{what} {value:.2f} s, {limit:g} s allowed{self._own_part(value - limit)}")
        if limits.quiet:
            if self.odd_refusals:
                found.append(f"refusals: {dict(self.odd_refusals)}")
            if self.odd_errors:
                found.append(f"errors: {dict(self.odd_errors)}")
        return found

    def _own_part(self, over: float) -> str:
        """The players' own process was late too: then it isn't the stack's time alone."""
        return f" (the players' own process was late by {self.late_max:.2f} s)" if self.late_max >= over else ""


class ChaosRun:
    """`async with ChaosRun(...) as run`: rooms are gathered and play; `cell` one after another."""

    def __init__(
        self,
        stack: Stack,
        state: Callable[[], Stack | None],
        wish: RoomWish,
        rooms: int,
        say: Callable[[str], None],
        credentials: Credentials | None = None,
    ) -> None:
        """`credentials`: of who may read the log, where NATS knows its clients."""
        self.stack, self._state, self._say = stack, state, say
        self.found = Findings()
        self.witness = LogWitness(stack["nats_url"], self.found, credentials=credentials)
        self.sockets = Sockets()
        self._wish, self._count = wish, rooms
        self._door = Door(stack["url"])
        self._late = Lateness()
        self.rooms: list[ChaosRoom] = []
        self.results: list[CellResult] = []

    async def __aenter__(self) -> ChaosRun:
        try:
            await self.witness.start()
            await self._gather()
        except BaseException:
            await self.__aexit__()
            raise
        self._late.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(room.leave() for room in self.rooms))
        await self._late.stop()
        # Left alone after that: nats-py may take a cancellation for its own while it reconnects.
        await asyncio.wait({asyncio.create_task(self.witness.stop())}, timeout=5)
        await self._door.__aexit__()

    async def _gather(self) -> None:
        began = time.monotonic()
        tv_url = self.stack.get("watch_url")
        if tv_url:
            check_loopback(tv_url)
        self.rooms = [
            ChaosRoom(n, self._wish, self._door, tv_url, self.found, self.sockets) for n in range(1, self._count + 1)
        ]
        await _each(self.rooms, max(GATHER_AT_ONCE, self._count // GATHER_PARTS), ChaosRoom.gather)
        self._say(f"{len(self.rooms)} rooms play after {time.monotonic() - began:.0f} s")

    # ---- a cell ------------------------------------------------------------------------

    async def cell(self, cell: Cell, faulter: Hitter | None = None) -> CellResult:
        """Faults, quiet, comparison."""
        faulter = faulter or Faulter(self._state, cell.kind)
        await self._all_ready()
        self._reset()
        before = (self.found.moves, self.found.refused.copy(), self.found.errors.copy(), self.found.broken.copy())
        trips = len(self.sockets.trips)
        rooms = [room for room in self.rooms if not room.fell]  # a fallen one was told of in its own cell
        await _each(rooms, len(rooms), ChaosRoom.resume)
        for room in rooms:
            room.play()
        began, cpu = time.monotonic(), time.process_time()
        trouble = await self._faults(faulter, cell, began)
        await self._settle()
        now = time.monotonic()
        alive = [room for room in rooms if not room.fell]
        gaps = [room.gaps.take(now) for room in alive]
        late, late_max = self._late.take()
        cpu = (time.process_time() - cpu) / (now - began)
        refused, errors = self.found.refused - before[1], self.found.errors - before[2]
        moves = self.found.moves - before[0]
        await _each(rooms, len(rooms), ChaosRoom.hush)
        self.found.check(READ, await self.witness.catch_up(), "not to its end within 10 s, or trimmed before")
        verdicts: dict[str, RoomVerdict] = {}

        async def compare(room: ChaosRoom) -> None:
            verdicts[room.room] = await room.compare(self.witness)

        await _each(rooms, COMPARE_AT_ONCE, compare)
        result = CellResult(
            cell=cell,
            hits=faulter.hits,
            seconds=now - began,
            moves=moves,
            verdicts=verdicts,
            gaps=gaps,
            last_back=_worst(room.gaps.back_after(hit.at) for hit in faulter.hits for room in alive),
            sockets_back=_worst(self.sockets.back_after(hit.at, until) for hit, until in _windows(faulter.hits)),
            tvs_back=_worst(
                room.tv_sockets.back_after(hit.at, until) for hit, until in _windows(faulter.hits) for room in alive
            ),
            bots_back=self._bots_back(faulter.hits) if cell.kind == "bots" else None,
            reconnects=len(self.sockets.trips) - trips,
            refused=refused,
            errors=errors,
            broken=self.found.broken - before[3],
            late_p99=percentile(late, 99),
            late_max=late_max,
            cpu=cpu,
            ready_after=[hit.ready - (hit.over or hit.at) for hit in faulter.hits if hit.ready is not None],
            trouble=trouble,
        )
        self.results.append(result)
        return result

    def _reset(self) -> None:
        now = time.monotonic()
        for room in self.rooms:
            room.gaps.take(now)
            room.gaps.ended.clear()
            room.tv_sockets.trips.clear()
        self._late.take()

    async def _all_ready(self) -> None:
        for kind in {p["kind"] for p in (self._state() or {"parts": ()})["parts"]}:
            await Faulter(self._state, kind).until_ready(60)

    async def _faults(self, faulter: Hitter, cell: Cell, began: float) -> str:
        """All hits in their time; why one could not be, in words."""
        try:
            for number in range(cell.hits()):
                await asyncio.sleep(max(0.0, began + BREATH + number * cell.every - time.monotonic()))
                await faulter.hit(cell.fault, cell.hold)
        except NoParts as error:
            self.found.check(PARTS_READY, False, str(error))
            return str(error)
        finally:
            faulter.wake()
        self.found.check(PARTS_READY, True, "")
        await asyncio.sleep(max(0.0, began + BREATH + cell.hits() * cell.every - time.monotonic()))
        return ""

    async def _settle(self) -> None:
        """Until no room waits any longer than play does.  What doesn't settle is found by the hush."""
        until = time.monotonic() + SETTLES_WITHIN
        while time.monotonic() < until:
            now = time.monotonic()
            if not self.sockets.away and all(room.fell or room.gaps.open_for(now) < NOTABLE for room in self.rooms):
                return
            await asyncio.sleep(0.05)

    # ---- times ---------------------------------------------------------------------------

    def _bots_back(self, hits: Sequence[Hit]) -> float | None:
        """From a worker's fault to the last of its seats driven again, by the log's own times."""
        worst: float | None = None
        for hit in hits:
            for room in self.rooms:
                log = self.witness.rooms.get(room.room)
                drives = log.drives if log is not None else []
                for seat in {d.seat for d in drives}:
                    mine = [d for d in drives if d.seat == seat]
                    held = [d for d in mine if d.at <= hit.wall]
                    if not held or not held[-1].worker.startswith(f"{hit.part}-"):
                        continue
                    again = next((d.at for d in mine if d.at > hit.wall), None)
                    self.found.check(DRIVEN, again is not None, f"{room.room} seat {seat}: not after {hit.part}'s end")
                    if again is not None:
                        worst = max(worst or 0.0, again - hit.wall)
        return worst


def _windows(hits: Sequence[Hit]) -> Iterator[tuple[Hit, float]]:
    """Each hit with the time until which what happens is its doing."""
    for number, hit in enumerate(hits):
        yield hit, hits[number + 1].at if number + 1 < len(hits) else float("inf")


def _worst(values: Iterator[float | None]) -> float | None:
    found = [v for v in values if v is not None]
    return max(found) if found else None


async def _each(rooms: Sequence[ChaosRoom], at_once: int, what: Callable[[ChaosRoom], object]) -> None:
    """So many at a time; the first failure is raised."""
    gate = asyncio.Semaphore(max(1, at_once))

    async def one(room: ChaosRoom) -> None:
        async with gate:
            await what(room)  # type: ignore[misc]

    async with asyncio.TaskGroup() as group:
        for room in rooms:
            group.create_task(one(room))
