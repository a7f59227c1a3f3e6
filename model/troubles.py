"""What befalls a world: one method for each kind of fault in `schedule.KINDS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.bus import SimBus
from model.cluster import EngineNode
from model.gateway import Gateway
from model.phone import UNNOTICED, Player
from model.schedule import Fault
from wire.news import Entry

if TYPE_CHECKING:
    from model.world import World


class Troubles:
    """`befall` does what a fault says to whoever is there then."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.cluster, self.nats, self.network = world.cluster, world.nats, world.network
        self.loop, self.dice, self.plan = world.loop, world.dice, world.plan
        self.observer, self.truth = world.observer, world.truth
        self.gateways, self.players = world.gateways, world.players
        self._more_engines = 0
        self._ending: set[str] = set()

    def befall(self, fault: Fault) -> None:
        self.observer.tell(str(fault))
        self.truth.count(fault.kind)
        getattr(self, "_" + fault.kind.replace(" ", "_").lower())(fault)

    def _engine(self, fault: Fault) -> EngineNode | None:
        alive = [e for e in self.cluster.engines.values() if not e.node.dead and e.name not in self._ending]
        if not alive:
            return None
        # Whoever holds something is worth more than whoever holds nothing.
        holding = [e for e in alive if e.hall.owners()]
        chosen = holding if holding and fault.more < 0.75 else alive
        return chosen[fault.who % len(chosen)]

    def _back(self, name: str, after: float) -> None:
        self.loop.root.after(after, self._start_again, name)

    def _start_again(self, name: str) -> None:
        there = self.cluster.engines[name]
        # A resigned namesake serves no more: whoever watches over the one that died starts it again all the same.
        if there.node.dead or there.ended or there.hall.resigned:
            self._ending.discard(name)
            self.world.start_engine(name)
        else:
            self._back(name, 0.3)  # It takes its time to end.

    def _engine_killed(self, fault: Fault) -> None:
        engine = self._engine(fault)
        if engine is not None:
            engine.node.kill()
            if fault.more < 0.7:
                self._back(engine.name, fault.size)

    def _engine_stalled(self, fault: Fault) -> None:
        engine = self._engine(fault)
        if engine is not None:
            engine.node.stall(fault.size)

    def _writer_killed_at_its_record(self, fault: Fault) -> None:
        def strike(engine: EngineNode) -> None:
            self.observer.tell(f"{engine.node.name} is killed")
            engine.node.kill()
            self._back(engine.name, fault.size)

        self.cluster.ambush(fault.who % 4, self._moment(fault), strike)

    def _writer_stopped_at_its_record(self, fault: Fault) -> None:
        def strike(engine: EngineNode) -> None:
            self.observer.tell(f"{engine.node.name} is stopped")
            engine.node.stall(fault.size)

        self.cluster.ambush(fault.who % 4, self._moment(fault), strike)

    def _writer_wakes_as_it_is_replaced(self, fault: Fault) -> None:
        """Stopped with an append half sent; the rest goes out as another has just taken its placement."""
        observer, left = self.observer, fault.who % 4

        def appends(bus: SimBus) -> None:
            nonlocal left
            left -= 1
            if left != -1:
                return
            observer.on_append.remove(appends)
            engine = next((e for e in self.cluster.ever if e.bus is bus), None)
            if engine is not None:
                self.loop.root.soon(stop, engine)

        def stop(engine: EngineNode) -> None:
            observer.tell(f"{engine.node.name} is stopped in its append")
            engine.node.stall(4.0)

            def placed(entry: Entry) -> None:
                if entry.state == "opening" and entry.owner != engine.name:
                    observer.on_placed.remove(placed)
                    self.loop.root.soon(engine.node.resume)

            observer.on_placed.append(placed)

        observer.on_append.append(appends)

    @staticmethod
    def _moment(fault: Fault) -> float:
        """Seconds from a record's commit to the blow: before the writer knows, as it tells, or a little later."""
        return (0.0, 0.0004, 0.001, 0.003)[int(fault.more * 4)]

    def _engine_told_to_end(self, fault: Fault) -> None:
        engine = self._engine(fault)
        if engine is not None:
            self.cluster.term(engine.name)
            self._ending.add(engine.name)
            self._back(engine.name, 0.2 + fault.size)

    def _engine_doubled(self, fault: Fault) -> None:
        engine = self._engine(fault)
        if engine is not None:
            engine.node.stall(fault.size)
            self.world.start_engine(engine.name)

    def _engine_joins(self, fault: Fault) -> None:
        self._more_engines += 1
        if self._more_engines < 3:
            self.world.start_engine(f"engine-{self.plan.engines + self._more_engines}")

    def _engine_cut_off_nats(self, fault: Fault) -> None:
        engine = self._engine(fault)
        if engine is not None:
            self.nats.cut(engine.bus, fault.size if fault.more < 0.5 else 0.0)

    def _engine_slow_to_nats(self, fault: Fault) -> None:
        engine = self._engine(fault)
        if engine is not None:
            self.nats.slow(engine.bus, 0.7 * fault.more, fault.size)

    def _engine_deaf_to_placement(self, fault: Fault) -> None:
        engine = self._engine(fault)
        if engine is not None:
            self.nats.deafen(engine.bus, "own.", fault.size)

    def _streams_cut(self, fault: Fault) -> None:
        engine = self._engine(fault)
        if engine is not None:
            self.network.cut(engine.addr)

    def _gateway_killed(self, fault: Fault) -> None:
        gateway = self.gateways[fault.who % len(self.gateways)]
        if not gateway.node.dead:
            gateway.kill()
            self.loop.root.after(fault.size / 2, self._gateway_again, gateway)

    def _gateway_told_to_end(self, fault: Fault) -> None:
        gateway = self.gateways[fault.who % len(self.gateways)]
        if gateway.up:
            gateway.term()
            self.loop.root.after(fault.size / 2, self._gateway_again, gateway)

    def _gateway_again(self, gateway: Gateway) -> None:
        if gateway in self.gateways:
            self.world.start_gateway(gateway.name)

    def _gateway_stalled(self, fault: Fault) -> None:
        self.gateways[fault.who % len(self.gateways)].node.stall(fault.size)

    def _gateway_cut_off_nats(self, fault: Fault) -> None:
        bus = self.gateways[fault.who % len(self.gateways)].bus
        if bus is not None:
            self.nats.cut(bus, fault.size if fault.more < 0.5 else 0.0)

    def _gateway_deaf(self, fault: Fault) -> None:
        bus = self.gateways[fault.who % len(self.gateways)].bus
        if bus is not None:
            self.nats.deafen(bus, "f." if fault.more < 0.6 else "own.", fault.size)

    def _nats_killed(self, fault: Fault) -> None:
        self.nats.kill_server(fault.who % len(self.nats.servers), fault.size)

    def _nats_stopped(self, fault: Fault) -> None:
        self.nats.freeze_server(fault.who % len(self.nats.servers), fault.size)

    def _quorum_lost(self, fault: Fault) -> None:
        self.nats.lose_quorum(fault.size)

    def _leaders_lost(self, fault: Fault) -> None:
        self.nats.lose_leaders()

    def _placement_wiped(self, fault: Fault) -> None:
        self.nats.wipe_placement()

    def _phone_drops(self, fault: Fault) -> None:
        if self.players:
            player = self.players[fault.who % len(self.players)]
            player.tab.drop(fault.size / 3, self.dice.uniform(*UNNOTICED))

    def _new_tab(self, fault: Fault) -> None:
        if self.players:
            player = self.players[fault.who % len(self.players)]
            if fault.more < 0.3:
                player.tab.drop(None, self.dice.uniform(*UNNOTICED))
            player.new_tab()

    def _old_tab_returns(self, fault: Fault) -> None:
        """A page whose network was gone while another had the seat."""
        if self.players:
            player = self.players[fault.who % len(self.players)]
            player.tab.drop(None, self.dice.uniform(*UNNOTICED))
            player.new_tab()
            self.loop.root.after(fault.size / 2, self._returns, player)

    def _returns(self, player: Player) -> None:
        newest = player.tabs.pop()
        player.tabs.insert(0, newest)
        player.tab.connect()

    def deafen(self) -> None:
        for gateway in self.gateways:
            if gateway.bus is not None:
                self.nats.deafen(gateway.bus, "f.", 0.3)
