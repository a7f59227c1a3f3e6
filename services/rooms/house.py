"""What the deployment can take besides: as it is set, and as engines and bots' workers say of themselves.

A room that is hosted has a place at a table: it is new rooms that are refused, never those that
are there, however few engines are left.  What isn't known refuses nobody: before anything was
heard, or with all of them silent, others say what is wrong.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import TypeVar

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from servicekit import logs
from services.rooms.metrics import RoomsMetrics
from wire import subjects
from wire.news import EngineLoad, WorkerBeat
from wire.places import PARTITIONS, new_code, partition_of

SILENT = 3.0
"""Seconds after which what somebody said of themselves is worth nothing."""
PROMISED = 2.0
"""Seconds until a seat that was promised to a table shows in what workers say."""
CODES = 16
"""Codes that are thrown to find one whose engine has room."""

H = TypeVar("H", EngineLoad, WorkerBeat)
OwnerOf = Callable[[int], str | None]
"""The engine that has a partition, as far as is known."""


class House:
    """`most`: rooms at once, as set; 0: as many as engines take."""

    def __init__(self, most: int, owner_of: OwnerOf, metrics: RoomsMetrics) -> None:
        self._most, self._owner_of = most, owner_of
        metrics.watch_capacity(self.most)
        self._engines: dict[str, tuple[float, EngineLoad]] = {}
        self._workers: dict[str, tuple[float, WorkerBeat]] = {}
        self._promised: dict[str, tuple[float, int]] = {}
        """By room: until when, and how many seats."""
        self._subs: list[Subscription] = []
        self._log = logs.logger(__name__)

    async def start(self, nc: Client) -> None:
        self._subs = [
            await nc.subscribe(subjects.ENGINE_LOAD, cb=self._hear_engine),
            await nc.subscribe(subjects.BOTS_BEAT, cb=self._hear_worker),
        ]

    async def stop(self, nc: Client | None) -> None:
        subs, self._subs = self._subs, []
        for sub in subs:
            if nc is not None and not nc.is_closed:
                await sub.unsubscribe()

    # ---- rooms ----

    def most(self) -> float:
        """Rooms that there may be at once; infinite: nobody knows a bound."""
        engines = self._taking()
        known = engines and not self._unheard()
        told = sum(min(e.tables, e.most) if e.strained else e.most for e in engines.values()) if known else math.inf
        return min(self._most or math.inf, told)

    def _taking(self) -> dict[str, EngineLoad]:
        return {name: load for name, load in _heard(self._engines).items() if not load.gone}

    def _unheard(self) -> bool:
        """Somebody serves tables and says nothing of how many: one of a release before, while this one goes round."""
        owners = {self._owner_of(partition) for partition in range(PARTITIONS)}
        return not owners <= {None, *_heard(self._engines)}

    def code(self) -> str:
        """One for a new room, by preference at an engine that has room."""
        engines = self._taking()
        code = new_code()
        for _ in range(CODES):
            owner = engines.get(self._owner_of(partition_of(code)) or "")
            if owner is None or not (owner.strained or owner.tables >= owner.most):
                break
            code = new_code()
        return code

    # ---- bots ----

    def drives(self, room: str, bots: int) -> bool:
        """Whether workers have seats free for so many of this room's, those promised to others just now apart."""
        workers = _heard(self._workers).values()
        free = [w.free for w in workers if w.free is not None]
        if len(free) < len(workers) or not free or not bots:  # a worker that doesn't say may have seats
            return True
        return sum(free) - sum(n for code, (_, n) in self._standing().items() if code != room) >= bots

    def promise(self, room: str, bots: int) -> None:
        """Its table, with so many, is about to open: these seats are nobody else's."""
        if bots:
            self._promised = self._standing() | {room: (_now() + PROMISED, bots)}

    def _standing(self) -> dict[str, tuple[float, int]]:
        now = _now()
        return {code: (until, n) for code, (until, n) in self._promised.items() if until > now}

    # ---- heard ----

    async def _hear_engine(self, message: Msg) -> None:
        try:
            load = msgspec.json.decode(message.data, type=EngineLoad)
        except msgspec.MsgspecError as error:
            self._log.error("an engine's load that can't be understood", why=str(error))
            return
        self._engines[load.engine] = (_now(), load)  # gone, too: what it still serves is known to go elsewhere

    async def _hear_worker(self, message: Msg) -> None:
        try:
            beat = msgspec.json.decode(message.data, type=WorkerBeat)
        except msgspec.MsgspecError as error:
            self._log.error("a worker's beat that can't be understood", why=str(error))
            return
        if beat.gone:
            self._workers.pop(beat.worker, None)
        else:
            self._workers[beat.worker] = (_now(), beat)


def _heard(said: dict[str, tuple[float, H]]) -> dict[str, H]:
    """Of whom something was heard just now; the others are forgotten."""
    now = _now()
    for name in [name for name, (at, _) in said.items() if now - at >= SILENT]:
        del said[name]
    return {name: what for name, (_, what) in said.items()}


def _now() -> float:
    return asyncio.get_running_loop().time()
