"""Faults by chance: what may happen to engines and to NATS while people play.

    storm = Storm(cluster)
    storm.add(2.0, kill_a_gateway)                # more kinds, by their weight
    storm.begin(after=1.0, until=6.0)
    ...                                           # then, by itself: calm, and every engine is there again

`told` lists what happened when, to read beside a finding.
"""

from __future__ import annotations

from collections.abc import Callable

from model.bus import SimBus
from model.cluster import Cluster, EngineNode
from model.store import Stored
from model.weather import ROUGH, Weather

Strike = Callable[[], str]
"""Do it; what was done."""


class Storm:
    """`pause`: seconds between two faults, on average."""

    def __init__(self, cluster: Cluster, weather: Weather = ROUGH, pause: float = 0.6) -> None:
        self.cluster, self.weather, self.pause = cluster, weather, pause
        self.told: list[str] = []
        self.over = False
        self._dice, self._nats = cluster.dice, cluster.nats
        self._kinds: list[tuple[float, Strike]] = []
        self._ambush: Callable[[Stored], None] | None = None
        self._until = 0.0
        for weight, strike in (
            (3.0, self._kill),
            (3.0, self._stall),
            (2.0, self._hiccup),
            (1.5, self._term),
            (0.7, self._rival),
            (3.0, self._lie_in_wait),
            (1.5, self._cut),
            (1.0, self._slow),
            (1.0, self._deafen),
            (1.0, self._kill_server),
            (1.0, self._freeze_server),
            (0.3, self._wipe),
        ):
            self._kinds.append((weight, strike))
        if cluster.nats.replicated:
            self._kinds += [(1.5, self._lose_quorum), (1.5, self._lose_leaders)]
        cluster.nats.committed.append(self._on_commit)

    def add(self, weight: float, strike: Strike) -> None:
        """One more kind of fault."""
        self._kinds.append((weight, strike))

    def begin(self, after: float, until: float) -> None:
        """From `after` to `until`, true times."""
        self._until = until
        root = self.cluster.loop.root
        root.at(after, self._start)
        root.at(until, self._end)

    def _start(self) -> None:
        self._nats.weather = self.weather
        self._next()

    def _next(self) -> None:
        if self.over:
            return
        weights = [weight for weight, _ in self._kinds]
        strike = self._dice.choices(self._kinds, weights)[0][1]
        self._say(strike())
        self.cluster.loop.root.after(self._dice.expovariate(1 / self.pause), self._next)

    def _end(self) -> None:
        self.over, self._ambush = True, None
        self._nats.calm()
        for name in self.cluster.engines:
            self._revive(name)
        self._say("calm")

    def _say(self, text: str) -> None:
        if text:
            self.told.append(f"{self.cluster.loop.now:.4f} {text}")

    # ---- engines ----

    def _engine(self) -> EngineNode | None:
        """The owner of a partition rather than another; None when there is none to hit."""
        alive = [e for e in self.cluster.engines.values() if e.alive and not e.node.halted]
        if not alive:
            return None
        owners = [e for e in alive if e.hall.owners()]
        if owners and self._dice.random() < 0.75:
            alive = owners
        return alive[self._dice.randrange(len(alive))]

    def _kill(self) -> str:
        engine = self._engine()
        if engine is None:
            return ""
        engine.node.kill()
        return f"SIGKILL {engine.node.name}{self._back(engine.name)}"

    def _stall(self) -> str:
        engine = self._engine()
        if engine is None:
            return ""
        seconds = self._within(1.0 + 2.5 * self._dice.random())
        engine.node.stall(seconds)
        return f"SIGSTOP {engine.node.name} for {seconds:.2f} s"

    def _hiccup(self) -> str:
        engine = self._engine()
        if engine is None:
            return ""
        seconds = self._within(0.9 * self._dice.random() ** 2)
        engine.node.stall(seconds)
        return f"{engine.node.name} stands still for {seconds:.3f} s"

    def _term(self) -> str:
        engine = self._engine()
        if engine is None or engine.stopping:
            return ""
        self.cluster.term(engine.name)
        return f"SIGTERM {engine.node.name}{self._back(engine.name)}"

    def _rival(self) -> str:
        engine = self._engine()
        if engine is None:
            return ""
        rival = self.cluster.start_engine(engine.name)
        return f"{rival.node.name} starts beside {engine.node.name}"

    def _back(self, name: str) -> str:
        """It is started again after a while, or at once."""
        wait = self._within(2.0 * self._dice.random() ** 2)
        self.cluster.loop.root.after(wait, self._revive, name)
        return f", again after {wait:.2f} s"

    def _revive(self, name: str) -> None:
        engine = self.cluster.engines[name]
        if not engine.alive:
            self._say(f"start {self.cluster.start_engine(name).node.name}")
        elif engine.stopping:
            self.cluster.loop.root.after(0.2, self._revive, name)

    def _lie_in_wait(self) -> str:
        """Hit the writer of one of the next records, just when it is committed or a moment later."""
        left, kill = self._dice.randrange(4), self._dice.random() < 0.5
        moment = 0.003 * self._dice.random() ** 2 if self._dice.random() < 0.7 else 0.0
        seconds = 0.3 + 2.5 * self._dice.random()

        def ambush(message: Stored) -> None:
            nonlocal left
            left -= 1
            if left >= 0:
                return
            self._ambush = None
            boot = message.headers.get("Snatch-Id", ":::").rpartition(":")[2]
            writer = next((e for e in self.cluster.alive() if e.boot == boot), None)
            if writer is not None:
                self.cluster.loop.root.after(moment, self._strike, writer, kill, seconds)

        self._ambush = ambush
        return ""

    def _strike(self, writer: EngineNode, kill: bool, seconds: float) -> None:
        if not writer.alive or self.over:
            return
        if kill:
            writer.node.kill()
            self._say(f"SIGKILL {writer.node.name} at its record{self._back(writer.name)}")
        else:
            writer.node.stall(self._within(seconds))
            self._say(f"SIGSTOP {writer.node.name} at its record for {self._within(seconds):.2f} s")

    def _on_commit(self, message: Stored) -> None:
        if self._ambush is not None and message.stream == "LOG":
            self._ambush(message)

    # ---- NATS ----

    def _bus(self) -> SimBus | None:
        buses = self._nats.buses
        return buses[self._dice.randrange(len(buses))] if buses else None

    def _cut(self) -> str:
        bus = self._bus()
        if bus is None:
            return ""
        silent = self._within(1.5 * self._dice.random()) if self._dice.random() < 0.5 else 0.0
        self._nats.cut(bus, silent)
        return f"the connection of {bus.node.name} breaks, noticed after {silent:.2f} s"

    def _slow(self) -> str:
        bus = self._bus()
        if bus is None:
            return ""
        lag, seconds = 0.7 * self._dice.random() ** 2, self._within(2.0 * self._dice.random())
        self._nats.slow(bus, lag, seconds)
        return f"the connection of {bus.node.name} takes {lag:.3f} s longer for {seconds:.2f} s"

    def _deafen(self) -> str:
        bus = self._bus()
        if bus is None:
            return ""
        prefix = ("own.", "f.", "own.p.", "callers.")[self._dice.randrange(4)]
        seconds = self._within(3.0 * self._dice.random())
        self._nats.deafen(bus, prefix, seconds)
        return f"{bus.node.name} hears no {prefix}> for {seconds:.2f} s"

    def _kill_server(self) -> str:
        index = self._dice.randrange(len(self._nats.servers))
        seconds = self._within(0.1 + 1.4 * self._dice.random())
        self._nats.kill_server(index, seconds)
        return f"SIGKILL nats-{index + 1} for {seconds:.2f} s"

    def _freeze_server(self) -> str:
        index = self._dice.randrange(len(self._nats.servers))
        seconds = self._within(2.0 * self._dice.random())
        self._nats.freeze_server(index, seconds)
        return f"SIGSTOP nats-{index + 1} for {seconds:.2f} s"

    def _wipe(self) -> str:
        self._nats.wipe_placement()
        return "the placement is wiped"

    def _lose_quorum(self) -> str:
        seconds = self._within(0.1 + 1.5 * self._dice.random())
        self._nats.lose_quorum(seconds)
        return f"NATS has no quorum for {seconds:.2f} s"

    def _lose_leaders(self) -> str:
        self._nats.lose_leaders()
        return "NATS' leaders step down"

    def _within(self, seconds: float) -> float:
        """Not beyond the storm's end."""
        return max(0.001, min(seconds, self._until - self.cluster.loop.now))
