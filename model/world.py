"""A world: engines, gateways and phones on a modelled network, its faults, and the observer who knows all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from generated.snatch.engine.v1 import engine_pb2 as pb
from model.cluster import Cluster, EngineNode, Plan
from model.game import LADDER
from model.gateway import Gateway
from model.invariants import Broken, Observer
from model.links import SimNetwork
from model.loop import Endless
from model.phone import Player
from model.planted import planted
from model.prelude import lay_log, player_names, room_of
from model.schedule import BEGIN, Schedule, schedule
from model.troubles import Troubles
from model.truth import GAMES
from model.weather import ROUGH, Weather
from services.engine import hall, ledger, table_clock

PARTITIONS = (7, 21)
WELL = "all is well once faults stop"
LOOKS = 0.2
SETTLED_WITHIN = 15.0
"""Virtual seconds after the last fault in which everything must be well again."""


@dataclass
class Result:
    """What came of a seed.  `broken` None: nothing."""

    seed: int
    broken: Broken | None
    counts: dict[str, int]
    trace: str
    lasted: float
    steps: int
    story: list[str] = field(default_factory=list)


@contextlib.contextmanager
def scaled() -> Iterator[None]:
    """Snapshots, hand-overs and countdowns come soon enough for a life of some seconds."""
    small: list[tuple[Any, str, Any]] = [
        (ledger, "SNAPSHOT_RECORDS", 10),
        (ledger, "SNAPSHOT_MS", 700),
        (hall, "STABLE", 0.6),
        (table_clock, "COUNTDOWN_MS", 100),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in small]
    for module, name, value in small:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


class World:
    """Made from a seed; `run` lives it."""

    def __init__(self, seed: int, tell: Callable[[str], None] | None = None) -> None:
        self.seed = seed
        self.plan: Schedule = schedule(seed)
        plan = self.plan
        self.partitions = PARTITIONS[: len(plan.rooms)]
        self.cluster = Cluster(
            seed, Plan(engines=plan.engines, partitions=self.partitions, replicated=plan.replicated), GAMES
        )
        self.loop, self.nats, self.dice = self.cluster.loop, self.cluster.nats, self.cluster.dice
        self.observer = Observer(self.loop, self.nats, self.cluster, tell)
        self.truth = self.observer.truth
        self.network = SimNetwork(self.loop, self.observer.answered)
        self.gateways: list[Gateway] = []
        self.players: list[Player] = []
        self.quiet = False
        self.troubles = Troubles(self)

    # ---- its life ----

    def live(self) -> None:
        """Raises Broken."""
        plan, root = self.plan, self.loop.root
        if plan.rough:
            self.nats.weather = Weather(
                hops=ROUGH.hops * plan.rough,
                appends=ROUGH.appends * plan.rough,
                busy=ROUGH.busy * plan.rough,
                reads=ROUGH.reads * plan.rough,
                frames=ROUGH.frames * plan.rough,
            )
        for number in range(plan.gateways):
            self.start_gateway(f"gateway-{number + 1}")
        for partition, players in zip(self.partitions, plan.rooms, strict=True):
            if plan.epoch:
                owner = self.dice.choice(("", "engine-1", "engine-9"))
                lay_log(self.nats, self.truth, partition, players, plan.epoch, plan.bell, owner)
                self.people(room_of(partition), "t1", players)
            else:
                self.open(room_of(partition), "t1", players)
        for number in range(plan.engines):
            root.after(0.05 * self.dice.random(), self.start_engine, f"engine-{number + 1}")
        if plan.late_room is not None:
            root.at(plan.late_room, self.open, room_of(self.partitions[0], 1), "t2", 1)
        if plan.brief_room is not None:
            root.at(plan.brief_room, self.open_and_close, room_of(self.partitions[0], 2), "t3")
        for fault in plan.faults:
            root.at(fault.at, self.troubles.befall, fault)
        if plan.deaf_at_end:
            root.at(plan.quiet_at - 0.3, self.troubles.deafen)
        self.loop.run(plan.quiet_at)
        self.calm()
        self._settle()

    def calm(self) -> None:
        """No more faults, no more moves; whoever was killed is there again."""
        self.quiet = True
        self.observer.tell("quiet from now on")
        self.nats.calm()
        self.network.slow = 1.0
        if not any(not e.node.dead for e in self.cluster.engines.values()):
            self.start_engine("engine-1")
        for gateway in list(self.gateways):
            if gateway.node.dead or not gateway.up:
                self.start_gateway(gateway.name)
        for player in self.players:
            if not player.tab.over and not player.tab.connected:
                player.node.after(0.1, player.tab.connect)

    def _settle(self) -> None:
        until = self.loop.now + SETTLED_WITHIN
        self.loop.run(self.loop.now + LOOKS)
        while True:
            self.loop.run(self.loop.now + LOOKS)
            missing = self.observer.unsettled(self.partitions, self.players)
            if not missing:
                break
            if self.loop.now >= until:
                raise Broken(WELL, "; ".join(missing), self.loop.now)
        self.observer.end(self.partitions)

    # ---- its people and processes ----

    def start_engine(self, name: str) -> EngineNode:
        port = 1
        while self.network.server(f"{name}:{port}") is not None:
            port += 1  # Taken: by a process of the same name that isn't gone yet.
        engine = self.cluster.start_engine(name, port)
        self.network.serve(engine.addr, engine.node, engine.service)
        engine.on_gone.append(lambda: self.network.gone(engine.addr, engine.node))
        self.observer.tell(f"{engine.node.name} starts")
        return engine

    def start_gateway(self, name: str) -> Gateway:
        self.gateways[:] = [g for g in self.gateways if g.name != name]
        drift = 1.0 + 0.02 * (2 * self.dice.random() - 1)
        gateway = Gateway(self.loop, self.nats, self.network, name, drift)
        self.gateways.append(gateway)
        return gateway

    def gateway(self) -> Gateway | None:
        """Any that is up."""
        up = [g for g in self.gateways if g.up]
        return self.dice.choice(up) if up else None

    def people(self, room: str, table: str, players: int) -> None:
        """Phones come to a table that is open."""
        for name in player_names(room, players):
            player = Player(self.loop, self.truth, self.observer.violate, name, room, table, self.gateway)
            self.players.append(player)
            self._think_later(player)

    def open(self, room: str, table: str, players: int) -> None:
        """A table is opened as rooms does; its people come when it is."""
        self._ask_gateway(
            lambda g: g.open_table(_opening(room, table, players), lambda: self.people(room, table, players))
        )

    def open_and_close(self, room: str, table: str) -> None:
        """A table is opened, and closed a moment later: what the log has of it may go as soon as its end is in."""
        request = pb.CloseRequest(room=room, table=table, why="expired")

        def close() -> None:
            self.loop.root.after(self.dice.uniform(0.0, 1.5), self._ask_gateway, lambda g: g.close_table(request))

        self._ask_gateway(lambda g: g.open_table(_opening(room, table, 1), close))

    def _ask_gateway(self, ask: Callable[[Gateway], None]) -> None:
        """As soon as one is up."""
        gateway = self.gateway()
        if gateway is None:
            self.loop.root.after(0.1, self._ask_gateway, ask)
        else:
            ask(gateway)

    def _think_later(self, player: Player) -> None:
        player.node.after(self.dice.expovariate(1 / self.plan.pace), self._think, player)

    def _think(self, player: Player) -> None:
        if not self.quiet:
            player.think()
            self._think_later(player)


def _opening(room: str, table: str, players: int) -> pb.OpenRequest:
    names = player_names(room, players)
    members = [pb.OpenMember(player=n, name=n, colour=i) for i, n in enumerate(names)]
    return pb.OpenRequest(room=room, table=table, game=LADDER, host=names[0], members=members)


def run(seed: int, plant: str = "", tell: Callable[[str], None] | None = None) -> Result:
    """Live a seed's world to its end, or to the first invariant that is broken."""
    with scaled(), planted(plant):
        world = World(seed, tell)
        broken = None
        try:
            with world.observer.watching():
                try:
                    if tell is not None:
                        tell(f"seed {seed}: {world.plan}")
                    world.live()
                except Broken as found:
                    broken = found
                except Endless as found:
                    broken = Broken(WELL, f"it never comes to rest: {found}", world.loop.now)
        finally:
            world.cluster.close()
    loop = world.loop
    return Result(seed, broken, world.truth.counts, loop.trace, loop.now, loop.steps)


__all__ = ["BEGIN", "Result", "World", "run"]
