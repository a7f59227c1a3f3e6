"""A player's phone and its tabs: they play, lose their sockets, come back, and remember all that they were told.

A tab does what the web client does: ids count up without gaps, a snapshot settles what is
up to `answered` and has the rest sent again, a move that was thrown out leaves its id free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from model.game import chained
from model.gateway import Gateway, SimSocket
from model.loop import Node, SimLoop
from model.tellings import same
from model.truth import RoomTruth, Truth, Violate
from servicekit.sockets import TAKEN_OVER
from wire import client_out as out

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 0.8
SLOW_DOWN = 0.3
MOST_PENDING = 12
REMEMBERED = 6
"""Moves that a tab was answered, and may ask about once more."""
UNNOTICED = (0.002, 0.6)
"""Seconds until a gateway notices that a phone is gone."""

ONE_ANSWER = "an answer never changes"
FORWARD = "no acknowledged move is lost"
SHOWN = "nothing is told before it is committed"

_decode = msgspec.json.Decoder(out.ServerMessage).decode


class Pending:
    """A move that waits for its answer."""

    __slots__ = ("id", "m", "mark")

    def __init__(self, id: int, m: dict[str, Any], mark: int) -> None:
        self.id, self.m, self.mark = id, m, mark

    def body(self) -> bytes:
        return msgspec.json.encode({"t": "move", "id": self.id, "basis": 0, "m": self.m})


class View:
    """What the screen shows of the game."""

    __slots__ = ("digest", "hand", "position", "rang", "top")

    def __init__(self) -> None:
        self.top = self.digest = self.rang = 0
        self.hand = 0
        self.position = 0
        """The furthest that was ever shown."""


class Tab:
    """One page.  `over`: it was told that another has the seat; it never comes back."""

    def __init__(self, player: Player, number: int) -> None:
        self.player, self.number = player, number
        self.over = False
        self.live = False
        """It has a snapshot on this socket: moves may be sent."""
        self.view = View()
        self.phase = ""
        self.seat = -1
        self.pending: list[Pending] = []
        self.decided: deque[Pending] = deque(maxlen=REMEMBERED)
        """The last ones that were answered, or that a snapshot showed."""
        self.questions: dict[int, Pending] = {}
        """Decided ones that were sent again and have no answer to that."""
        self.next_id = 1
        self.told: dict[int, out.No | None] = {}
        """By mark."""
        self.told_id = 0
        self.present = True
        self._socket: SimSocket | None = None
        self._pause = FIRST_PAUSE
        self._connecting = False

    # ---- the socket ----

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def connect(self) -> None:
        """Try now, and again and again."""
        self._connecting = False
        player = self.player
        if self.over or self._socket is not None:
            return
        gateway = player.gateway()
        socket = gateway.connect(player.node, self) if gateway is not None else None
        if socket is None:
            self._later()
            return
        self._socket = socket
        who = pb.AttachRequest(room=player.room, player=player.name, tab=self.number, name=player.name)
        who.hello_at = 1_000_000 + round(1000 * player.loop.now)
        socket.hello(who, player.table)

    def drop(self, back_after: float | None, notice: float) -> None:
        """The network is gone; it comes back after so many seconds, or never."""
        if self._socket is not None:
            self._socket.drop(notice)
            self._socket, self.live = None, False
            self.player.truth.count("phones dropped")
        if back_after is not None and not self._connecting:
            self._connecting = True
            self.player.node.after(back_after, self.connect)

    def _later(self) -> None:
        if not self._connecting:
            self._connecting = True
            self.player.node.after(self._pause, self.connect)
            self._pause = min(LONGEST_PAUSE, self._pause * 2)

    def on_close(self, socket: SimSocket, code: int) -> None:
        if socket is not self._socket:
            return
        self._socket, self.live = None, False
        if code == TAKEN_OVER:
            self.over = True
        else:
            self._later()

    # ---- moves ----

    def play(self, m: dict[str, Any], mark: int) -> None:
        """Make a move.  Offline it waits for the next snapshot."""
        pending = Pending(self.next_id, m, mark)
        self.next_id += 1
        self.pending.append(pending)
        if self.live:
            self._send(pending)

    def say_again(self) -> None:
        """As a page does that isn't sure."""
        if self.live and self.pending:
            self._send(self.pending[-1])

    def ask(self) -> None:
        """Send a decided move again: it must change nothing, and be answered as it was."""
        if self.live and self.decided:
            pending = self.player.loop.dice.choice(self.decided)
            self.questions[pending.id] = pending
            self.player.truth.count("decided moves sent again")
            self._send(pending)

    def _ask_again(self) -> None:
        for pending in self.questions.values():
            self._send(pending)

    def _send(self, pending: Pending) -> None:
        if self._socket is not None:
            self.player.truth.count("moves sent")
            self._socket.say(pending.id, pending.body())

    def _send_from(self, id: int) -> None:
        for pending in self.pending:
            if pending.id >= id:
                self._send(pending)

    # ---- what it is told ----

    def on_message(self, socket: SimSocket, body: bytes) -> None:
        if socket is not self._socket:
            return
        message = _decode(body)
        if isinstance(message, out.TableFrame):
            self._frame(message, own=False)
        elif isinstance(message, out.SeatFrame):
            self._frame(message, own=True)
        elif isinstance(message, out.Snapshot):
            self._snapshot(message)
        elif isinstance(message, out.Answer):
            self._told(message.id, message.no)
        elif isinstance(message, out.Expect):
            self._send_from(message.id)
        elif isinstance(message, out.TakenOver):
            self.over, self.live = True, False
        elif isinstance(message, out.Waiting):
            self.player.truth.count("told to wait")
        elif isinstance(message, out.Error):
            self._error(message)

    def _snapshot(self, message: out.Snapshot) -> None:
        self.player.truth.count("snapshots shown")
        self._pause = FIRST_PAUSE
        assert message.you is not None
        self.seat = message.you.seat
        view, before = View(), self.view
        if message.view is not None:
            view.top, view.digest = message.view["top"], message.view["digest"]
            view.rang, view.hand = message.view.get("rang", 0), message.view.get("hand") or 0
        view.position = before.position
        self.view, self.phase = view, message.table.phase
        self.present = any(m.seat == self.seat and m.present for m in message.table.members)
        self._look("a snapshot")
        self.player.snapshot_shown(self, message.answered)
        # The rest is numbered from there on, and sent again.
        self.decided.extend(p for p in self.pending if p.id <= message.answered)
        self.pending = [p for p in self.pending if p.id > message.answered]
        for at, pending in enumerate(self.pending):
            pending.id = message.answered + 1 + at
        self.next_id = message.answered + 1 + len(self.pending)
        if not self.live:  # later snapshots of the same socket ask for nothing: its gateway keeps the questions
            self._ask_again()
        self.live = True
        self._send_from(0)

    def _frame(self, message: out.TableFrame | out.SeatFrame, *, own: bool) -> None:
        view = self.view
        for step in message.steps:
            for event in step.ev:
                self._event(view, event)
            if step.id is not None and (own or step.by == self.seat):
                self._told(step.id, step.no)
        self._look("a frame")

    def _event(self, view: View, event: dict[str, Any]) -> None:
        tag = event["t"]
        apply = _APPLY.get(tag)
        if apply is not None:
            apply(view, event)
        elif tag == "presence" and event["seat"] == self.seat:
            self.present = event["present"]
        elif tag in ("dealing", "countdown", "live", "setup", "closed"):
            self.phase = tag

    def _told(self, id: int, no: out.No | None) -> None:
        """This id has been decided so."""
        found = next((p for p in self.pending if p.id == id), None)
        self.told_id = max(self.told_id, id)
        mark = found.mark if found is not None else None
        asked = self.questions.pop(id, None)
        self.player.told(self, id, asked.mark if asked is not None else mark, no)
        if found is None:
            return
        self.pending.remove(found)
        self.decided.append(found)
        if found.mark in self.told and self.told[found.mark] != no:
            self.player.violate(ONE_ANSWER, f"{self}: move {found.mark} was {self.told[found.mark]}, now {no}")
        self.told[found.mark] = no

    def _error(self, message: out.Error) -> None:
        self.player.truth.count(f"error {message.code}")
        if message.id is None:
            return
        if message.code == "slow_down":
            self.player.node.after(SLOW_DOWN, self._send_from, 0)
            self.player.node.after(SLOW_DOWN, self._ask_again)
            return
        at = next((i for i, p in enumerate(self.pending) if p.id == message.id), None)
        if at is None:
            return
        del self.pending[at]
        for behind, pending in enumerate(self.pending[at:]):
            pending.id = message.id + behind
            self._send(pending)
        self.next_id = message.id + len(self.pending[at:])

    def _look(self, where: str) -> None:
        """What is on the screen was committed, and nothing that was there is gone."""
        room = self.player.truth.rooms.get(self.player.room)
        position = room.positions.get(self.view.digest) if room is not None else None
        if position is None:
            self.player.violate(SHOWN, f"{self}: {where} shows cards that were never committed")
        elif position < self.view.position:
            self.player.violate(
                FORWARD, f"{self}: {where} shows {position} events, {self.view.position} had been shown"
            )
        else:
            self.view.position = position

    def __repr__(self) -> str:
        return f"{self.player.name} tab {self.number}"


