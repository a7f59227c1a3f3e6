"""JetStream's side of the modelled NATS: appends under their fence, reads, leaders that come and go."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec

from model.loop import SimLoop
from model.store import Store, Stored
from model.weather import Weather
from services.engine.stream import EXPECTED


class Server:
    """A nats-server process.  `held`: what is done once it is frozen no more."""

    __slots__ = ("frozen", "held", "index", "up")

    def __init__(self, index: int) -> None:
        self.index, self.up, self.frozen = index, True, False
        self.held: list[tuple[Callable[..., None], tuple[Any, ...]]] = []


class Servers(Protocol):
    """The servers, as a stream sees them."""

    loop: SimLoop
    weather: Weather
    servers: list[Server]
    replicated: bool
    committed: list[Callable[[Stored], None]]

    def route(self, subject: str, reply: str, headers: dict[str, str] | None, data: bytes) -> None: ...

    def election(self) -> float: ...


class Proposal(NamedTuple):
    """An append on its way into a stream."""

    reply: str
    subject: str
    expected: int
    headers: dict[str, str]
    data: bytes
    trouble: str


class Stream:
    """A stream and whoever leads it.  `term` grows when that changes: what waited for the old leader is lost.

    `republish`: subjects that begin with the first are told to plain subscribers under the second.
    """

    def __init__(
        self, servers: Servers, store: Store, leader: Server, republish: tuple[str, str] | None = None
    ) -> None:
        self.store = store
        self.leader: Server | None = leader
        self.term = 0
        self.proposed: list[Proposal] = []
        """Replicated: accepted by the leader, not yet committed, in order."""
        self._servers, self._loop, self._republish = servers, servers.loop, republish
        self._dice = servers.loop.dice
        self._free_at = 0.0
        self._commit_at = 0.0
        self._alone_until = 0.0
        """True time until which the leader hears no follower."""
        self._in_flight: dict[str, float] = {}
        """Subject → until when it counts as under way."""

    def append(self, subject: str, reply: str, headers: dict[str, str], data: bytes) -> None:
        """An append arrives: it waits its turn, and is then refused, or committed, or neither is ever heard."""
        if self.leader is None:
            return
        weather, dice = self._servers.weather, self._dice
        trouble = ""
        wait = 0.00005 + 0.0003 * dice.random()
        if weather.appends and dice.random() < weather.appends:
            trouble = _TROUBLES[dice.randrange(len(_TROUBLES))]
            if trouble == "no space":
                self._refuse(reply, 503, 10077, "maximum bytes exceeded")
                return
            if trouble == "queued":
                wait += weather.late * dice.random() ** 2
        expected = int(headers.get(EXPECTED, "-1"))
        proposal = Proposal(reply, subject, expected, headers, data, trouble)
        self._free_at = max(self._free_at, self._loop.now + wait)
        for _ in range(2 if trouble == "twice" else 1):
            self._loop.root.at(self._free_at, self._process, self.term, proposal)

    def ask(self, verb: str, reply: str, question: dict[str, Any]) -> None:
        """A request of the API; what only the leader answers goes unanswered when there is none."""
        trouble = self._servers.weather.reads > 0 and self._dice.random() < self._servers.weather.reads
        if verb == "DIRECT.GET":
            self._direct(reply, question, trouble)
        elif not trouble:
            self._ask_leader(verb, reply, question)

    # ---- leaders ----

    def lose_leader(self, seconds: float) -> None:
        """Nobody leads for a while; what waits for the leader is lost, what it had proposed may be."""
        self.leader = None
        self.term += 1
        self._loop.root.after(seconds, self._elect, self.term)

    def lose_quorum(self, seconds: float) -> None:
        """Replicated: the leader hears no follower.  What it accepts meanwhile is committed later, or never."""
        until = self._loop.now + seconds
        if until > self._alone_until:
            self._alone_until = until
            self._loop.root.at(until, self._quorum_back, until)

    def _elect(self, term: int) -> None:
        if term != self.term:
            return
        servers = self._servers.servers
        up = [s for s in servers if s.up and not s.frozen]
        if len(up) <= len(servers) // 2 or self._loop.now < self._alone_until:
            self._loop.root.after(0.1, self._elect, term)
            return
        self.leader = up[self._dice.randrange(len(up))]
        self.term += 1
        self._settle(answer=False)

    def _quorum_back(self, until: float) -> None:
        if until < self._alone_until or self.leader is None:
            return
        if self._dice.random() < 0.5:
            self.lose_leader(self._servers.election())
        else:
            self._settle(answer=True)

    def _settle(self, answer: bool) -> None:
        """What was accepted: the same leader has all of it; a new one the beginning, and doesn't tell the writer."""
        waiting, self.proposed = self.proposed, []
        self._in_flight.clear()
        stay = len(waiting) if answer else self._dice.randrange(len(waiting) + 1)
        for proposal in waiting[:stay]:
            self._commit(proposal, answer)

    # ---- appends ----

    def _process(self, term: int, p: Proposal) -> None:
        leader = self.leader
        if leader is None or term != self.term:
            return
        if leader.frozen:
            leader.held.append((self._process, (term, p)))
            return
        if self._servers.replicated:
            until = self._in_flight.get(p.subject)
            if until is not None and until > self._loop.now:
                self._refuse(p.reply, 400, 10164, "wrong last sequence")
                return
        fence = self.store.fence(p.subject)
        if p.expected >= 0 and p.expected != fence:
            self._refuse(p.reply, 400, 10071, f"wrong last sequence: {fence}")
            return
        if not self._servers.replicated:
            self._commit(p, answer=True)
            return
        self._in_flight[p.subject] = float("inf")
        self.proposed.append(p)
        self._commit_at = max(self._commit_at, self._loop.now + 0.0003 + 0.0012 * self._dice.random())
        self._loop.root.at(self._commit_at, self._agreed, term, p)

    def _agreed(self, term: int, p: Proposal) -> None:
        if term != self.term or self._loop.now < self._alone_until or p not in self.proposed:
            return  # It stays proposed: whoever leads next has it, or not.
        if self.leader is not None and self.leader.frozen:
            self.leader.held.append((self._agreed, (term, p)))
            return
        self.proposed.remove(p)
        self._commit(p, answer=True)

    def _commit(self, p: Proposal, answer: bool) -> None:
        nats, now = self._servers, self._loop.now
        self._in_flight.pop(p.subject, None)
        if nats.replicated and self._dice.random() < nats.weather.busy:
            self._in_flight[p.subject] = now + 0.002 * self._dice.random()
        before = self.store.sequence
        message = self.store.commit(p.subject, p.headers, p.data, now)
        for heard in nats.committed:
            heard(message)
        if self._republish is not None:
            self._tell(message, before, *self._republish)
        if not answer or p.trouble == "lost ack":
            return
        ack = b'{"stream":"%b","seq":%d}' % (self.store.name.encode(), message.sequence)
        if p.trouble == "late ack":
            self._loop.root.after(nats.weather.late * self._dice.random(), nats.route, p.reply, "", None, ack)
        else:
            nats.route(p.reply, "", None, ack)

    def _tell(self, message: Stored, before: int, source: str, destination: str) -> None:
        headers = {
            "Nats-Stream": message.stream,
            "Nats-Subject": message.subject,
            "Nats-Sequence": str(message.sequence),
            "Nats-Last-Sequence": str(before),
        }
        self._servers.route(destination + message.subject.removeprefix(source), "", headers, message.data)

    def _refuse(self, reply: str, code: int, err_code: int, text: str) -> None:
        error = {"error": {"code": code, "err_code": err_code, "description": text}}
        self._servers.route(reply, "", None, msgspec.json.encode(error))

    # ---- reads and purges ----

    def _ask_leader(self, verb: str, reply: str, question: dict[str, Any]) -> None:
        leader = self.leader
        if leader is None:
            return
        if leader.frozen:
            leader.held.append((self._ask_leader, (verb, reply, question)))
            return
        store = self.store
        answer: dict[str, Any]
        if verb == "STREAM.MSG.GET":
            found = store.last(question["last_by_subj"])
            if found is None:
                self._refuse(reply, 404, 10037, "no message found")
                return
            answer = {"message": _as_read(found)}
        elif verb == "STREAM.INFO":
            prefix = question.get("subjects_filter", ">").removesuffix(">")
            names = [s for s in store.subjects if s.startswith(prefix) and store.last(s) is not None]
            answer = {"state": {"subjects": dict.fromkeys(names, 1), "last_seq": store.sequence}}
        elif verb == "STREAM.PURGE":
            answer = {"success": True, "purged": store.subject(question["filter"]).purge_below(question["seq"])}
        else:
            raise NotImplementedError(verb)
        self._servers.route(reply, "", None, msgspec.json.encode(answer))

    def _direct(self, reply: str, question: dict[str, Any], trouble: bool) -> None:
        """Any replica answers.  One that lags lacks the end, and what a purge took is still there."""
        kind = self._dice.randrange(3) if trouble else -1
        if kind == 0 or not any(s.up for s in self._servers.servers):
            return
        behind = 1 + self._dice.randrange(3) if kind == 1 and self._servers.replicated else 0
        subject, sequence, most = question["next_by_subj"], question["seq"], question["batch"]
        found = self.store.read(subject, sequence, most, behind)
        if kind == 2 and len(found) > 1:
            # Messages are read one by one: what happens meanwhile shows.
            half = self._dice.randrange(1, len(found))
            self._send(reply, found[:half])
            self._loop.root.after(0.003, self._rest, reply, subject, found[half - 1].sequence + 1, most - half)
        else:
            self._send(reply, found)
            self._end(reply, bool(found))

    def _rest(self, reply: str, subject: str, sequence: int, most: int) -> None:
        self._send(reply, self.store.read(subject, sequence, most))
        self._end(reply, found=True)

    def _send(self, reply: str, found: list[Stored]) -> None:
        for message in found:
            headers = {**message.headers, "Nats-Subject": message.subject, "Nats-Sequence": str(message.sequence)}
            self._servers.route(reply, "", headers, message.data)

    def _end(self, reply: str, found: bool) -> None:
        self._servers.route(reply, "", {"Status": "204" if found else "404"}, b"")


_TROUBLES = ("lost ack", "late ack", "queued", "queued", "twice", "no space")


def _as_read(message: Stored) -> dict[str, Any]:
    """A message as the API shows it."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in message.headers.items())
    return {
        "subject": message.subject,
        "seq": message.sequence,
        "hdrs": base64.b64encode(f"NATS/1.0\r\n{lines}\r\n".encode()).decode(),
        "data": base64.b64encode(message.data).decode(),
    }
