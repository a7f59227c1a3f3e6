"""The heartbeat: renew the own lease, count the silence of the others, ask those that are quiet."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from servicekit import logs
from servicekit.bus import Bus
from services.engine.board import Board, Lease
from services.engine.lease import RENEW, Silence
from services.engine.metrics import EngineMetrics
from services.engine.records import VERSION
from services.engine.stream import StreamAway
from wire import subjects
from wire.news import EngineSuspected

QUIET_AFTER = 0.4
LAPSE = 0.75
"""Seconds between renewals after which others may have taken this engine for dead."""
PROBES = 3
PROBE_PAUSE = 0.1
FIRST_PAUSE = 0.02
PROBE_TIMEOUT = 0.25
PROBE_TRIES = 6
REREAD = 5.0
TRIES = 10


class Keeper:
    """`beat` is called after every renewal, done or not; `name_taken` when another process renews this name."""

    def __init__(
        self,
        bus: Bus,
        board: Board,
        name: str,
        lease: Lease,
        metrics: EngineMetrics,
        beat: Callable[[], None],
        name_taken: Callable[[str], None],
    ) -> None:
        self._bus, self._board, self._name = bus, board, name
        self._lease = msgspec.structs.replace(lease, reads=VERSION)
        self._metrics, self._beat, self._name_taken = metrics, beat, name_taken
        self.silence = Silence()
        self.proved_at = 0.0
        self.set_changed_at = 0.0
        """When the set of living engines last changed."""
        self.lapsed_at = 0.0
        """When renewals last went on after a lapse: what was open before may be another's by now."""
        self._alive: set[str] = set()
        self._revision = 0
        self._reread_at = 0.0
        self._over = False
        self._leaving = False
        self._soon = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._alive_sub: Subscription | None = None
        self._suspicions: Subscription | None = None
        self._probing: set[str] = set()
        self._probes: set[asyncio.Task[None]] = set()
        self._log = logs.logger(__name__)

    def heard(self, engine: str, lease: Lease, revision: int) -> None:
        """News from the board."""
        if engine == self._name:
            if self._is_rival(lease) and revision > self._revision:
                self._resign(lease.addr)
            return
        if lease.gone:
            self.silence.gone(engine)
        else:
            self.silence.heard(engine, asyncio.get_running_loop().time())
        self._note_set()

    def news_missed(self) -> None:
        """NATS was away: read the board again with the next beat."""
        self._reread_at = 0.0

    def alive(self) -> set[str]:
        """Living peers, this engine not among them."""
        return self._alive

    def leave(self) -> None:
        """Tell the others at once that this engine takes nothing any more."""
        self._leaving = True
        self._soon.set()

    async def start(self) -> None:
        """Take the name and begin.  Raises StreamAway."""
        if self._alive_sub is None:
            self._alive_sub = await self._bus.subscribe(subjects.engine_alive(self._name), cb=self._answer)
        if self._suspicions is None:
            self._suspicions = await self._bus.subscribe(subjects.ENGINE_SUSPECTED, cb=self._suspect)
        _, self._revision = await self._board.lease(self._name)
        for _ in range(TRIES):
            await self._renew()
            if self.proved_at:
                break
        self._task = asyncio.create_task(self._run(), name="lease")

    async def stop(self) -> None:
        """Say that this engine ends."""
        running = [*self._probes, *([self._task] if self._task is not None else ())]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._revision and self._bus.is_connected and not self._over:
            await self._say_gone()
        for subscription in (self._alive_sub, self._suspicions):
            if subscription is not None and not self._bus.is_closed:
                await subscription.unsubscribe()

    async def _say_gone(self) -> None:
        """Once more when a renewal was under way: its revision is not known here."""
        gone = msgspec.structs.replace(self._lease, n=self._lease.n + 2, gone=True)
        if await self._board.renew(self._name, gone, self._revision) is not None:
            return
        with contextlib.suppress(StreamAway):
            found, self._revision = await self._board.lease(self._name)
            if found is None or found.boot == self._lease.boot:
                await self._board.renew(self._name, gone, self._revision)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        next_at = loop.time() + RENEW
        self._reread_at = loop.time() + REREAD
        while not self._over:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(next_at):
                    await self._soon.wait()
            self._soon.clear()
            next_at = max(next_at + RENEW, loop.time())
            try:
                await self._renew()
                if loop.time() >= self._reread_at:
                    self._reread_at = loop.time() + REREAD
                    await self._board.read_all()
                    await self._forget()
            except StreamAway as error:
                self._log.warning("the lease can't be renewed", error=str(error))
                self.silence.not_renewed()
            except Exception:
                self._log.exception("a fault in the heartbeat")
            self._note_set()
            for peer in sorted(self.silence.quiet(QUIET_AFTER)):
                self._begin_probe(peer)
            self._beat()

    async def _renew(self) -> None:
        if self._over:
            return
        loop = asyncio.get_running_loop()
        began = loop.time()
        lease = msgspec.structs.replace(self._lease, n=self._lease.n + 1, leaving=self._leaving)
        revision = await self._board.renew(self._name, lease, self._revision)
        self._metrics.lease_renewed(revision is not None)
        if revision is not None:
            if began - self.proved_at > LAPSE:
                self.lapsed_at = loop.time()
            self._lease, self._revision, self.proved_at = lease, revision, began
            self.silence.renewed(loop.time())
            return
        self.silence.not_renewed()
        found, self._revision = await self._board.lease(self._name)
        if found is not None and self._is_rival(found):
            self._resign(found.addr)

    def _resign(self, addr: str) -> None:
        """Never renew again: that would take the name back."""
        if not self._over:
            self._over = True
            self._name_taken(addr)

    def _is_rival(self, lease: Lease) -> bool:
        """Another process renews this name, after this one had it: the newer one goes on."""
        return self.proved_at > 0 and lease.boot != self._lease.boot and not lease.gone

    async def _forget(self) -> None:
        """Of engines that are long gone nothing is kept: their names need not come back."""
        for peer in sorted(self.silence.long_gone()):
            if await self._board.forget(peer):
                self.silence.forget(peer)
                self._log.info("an engine is forgotten", engine=peer)

    async def _suspect(self, message: Msg) -> None:
        """A caller's connection to an engine broke: ask at once rather than after some silence."""
        try:
            suspected = msgspec.json.decode(message.data, type=EngineSuspected)
        except msgspec.DecodeError:
            return
        for peer, (lease, _) in list(self._board.leases.items()):
            if lease.addr == suspected.addr and peer in self._alive:
                self._begin_probe(peer)

    def _begin_probe(self, peer: str) -> None:
        if peer not in self._probing:
            self._probing.add(peer)
            task = asyncio.create_task(self._probe(peer), name=f"probe:{peer}")
            self._probes.add(task)
            task.add_done_callback(self._probes.discard)

    async def _probe(self, peer: str) -> None:
        """Nobody listening, three times on end, and no word of it meanwhile: dead.  A time-out tells nothing.

        The first question waits a moment: of a process that was killed, a caller may hear
        sooner than NATS does.
        """
        loop = asyncio.get_running_loop()
        missed, since = 0, loop.time()
        try:
            for turn in range(PROBE_TRIES):
                await asyncio.sleep(PROBE_PAUSE if turn else FIRST_PAUSE)
                if missed and not self.silence.silent_since(peer, since):
                    missed = 0
                since = since if missed else loop.time()
                try:
                    await self._bus.request(subjects.engine_alive(peer), b"", timeout=PROBE_TIMEOUT)
                    return
                except nats.errors.NoRespondersError:
                    missed += 1
                except nats.errors.TimeoutError:
                    missed = 0
                except (nats.errors.Error, TimeoutError, OSError):
                    return
                if missed == PROBES and self.silence.silent_since(peer, since):
                    self._log.warning("an engine is gone", engine=peer)
                    self.silence.gone(peer)
                    self._note_set()
                    self._beat()
                    return
        finally:
            self._probing.discard(peer)

    async def _answer(self, message: Msg) -> None:
        await message.respond(b"")

    def _note_set(self) -> None:
        alive = self.silence.alive()
        if alive != self._alive:
            self._alive, self.set_changed_at = alive, asyncio.get_running_loop().time()
