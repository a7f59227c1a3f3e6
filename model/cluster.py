"""Engines on a modelled NATS: the engine's real code, from its gRPC methods down, in nodes that may die.

cluster = Cluster(seed, Plan(engines=2, partitions=(7,)), games={"ladder": LADDER})
cluster.start()
cluster.loop.run(until=2.0)
cluster.kill("engine-1")
cluster.start_engine("engine-1")       # the same name, another process
...
cluster.close()
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from model.bus import SimBus
from model.loop import Node, SimLoop
from model.nats import SimNats
from model.store import Stored
from services.engine.app import RETRY
from services.engine.board import Lease
from services.engine.deal_worker import Kind, make
from services.engine.dealers import Dealers
from services.engine.dealing import Deals
from services.engine.hall import Hall
from services.engine.metrics import EngineMetrics
from services.engine.owner import Owner
from services.engine.service import EngineService
from services.engine.stream import SLOT_ID, Asker, StreamAway
from services.engine.table import AnyGame
from wire import subjects
from wire.places import CODE_ALPHABET, partition_of

NAME_TAKEN = "another process has this engine's name"
NATS_AWAY = "the log takes no record"
"""Said of NATS, and rightly."""


@dataclass(frozen=True)
class Plan:
    """A world.  `drift`: how much faster or slower a clock may run, as a part of 1."""

    engines: int = 2
    partitions: Sequence[int] = (7,)
    replicated: bool = False
    drift: float = 0.02


class InlineDealers(Dealers):
    """Deals made at once, told after a while: the time that a worker takes."""

    def __init__(self, games: Mapping[str, AnyGame], loop: SimLoop) -> None:
        super().__init__(games, 1)
        self._model_games, self._loop = games, loop
        self.ready = True

    async def start(self) -> None:
        """There is no worker."""

    async def stop(self) -> None:
        """Nor is there one to end."""

    async def make(self, kind: Kind, count: int) -> list[bytes]:
        dice = self._loop.dice
        seeds = [dice.getrandbits(32) for _ in range(count)]
        await asyncio.sleep(0.02 + 0.2 * dice.random())
        return [make(self._model_games[kind.game], kind, seed) for seed in seeds]


class EngineNode:
    """One engine process, from its start to its end.  `hall` and `service` are what gRPC would serve."""

    def __init__(self, cluster: Cluster, name: str, addr: str, boot: str, node: Node) -> None:
        self.cluster, self.name, self.addr, self.boot, self.node = cluster, name, addr, boot, node
        self.bus = SimBus(cluster.nats, node, name, self._on_disconnect)
        self.asker = Asker(self.bus)
        metrics = EngineMetrics()
        lease = Lease(0, addr, "model", boot)
        dealers = InlineDealers(cluster.games, cluster.loop)
        deals = Deals(cluster.games, 1, lambda seconds, ready: None, dealers)
        self.hall = Hall(
            self.bus, self.asker, cluster.games, deals, metrics, name, lease, partitions=cluster.plan.partitions
        )
        self.service = EngineService(self.hall, metrics)
        self.serving = False
        """Its door is open: calls and streams are taken."""
        self.stopping = self.ended = False
        """It was told to stop; it has stopped."""
        self.on_gone: list[Callable[[], None]] = []
        """Told when the process is gone: its connections break now."""
        node.on_kill.append(self._gone)

    @property
    def alive(self) -> bool:
        return not self.node.dead

    def owners(self) -> list[Owner]:
        """Its partitions, open ones and others."""
        return list(self.hall._owners.values())

    async def run(self) -> None:
        """As `services.engine.app.Engine.start` does."""
        await self.bus.connected()
        await self.asker.start()
        self.serving = True
        self.bus.reconnect_listeners += [self.hall.beacons.all_due, self.hall.keeper.news_missed]
        while True:
            try:
                await self.hall.start()
                return
            except StreamAway:
                await asyncio.sleep(RETRY)

    async def stop(self) -> None:
        """SIGTERM: as `services.engine.app.Engine.stop` does."""
        if self.stopping:
            return
        self.stopping = True
        await self.hall.stop()
        self.serving = False
        self._gone()
        await self.asker.stop()
        await self.bus.close()
        self.ended = True
        self.node.soon(self.node.kill)

    def _on_disconnect(self) -> None:
        self.asker.lost()

    def _gone(self) -> None:
        self.serving = False
        told, self.on_gone = self.on_gone, []
        for tell in told:
            tell()


class Cluster:
    """`engines`: the newest process of each name.  `faults`: what engines said of themselves that no engine may say."""

    def __init__(self, seed: int, plan: Plan, games: Mapping[str, AnyGame]) -> None:
        self.plan, self.games = plan, games
        self.loop = SimLoop(seed)
        self.dice = self.loop.dice
        self.nats = SimNats(self.loop, plan.replicated)
        self.engines: dict[str, EngineNode] = {}
        self.ever: list[EngineNode] = []
        """Every engine process there was."""
        self.faults: list[str] = []
        self.resigned: list[str] = []
        """Processes that found another one with their name, and serve no more."""
        self._before = structlog.get_config()
        structlog.configure(
            processors=[self._hear],
            wrapper_class=structlog.make_filtering_bound_logger(40),
            logger_factory=structlog.ReturnLoggerFactory(),
            cache_logger_on_first_use=False,
        )

    def start(self) -> None:
        """All engines, at about the same time."""
        for number in range(self.plan.engines):
            self.start_engine(f"engine-{number + 1}")

    def close(self) -> None:
        """The world ends; call it always."""
        structlog.configure(**self._before)
        self.loop.close()

    def new_node(self, name: str) -> Node:
        """A process with a clock of its own."""
        drift = 1.0 + self.plan.drift * (2 * self.dice.random() - 1)
        return self.loop.node(name, drift, 1000.0 * (1 + self.dice.random()))

    # ---- engines ----

    def start_engine(self, name: str, port: int = 1) -> EngineNode:
        """A new process of this name; one that is there goes on: a zombie, or a mistake of the operator."""
        boot = f"{len(self.ever):x}"
        engine = EngineNode(self, name, f"{name}:{port}", boot, self.new_node(f"{name}.{boot}"))
        self.engines[name] = engine
        self.ever.append(engine)
        engine.node.spawn(engine.run())
        return engine

    def kill(self, name: str) -> None:
        """SIGKILL."""
        self.engines[name].node.kill()

    def stall(self, name: str, seconds: float) -> None:
        """SIGSTOP and, later, SIGCONT."""
        self.engines[name].node.stall(seconds)

    def term(self, name: str) -> None:
        """SIGTERM: it hands over and ends; `start_engine` is for later."""
        engine = self.engines[name]
        if engine.alive and not engine.stopping:
            engine.node.spawn(engine.stop())

    def ambush(self, skip: int, moment: float, strike: Callable[[EngineNode], None]) -> None:
        """Strike the writer of a record of the log `moment` seconds after it is committed, `skip` records from now.

        The acknowledgement is on its way then: between the commit and what it allows lie the moments that matter.
        """
        left = skip

        def heard(message: Stored) -> None:
            nonlocal left
            if message.stream != subjects.LOG_STREAM:
                return
            left -= 1
            if left != -1:
                return
            self.loop.root.soon(self.nats.committed.remove, heard)
            boot = message.headers.get(SLOT_ID, "").rpartition(":")[2]
            writer = next((e for e in self.ever if e.boot == boot and e.alive), None)
            if writer is not None:
                self.loop.root.after(moment, strike, writer)

        self.nats.committed.append(heard)

    def at(self, addr: str) -> EngineNode | None:
        """Whoever listens at an address."""
        for engine in self.engines.values():
            if engine.addr == addr and engine.alive and engine.serving:
                return engine
        return None

    def alive(self) -> list[EngineNode]:
        """Engine processes that are not dead."""
        return [e for e in self.ever if e.alive]

    def _hear(self, _: Any, method: str, event: MutableMapping[str, Any]) -> str:
        text = f"{self.loop.running.name}: {event.get('event')} " + ", ".join(
            f"{key}={value!r}" for key, value in event.items() if key != "event"
        )
        if NATS_AWAY not in text:
            (self.resigned if NAME_TAKEN in text else self.faults).append(text)
        raise structlog.DropEvent


def room_in(partition: int, turn: int = 0) -> str:
    """A room code that hashes onto a partition; another `turn`, another code."""
    found = 0
    for number in range(1 << 20):
        code, rest = "", number
        for _ in range(5):
            code += CODE_ALPHABET[rest % len(CODE_ALPHABET)]
            rest //= len(CODE_ALPHABET)
        if partition_of(code) == partition:
            if found == turn:
                return code
            found += 1
    raise LookupError(partition)
