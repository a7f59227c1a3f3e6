"""NATS as the engines and gateways meet it: core publish and subscribe, and two JetStream streams.

    nats = SimNats(loop, replicated=True)
    bus = SimBus(nats, node, "engine-1")         # model/bus.py
    nats.committed.append(observer)              # hears of every message of LOG and KV_own as it is committed
    nats.weather = ROUGH                         # small troubles by chance
    nats.kill_server(0, seconds=1.0)             # big ones by name

What it does and doesn't do is what was measured on nats-server 2.15 (docs/adr/0004):
- an append states the sequence of its subject's last message; a conflict is 10071, or, replicated, 10164 as long
  as another append to the subject is under way, and at times a moment longer;
- appends wait in their stream's queue, where reads from the leader overtake them: “not there” is never final;
- an append whose acknowledgement was lost or whose leader died may be in, or come in later, or never;
- direct reads may come from a replica that lags; reads from the leader don't;
- what was published while disconnected is sent after the reconnect; core messages under way are lost with a
  connection; a PING overtakes what was published just before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from nats.aio.msg import Msg

from model.jetstream import Server, Stream
from model.loop import Handle, SimLoop
from model.store import Store, Stored
from model.weather import CALM, Weather
from services.engine.board import KV, KV_STREAM, LAYOUT, LAYOUT_KEY
from wire import subjects

if TYPE_CHECKING:
    from model.bus import SimBus, SimSubscription

_API = "$JS.API."
_LOG = subjects.LOG_SUBJECTS[:-1]
_OWN = subjects.OWN_REPUBLISH[:-1]

Publish = tuple[str, str, dict[str, str] | None, bytes]
"""(subject, reply, headers, data)"""
Parcel = list["Publish | SimSubscription"]
"""What a client writes at once; a subscription: that it begins, or, closed by then, that it ends."""


class Link:
    """One TCP connection, from its making to its break."""

    __slots__ = ("bus", "down_at", "flying", "lag", "open", "parcel", "parcel_at", "server", "settled_at", "up_at")

    def __init__(self, bus: SimBus, server: Server) -> None:
        self.bus, self.server = bus, server
        self.open = True
        self.up_at = self.down_at = self.settled_at = 0.0
        """True times of the last arrival, each way: bytes come in order."""
        self.lag = 0.0
        """Seconds that everything takes longer just now."""
        self.parcel: Parcel = []
        self.parcel_at = -1.0
        self.flying: deque[tuple[Handle, Parcel]] = deque()


class SimNats:
    """`log` and `own` are the streams; `committed` is told of every message as it is committed."""

    def __init__(self, loop: SimLoop, replicated: bool = False) -> None:
        self.loop, self.replicated = loop, replicated
        self.dice = loop.dice
        self.weather: Weather = CALM
        self.servers = [Server(i) for i in range(3 if replicated else 1)]
        self.committed: list[Callable[[Stored], None]] = []
        self.log = Stream(self, Store(subjects.LOG_STREAM), self.servers[0])
        self.own = Stream(self, Store(KV_STREAM, keep=1), self.servers[-1], (KV, _OWN))
        self.streams = {s.store.name: s for s in (self.log, self.own)}
        self.buses: list[SimBus] = []
        self.clients = 0
        """How many there ever were."""
        self._subscribers: list[SimSubscription] = []
        self._inboxes: dict[str, SimSubscription] = {}
        self._routes: dict[str, list[SimSubscription]] = {}
        self.own.store.commit(KV + LAYOUT_KEY, {}, LAYOUT, 0.0)

    # ---- faults ----

    def kill_server(self, index: int, seconds: float) -> None:
        """SIGKILL, and back after a while.  Connections break at once; what it had not stored is lost."""
        server = self.servers[index]
        if not server.up:
            return
        server.up, server.frozen, server.held = False, False, []
        for bus in self.buses:
            if bus.link is not None and bus.link.server is server:
                self.cut(bus, 0.0)
        alone = self.replicated and sum(s.up for s in self.servers) < 2
        for stream in self.streams.values():
            if stream.leader is server:
                stream.lose_leader(seconds if not self.replicated else self.election())
            elif alone:
                stream.lose_quorum(seconds)
        self.loop.root.after(seconds, self._start_server, server)

    def freeze_server(self, index: int, seconds: float) -> None:
        """SIGSTOP, then SIGCONT: connections stay; what arrives meanwhile is done then."""
        server = self.servers[index]
        if not server.up or server.frozen:
            return
        server.frozen = True
        if self.replicated and seconds > 1.0:
            for stream in self.streams.values():
                if stream.leader is server:
                    stream.lose_leader(self.election())
        self.loop.root.after(seconds, self._thaw, server)

    def lose_quorum(self, seconds: float) -> None:
        """Replicated: the leader hears no follower.  What it accepts meanwhile is committed later, or never."""
        if not self.replicated:
            return
        for stream in self.streams.values():
            stream.lose_quorum(seconds)

    def lose_leaders(self) -> None:
        """Replicated: the leaders step down; others are elected."""
        if self.replicated:
            for stream in self.streams.values():
                if stream.leader is not None:
                    stream.lose_leader(self.election())

    def cut(self, bus: SimBus, silent: float) -> None:
        """A connection breaks; its client notices after `silent` seconds.  Some of what is on its way still arrives."""
        link = bus.link
        if link is None or not link.open:
            return
        some = link.server.up and self.dice.random() < 0.5
        keep = self.dice.randrange(len(link.flying) + 1) if some else 0
        while len(link.flying) > keep:
            link.flying.pop()[0].cancel()
        self._hang_up(link)
        bus.node.after(silent, bus.on_broken, link)

    def slow(self, bus: SimBus, lag: float, seconds: float) -> None:
        """All that one connection carries takes longer for a while."""
        link = bus.link
        if link is not None:
            link.lag = lag
            self.loop.root.after(seconds, _unlag, link)

    def deafen(self, bus: SimBus, prefix: str, seconds: float) -> None:
        """For a while, plain messages on subjects that begin so don't reach this client."""
        bus.deaf = (prefix, self.loop.now + seconds)

    def wipe_placement(self) -> None:
        """The bucket loses every partition's entry: restored from nothing, by mistake.  The epochs are the log's."""
        for name, subject in self.own.store.subjects.items():
            if name.startswith(KV + "p."):
                subject.purge_below(self.own.store.sequence + 1)

    def calm(self) -> None:
        """No more small troubles; what is under way goes on."""
        self.weather = CALM

    def election(self) -> float:
        """Seconds until a stream has a leader again."""
        return 0.3 + 2.2 * self.dice.random()

    # ---- the way here and back ----

    def hop(self) -> float:
        """Seconds of one way of a message."""
        chance = self.dice.random()
        if chance < self.weather.hops:
            return 0.001 + self.weather.slow_hop * self.dice.random()
        return 0.0002 + 0.0006 * chance

    def connect(self, bus: SimBus) -> Link | None:
        """A connection to a server that is up; None when there is none."""
        up = [s for s in self.servers if s.up and not s.frozen]
        if not up:
            return None
        return Link(bus, up[self.dice.randrange(len(up))] if len(up) > 1 else up[0])

    def send(self, link: Link, message: Publish | SimSubscription) -> None:
        """What a client writes.  What it writes at the same moment goes together."""
        if not link.open:
            return  # It doesn't know yet that nobody reads this.
        now = self.loop.now
        if link.parcel_at == now:
            link.parcel.append(message)
            return
        link.settled_at = link.up_at
        link.parcel, link.parcel_at = [message], now
        self.post(link, link.parcel)

    def post(self, link: Link, parcel: Parcel) -> None:
        """Put a parcel on its way, behind what is on it already."""
        link.up_at = max(link.up_at, self.loop.now + self.hop() + link.lag)
        link.flying.append((self.loop.root.at(link.up_at, self._arrived, link, parcel), parcel))

    def take_back(self, link: Link) -> list[Parcel]:
        """The sender was stopped just now: some of what it was sending it had not yet sent."""
        keep = self.dice.randrange(len(link.flying) + 1)
        back: list[Parcel] = []
        while len(link.flying) > keep:
            handle, parcel = link.flying.pop()
            handle.cancel()
            back.append(parcel)
        link.parcel_at = -1.0
        return back[::-1]

    def ping(self, link: Link, pong: Callable[[], None]) -> None:
        """A PING is written past what waits in the client's buffer."""
        now = self.loop.now
        before = link.settled_at if now - link.parcel_at < 0.0003 else link.up_at
        self.loop.root.at(max(before, now + self.hop() + link.lag), self._pinged, link, pong)

    def _pinged(self, link: Link, pong: Callable[[], None]) -> None:
        if link.server.frozen:
            link.server.held.append((self._pinged, (link, pong)))
        elif link.open:
            link.down_at = max(link.down_at, self.loop.now + self.hop() + link.lag)
            link.bus.node.at(link.down_at, pong)

    def _arrived(self, link: Link, parcel: Parcel) -> None:
        link.flying.popleft()
        link.parcel_at = -1.0 if link.parcel is parcel else link.parcel_at
        self._done(link, parcel)

    def _done(self, link: Link, parcel: Parcel) -> None:
        server = link.server
        if server.frozen:
            server.held.append((self._done, (link, parcel)))
            return
        if not server.up:
            return
        for message in parcel:
            if not isinstance(message, tuple):
                if message.over:
                    self.unsubscribe(message)
                elif link.open:
                    self.subscribe(message)
                continue
            subject, reply, headers, data = message
            self.loop.note(data)
            if subject.startswith(_LOG):
                self.log.append(subject, reply, headers or {}, data)
            elif subject.startswith(KV):
                self.own.append(subject, reply, headers or {}, data)
            elif subject.startswith(_API):
                verb, _, name = subject[len(_API) :].rpartition(".")
                self.streams[name].ask(verb, reply, msgspec.json.decode(data) if data else {})
            else:
                self.route(subject, reply, headers, data)

    # ---- core ----

    def subscribe(self, subscription: SimSubscription) -> None:
        """From now on the server knows of it."""
        if subscription.is_inbox:
            self._inboxes[subscription.subject] = subscription
        elif subscription not in self._subscribers:
            self._subscribers.append(subscription)
            self._routes.clear()

    def unsubscribe(self, subscription: SimSubscription) -> None:
        if subscription.is_inbox:
            self._inboxes.pop(subscription.subject, None)
        elif subscription in self._subscribers:
            self._subscribers.remove(subscription)
            self._routes.clear()

    def route(self, subject: str, reply: str, headers: dict[str, str] | None, data: bytes) -> None:
        """A plain message to whoever listens; one that wants an answer and finds nobody is told so."""
        if subject.startswith("_INBOX."):
            found = self._inboxes.get(subject) or self._inboxes.get(subject.rpartition(".")[0] + ".*")
            if found is not None:
                self._deliver(found, subject, reply, headers, data)
            return
        listeners = self._routes.get(subject)
        if listeners is None:
            listeners = [s for s in self._subscribers if matches(s.subject, subject)]
            self._routes[subject] = listeners
        if not listeners:
            if reply:
                self.route(reply, "", {"Status": "503"}, b"")
            return
        for subscription in self._chosen(listeners):
            self._tell(subscription, subject, reply, headers, data)

    def _chosen(self, listeners: list[SimSubscription]) -> list[SimSubscription]:
        """Everybody, but one of each queue."""
        if not any(s.queue for s in listeners):
            return listeners
        chosen = [s for s in listeners if not s.queue]
        for queue in sorted({s.queue for s in listeners if s.queue}):
            members = [s for s in listeners if s.queue == queue]
            chosen.append(members[self.dice.randrange(len(members))])
        return chosen

    def _tell(
        self, subscription: SimSubscription, subject: str, reply: str, headers: dict[str, str] | None, data: bytes
    ) -> None:
        bus = subscription.bus
        if bus.deaf is not None and self.loop.now < bus.deaf[1] and subject.startswith(bus.deaf[0]):
            return
        if self.weather.frames and self.dice.random() < self.weather.frames:
            kind = self.dice.randrange(4)
            if kind == 0:
                bus.node.after(self.hop(), bus.on_slow, subscription)
                return
            if kind == 1:
                return
            if kind == 2:
                self._deliver(subscription, subject, reply, headers, data)
        self._deliver(subscription, subject, reply, headers, data)

    def _deliver(
        self, subscription: SimSubscription, subject: str, reply: str, headers: dict[str, str] | None, data: bytes
    ) -> None:
        link = subscription.bus.link
        if link is None or not link.open:
            return
        if link.server.frozen:
            link.server.held.append((self._deliver, (subscription, subject, reply, headers, data)))
            return
        # One connection keeps its order; each subscription is read by a task of its own.
        arrives = link.down_at = max(link.down_at, self.loop.now + self.hop() + link.lag)
        if self.weather.hops and self.dice.random() < self.weather.hops:
            arrives += 0.005 * self.dice.random()
        subscription.free_at = arrives = max(arrives, subscription.free_at)
        message = Msg(subscription.bus, subject, reply, data, headers)
        link.bus.node.at(arrives, subscription.receive, link, message)

    def _hang_up(self, link: Link) -> None:
        """The server's side of a connection that ended."""
        link.open = False
        for subscription in link.bus.subscriptions:
            self.unsubscribe(subscription)

    def leave(self, link: Link, keep: bool) -> None:
        """A client is gone.  `keep`: what it has sent still arrives."""
        if not keep:
            while link.flying:
                link.flying.pop()[0].cancel()
        self._hang_up(link)

    def _start_server(self, server: Server) -> None:
        server.up = True

    def _thaw(self, server: Server) -> None:
        if not server.frozen:
            return
        server.frozen = False
        held, server.held = server.held, []
        for call, args in held:
            call(*args)


def matches(pattern: str, subject: str) -> bool:
    """Whether a subject falls under a pattern with `*` and `>`."""
    if pattern == subject:
        return True
    wanted, given = pattern.split("."), subject.split(".")
    for i, token in enumerate(wanted):
        if token == ">":
            return len(given) > i
        if i >= len(given) or token not in ("*", given[i]):
            return False
    return len(wanted) == len(given)


def _unlag(link: Link) -> None:
    link.lag = 0.0
