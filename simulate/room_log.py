"""What the log says of one room, and how players' ledgers and screens are held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from services.engine import records
from services.engine.table import Table
from simulate.differences import differences
from simulate.findings import Findings
from wire import client_out as out

LOGGED = "acknowledged = logged"
TOLD = "logged = told"
DOUBLED = "each move is decided once"
REPLAYED = "the log shows what screens show"


class Drive(NamedTuple):
    """A bot seat got a driver; `at` is the server's wall clock, in seconds."""

    at: float
    seat: int
    worker: str


@dataclass
class RoomLog:
    """`table` is what the log's events make of it, as any engine would."""

    table: Table | None = None
    tabs: dict[int, int] = field(default_factory=dict)
    decided: dict[tuple[int, int, int], out.No | None] = field(default_factory=dict)
    """By (seat, tab, id)."""
    twice: list[tuple[int, int, int]] = field(default_factory=list)
    drives: list[Drive] = field(default_factory=list)
    told_by_snapshot: set[tuple[int, int, int]] = field(default_factory=set)
    """Keys that a snapshot told of whose record is still being taken in: its own steps are in it already."""
    resumed: bool = False
    """A snapshot stands for records that could not be read: moves below it are not in `decided`."""

    def take(self, step: records.LoggedStep, at: float = 0.0) -> None:
        for event in step.events:
            if isinstance(event, records.Attached):
                self.tabs[event.seat] = event.tab
                if event.worker:
                    self.drives.append(Drive(at, event.seat, event.worker))
            elif isinstance(event, records.Opened):
                self.tabs.clear()
        if step.seat is not None and step.id is not None:
            key = (step.seat, self.tabs.get(step.seat, 0), step.id)
            if key in self.decided and key not in self.told_by_snapshot:
                self.twice.append(key)
            no = step.no
            self.decided[key] = None if no is None else out.No(no.code, no.by, no.pile)

    def resume(self, table: Table) -> None:
        """What a snapshot knows, when what came before it could not be read: each seat's tab and last answers."""
        self.table, self.resumed = table, True
        for member in table.state.members:
            self.tabs[member.seat] = member.tab
            for answer in member.answers:
                no = None if answer.no is None else out.No(answer.no.code, answer.no.by, answer.no.pile)
                key = (member.seat, member.tab, answer.id)
                if key not in self.decided:
                    self.decided[key] = no
                    self.told_by_snapshot.add(key)

    def forget(self, seat: int, tab: int) -> None:
        """This tab's moves have been judged, and it plays no more."""
        self.decided = {key: no for key, no in self.decided.items() if key[:2] != (seat, tab)}

    def replayed(self, seat: int | None) -> Any:
        """The view of this audience after all logged events; None before a game's first deal."""
        table = self.table
        if table is None or not table.seq:
            return None
        member = table.member(seat) if seat is not None else None
        return table.game.view(table.cards, seat if member is not None and member.playing else None)


class Verdicts(NamedTuple):
    """Of one player's ledger: how many acknowledged moves, and what is wrong with them."""

    moves: int
    lost: int
    doubled: int
    untold: int
    """The log decided them, the player never learned it."""


def judge_ledger(
    log: RoomLog | None,
    room: str,
    seat: int,
    tab: int,
    told: Mapping[int, out.No | None],
    found: Findings,
    known: int = 0,
) -> Verdicts:
    """Hold one tab's ledger against the log: every answer word for word, every decision told.

    `known`: the player's last snapshot held the moves up to this id, told or not.
    """
    if log is None:
        found.check(LOGGED, not told, f"{room}: nothing of it is in the log")
        return Verdicts(len(told), len(told), 0, 0)
    lost = 0
    for id, no in told.items():
        key = (seat, tab, id)
        logged = key in log.decided and log.decided[key] == no
        lost += not logged
        says = log.decided.get(key) if key in log.decided else "nothing"
        found.check(LOGGED, logged, f"{room} seat {seat} was told {no} of move {id}; the log: {says}")
    mine = [id for (s, t, id) in log.decided if (s, t) == (seat, tab)]
    untold = 0
    for id in mine:
        heard = id in told or id <= known
        untold += not heard
        found.check(TOLD, heard, f"{room} seat {seat} was never told of move {id}, which the log decided")
    twice = [key for key in log.twice if key[:2] == (seat, tab)]
    found.check(DOUBLED, not twice, f"{room}: the log decides these (seat, tab, move) twice: {twice[:4]}")
    return Verdicts(len(told), lost, len(twice), untold)


def judge_view(log: RoomLog | None, room: str, seat: int | None, view: Any, found: Findings) -> bool:
    """Whether the log, replayed, shows what this screen shows."""
    shown = None if log is None else log.replayed(seat)
    words = "" if shown == view else differences(view, shown, ("screen", "log"))
    found.check(REPLAYED, shown == view, f"{room} {'TV' if seat is None else f'seat {seat}'}: {words}")
    return bool(shown == view)
