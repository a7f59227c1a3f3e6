"""A load run from its first player to its verdict: ramp, hold, drain, compare."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simulate import load_deals, load_log
from simulate.load_delays import NOTHING, merged, told
from simulate.load_live import View
from simulate.load_machine import durability, hardware, topology, versions
from simulate.load_orders import Compare, Drained, Final, Hold, Order, Ready, Stop
from simulate.load_processes import Process, every, share
from simulate.load_record import (
    VERSION,
    Asked,
    Bytes,
    Checks,
    Contested,
    Delay,
    Event,
    Generator,
    Phase,
    Rate,
    Result,
    Sample,
)
from simulate.load_samples import SUPERVISOR, Meter, Use, machine, over, seconds
from simulate.load_seconds import Seconds
from simulate.load_trouble import Trouble, befall
from simulate.load_verdict import missed, void_why, well
from simulate.vigil import Running, Stack

WARM = 3.0
"""Seconds of play at the full rate before the hold."""
DRAIN_WITHIN = 30.0
MOST_FAILED = 0.02
"""Of the rooms, how many may not come to a hand; the run goes on without them, and says so."""
KEPT = 20


@dataclass(frozen=True)
class Wish:
    """What a run was asked for, beyond what its record says."""

    asked: Asked
    ramp_within: float = 600.0
    """Seconds after which a ramp is given up."""
    ping: float = 5.0
    abreast: int = 8
    """Rooms that a generator opens at once."""
    read_log: bool = True
    troubles: tuple[Trouble, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)


class NotRamped(Exception):
    """The players could not come in, in words."""


class Run:
    """`play` it; `view` is told of every second and event."""

    def __init__(self, wish: Wish, stack: Stack, running: Running, view: View) -> None:
        self._wish, self._stack, self._running, self._view = wish, stack, running, view
        self._meter = Meter(stack, running) if stack.get("parts") else None
        self._processes: list[Process] = []
        self._seconds = Seconds()
        self._phase: Phase = "ramp"
        self._hold = Hold(0.0, 0.0, 1.0, 0.0, 0.0)
        self._start = 0.0
        """When the hold begins, monotonic; until it is known, when the run began."""
        self.samples: list[Sample] = []
        self.events: list[Event] = []
        self._marked: list[tuple[float, str, str]] = []

    async def play(self) -> Result:
        """Raises NotRamped, load_processes.Failed."""
        began, self._start = datetime.now(UTC), time.monotonic()
        idle = await self._look()
        sampling = asyncio.create_task(self._sample())
        try:
            await self._ramp()
            before, after = await self._holding()
            self._mark("phase", "drain: nobody moves any more")
            self._phase = "drain"
            self._say(Stop(DRAIN_WITHIN))
            drained = [d for d in await every(self._processes, "drained") if isinstance(d, Drained)]
            self._mark("phase", "check: pages are opened once more")
            self._phase = "check"
            self._say(Compare())
            finals = [f for f in await every(self._processes, "final") if isinstance(f, Final)]
        finally:
            sampling.cancel()
            await asyncio.gather(sampling, return_exceptions=True)
            self._show(every=True)
            await asyncio.gather(*(process.end() for process in self._processes))
        judged = await self._judge(finals)
        deals = await load_deals.waits(self._stack.get("parts", ()))
        unanswered = sum(d.unanswered for d in drained)
        result = self._result(began, finals, judged, unanswered, idle, before, after)
        result.deals = deals
        return result

    # ---- phases ----

    async def _ramp(self) -> None:
        asked, wish = self._wish.asked, self._wish
        self._mark("phase", "ramp: players come in")
        rooms = max(1, asked.players // asked.seats)
        processes = min(asked.processes, rooms)
        for index in range(processes):
            first, mine = share(rooms, processes, index)
            order = Order(
                url=self._stack["url"],
                tv_url=self._stack.get("watch_url") or "",
                index=index,
                first_room=first,
                rooms=mine,
                seats=asked.seats,
                rate=asked.rate,
                ramp=asked.ramp,
                tvs=share(asked.tvs, processes, index)[1],
                reconnects=asked.reconnects,
                sleepers=asked.sleepers,
                slow=asked.slow,
                ping=wish.ping,
                seed=asked.seed,
                abreast=wish.abreast,
            )
            self._processes.append(Process(order, self._seconds.hear))
        self._seconds.generators = processes
        await asyncio.gather(*(process.start() for process in self._processes))
        try:
            async with asyncio.timeout(wish.ramp_within):
                ready = [r for r in await every(self._processes, "ready") if isinstance(r, Ready)]
        except TimeoutError:
            raise NotRamped(f"not all rooms were dealt within {wish.ramp_within:.0f} s") from None
        failed = sum(r.failed for r in ready)
        if failed > MOST_FAILED * rooms:
            why = next(r.why for r in ready if r.why)
            raise NotRamped(f"{failed} of {rooms} rooms could not be opened: {why}")
        for r in ready:
            if r.failed:
                self._mark("note", f"{r.failed} rooms could not be opened: {r.why}")

    async def _holding(self) -> tuple[dict[str, Use], dict[str, Use]]:
        """What every part had used at its beginning and at its end."""
        asked = self._wish.asked
        start = time.monotonic() + WARM
        end, long = start + asked.duration, asked.duration
        spike_from, spike_to = start + 0.45 * long, start + 0.55 * long
        for sample in self.samples:  # those of the ramp said how long it ran
            sample.at = round(sample.at + self._start - start, 1)
        self._start = start
        self._hold = Hold(start, end, asked.spike, spike_from, spike_to)
        self._say(self._hold)
        await _until(start)
        self._phase = "hold"
        self._mark("phase", "hold: what is measured")
        before = await self._look()
        if asked.spike != 1:
            self._marked += [
                (spike_from, "spike", f"{asked.spike:g} times the rate"),
                (spike_to, "spike", "the rate as before"),
            ]
        befalling = asyncio.create_task(befall(self._wish.troubles, start, self._state, self._mark))
        await _until(end)
        befalling.cancel()
        await asyncio.gather(befalling, return_exceptions=True)
        return before, await self._look()

    def _state(self) -> Stack | None:
        return self._running(Path(self._stack["data"])) if self._stack.get("data") else None

    def _say(self, message: Any) -> None:
        for process in self._processes:
            process.say(message)

    def _mark(self, kind: str, words: str) -> None:
        at = time.monotonic()
        self._marked.append((at, kind, words))
        self._view.tell(Event(round(at - self._start, 2), kind, words))

    # ---- seconds ----

    async def _look(self) -> dict[str, Use]:
        return {} if self._meter is None else await asyncio.to_thread(self._meter.look)

    async def _sample(self) -> None:
        """Half a second after a second is over, when generators have told of theirs."""
        uses, at, busy = await self._look(), time.monotonic(), machine()
        while True:
            # A timer may fire a little too soon.
            await asyncio.sleep(round(at - 0.5) + 1.5 - time.monotonic())
            was, at, before, busy = at, time.monotonic(), busy, machine()
            used = await self._look()
            services = seconds(uses, used, at - was) if used else {}
            self._seconds.look(round(at - 0.5), self._phase, services, round((busy - before) / (at - was), 3))
            uses = used
            if self._meter is not None:
                for change in self._meter.events:
                    self._mark("part", f"{change.part} {change.what}")
                self._meter.events.clear()
            self._show()

    def _show(self, *, every: bool = False) -> None:
        for sample in self._seconds.take(every=every):
            sample.at = round(sample.at - self._start, 1)
            self.samples.append(sample)
            self._view.show(sample)

    # ---- the end ----

    async def _judge(self, finals: list[Final]) -> load_log.Judged:
        url = self._stack.get("nats_url")
        if not self._wish.read_log or not url:
            why = "not asked for" if url else f"it is not known where {self._stack['url']} has its log"
            return load_log.Judged(how=f"not read: {why}")
        return await load_log.judge(url, [room for final in finals for room in final.rooms])

    def _result(
        self,
        began: datetime,
        finals: list[Final],
        judged: load_log.Judged,
        unanswered: int,
        idle: dict[str, Use],
        before: dict[str, Use],
        after: dict[str, Use],
    ) -> Result:
        asked = self._wish.asked
        long = asked.duration
        moves = sum(f.hold_moves for f in finals)
        players = sum(f.players for f in finals)
        services = over(before, after, long, moves, idle, players)
        delays = {name: told(merged(f.delays[name] for f in finals)) for name in finals[0].delays}
        own: Delay = delays.get("own", NOTHING)
        rate = Rate(
            target=round(players * asked.rate * (0.9 + 0.1 * asked.spike), 1),
            due=round(sum(f.hold_due for f in finals) / long, 1),
            achieved=round(moves / long, 1),
            moves=moves,
            idle=sum(f.hold_idle for f in finals),
        )
        generators = [_generator(f, long) for f in finals]
        compared: Counter[str] = Counter(judged.hashes)
        for f in finals:
            compared.update(f.compared)
        compared["unequal"] += 0
        lost = judged.lost + sum(f.lost for f in finals)
        doubled = judged.doubled + sum(f.doubled for f in finals)
        why = void_why(generators, rate)
        result = Result(
            cpu_us_per_move=round(sum(s.cpu_us_per_move for name, s in services.items() if name != SUPERVISOR), 1),
            p50_ms=own.p50_ms,
            p99_ms=own.p99_ms,
            lost=lost,
            doubled=doubled,
            void=bool(why),
            void_why=why,
            missed=[],
            ok=False,
            version=VERSION,
            began=began.isoformat(timespec="seconds"),
            asked=asked,
            versions=versions(),
            hardware=hardware(),
            topology=topology(self._stack),
            durability=durability(self._stack),
            settings=self._wish.settings,
            rate=rate,
            delays=delays,
            contested=Contested(sum(f.won for f in finals), sum(f.snatched for f in finals)),
            refusals=_sum(f.refusals for f in finals),
            errors=_sum(f.errors for f in finals),
            closes=_sum(f.closes for f in finals),
            hands=_sum(f.hands for f in finals),
            checks=Checks(
                moves=sum(f.moves for f in finals),
                answered=sum(f.answered for f in finals),
                unanswered=unanswered,
                lost=lost,
                doubled=doubled,
                gaps=sum(f.gaps for f in finals),
                word_for_word=judged.word_for_word,
                by_snapshot=judged.by_snapshot,
                hashes=dict(compared),
                log=judged.how,
                told=[words for f in finals for words in f.told][:KEPT] + judged.told[:KEPT],
            ),
            bytes=Bytes(
                round(sum(f.hold_sent for f in finals) / max(1, moves), 1),
                round(sum(f.hold_received for f in finals) / max(1, moves), 1),
                round(sum(f.hold_received for f in finals) / max(1, players) / long, 1),
            ),
            services=services,
            generators=generators,
            samples=self.samples,
            events=[Event(round(at - self._start, 2), kind, words) for at, kind, words in sorted(self._marked)],
        )
        result.missed = missed(result, asked.levels)
        result.ok = well(result)
        return result


def _generator(final: Final, long: float) -> Generator:
    lag = told(merged([final.lag]))
    per_move = final.cpu * 1e6 / max(1, final.hold_moves)
    return Generator(final.players, round(final.cpu / long, 3), round(per_move, 1), lag.p50_ms, lag.p99_ms, lag.max_ms)


def _sum(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for count in counts:
        found.update(count)
    return dict(found.most_common())


async def _until(at: float) -> None:
    await asyncio.sleep(max(0.0, at - time.monotonic()))