class Player:
    """`tab` is the newest one; older ones may still be open somewhere."""

    def __init__(
        self,
        loop: SimLoop,
        truth: Truth,
        violate: Violate,
        name: str,
        room: str,
        table: str,
        gateway: Callable[[], Gateway | None],
    ) -> None:
        self.loop, self.truth, self.violate = loop, truth, violate
        self.name, self.room, self.table, self.gateway = name, room, table, gateway
        self.node: Node = loop.node(f"phone-{name}")
        self.tabs: list[Tab] = []
        self.new_tab()

    @property
    def tab(self) -> Tab:
        return self.tabs[-1]

    def new_tab(self) -> None:
        """A page is opened: it is the one that plays from now on."""
        tab = Tab(self, self.loop.dice.randrange(1, 2**32))
        self.tabs.append(tab)
        self.node.soon(tab.connect)

    def think(self) -> None:
        """Make a move, if there is something to move; on an older tab, if that is open still."""
        tab, dice = self.tab, self.loop.dice
        if len(self.tabs) > 1 and dice.random() < 0.5:
            tab = next((t for t in self.tabs if t.live), tab)
        if tab.over or len(tab.pending) >= MOST_PENDING or tab.phase != "live":
            return
        chance = dice.random()
        if chance < 0.05:
            tab.say_again()
            return
        if chance > 0.95:
            tab.ask()
            return
        mark = dice.getrandbits(40) << 1 | 1
        ahead = len(tab.pending)
        if chance < 0.3:
            tab.play({"t": "draw", "mark": mark}, mark)
        else:
            rung = tab.view.top + 1 + (ahead if chance < 0.8 else ahead + 1)
            tab.play({"t": "climb", "to": rung, "mark": mark}, mark)

    # ---- what it was told, held to the log ----

    def _room(self) -> RoomTruth | None:
        return self.truth.rooms.get(self.room)

    def told(self, tab: Tab, id: int, mark: int | None, no: out.No | None) -> None:
        """A tab was told of an id's end; `mark`: the move that it takes this for."""
        room = self._room()
        reigns = [r for r in room.reigns.get(tab.seat, ()) if r.tab == tab.number] if room is not None else []
        decided = [r.decided[id] for r in reigns if id in r.decided]
        if not any(same(d.no, no) for d in decided):
            self.violate(SHOWN, f"{tab}: told {no or 'yes'} of {id}, which the log doesn't say: {decided}")
            return
        if mark is None:
            return
        if no is not None:
            self.truth.count("told no")
            if mark in self.truth.accepted:
                self.violate(ONE_ANSWER, f"{tab}: move {mark} ({id}) is told {no}, and was accepted")
            self.truth.refused.add(mark)
        else:
            self.truth.count("told yes")
            if mark not in self.truth.accepted:
                self.violate(FORWARD, f"{tab}: move {mark} ({id}) is told done, and no record has it")

    def snapshot_shown(self, tab: Tab, answered: int) -> None:
        """`answered` never goes back, unless another tab had the seat meanwhile."""
        room = self._room()
        reigns = room.reigns.get(tab.seat, []) if room is not None else []
        mine = [r for r in reigns if r.tab == tab.number]
        if not mine:
            self.violate(SHOWN, f"{tab}: a snapshot for a tab that never attached")
        elif len(mine) == 1 and answered < tab.told_id:
            self.violate(FORWARD, f"{tab}: a snapshot answers up to {answered}, {tab.told_id} had been answered")


def _climbed(view: View, event: dict[str, Any]) -> None:
    view.top = event["to"]
    view.digest = chained(view.digest, event["seat"], event["to"], event["mark"])


def _drew(view: View, event: dict[str, Any]) -> None:
    view.digest = chained(view.digest, event["seat"], event["mark"])


def _shown(view: View, event: dict[str, Any]) -> None:
    view.hand = chained(view.hand, event["card"])


def _rang(view: View, event: dict[str, Any]) -> None:
    view.rang = event["times"]


_APPLY: dict[str, Callable[[View, dict[str, Any]], None]] = {
    "climbed": _climbed,
    "drew": _drew,
    "shown": _shown,
    "rang": _rang,
}
