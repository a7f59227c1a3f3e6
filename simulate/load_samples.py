"""CPU and memory of each part of a running stack, read from outside, whoever dies meanwhile.

A process' time and that of its children who ended are kept by the kernel, so a tree of
processes adds up though members of it come and go.  When the root itself dies between two
looks, what it used after the last one is in the time of ended children of the process that
started it: the stack's own.  So nothing is missed by looking once a second.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from simulate.load_record import Service, ServiceSample
from simulate.vigil import Running, Stack

SUPERVISOR = "snatch play"
"""What the process that watches over the parts is called.  It serves nobody: sums of servers leave it out."""
TOLD = ("ready", "not ready", "stopped", "removed")
"""States of parts that are news."""
_CPU_CLOCK = 2
"""CPUCLOCK_SCHED: with a process id above it this names the clock that clock_getcpuclockid(3) would."""
MEMORY_EVERY = 5
"""Looks from one reading of memory to the next: the kernel walks all pages for it."""


@dataclass(frozen=True)
class Use:
    """Of one part, its deal workers and the like included."""

    kind: str
    cpu: float = 0.0
    """Seconds since the meter was made, over all processes that were this part."""
    memory: int = 0
    """Bytes; pages that several processes share count in parts (PSS), or whole where the kernel can't say."""
    processes: int = 0
    """Alive just now."""
    private: int = 0
    """Bytes that no other process shares: what shows growth, whoever starts or ends beside it."""


NOT_THERE = Use("")
MB = 1e6


@dataclass(frozen=True)
class Change:
    """Something that befell a part: its process `ended`, it was `added`, or a state of TOLD."""

    part: str
    what: str


@dataclass
class _Part:
    kind: str
    process: psutil.Process | None = None
    """The root that lives; None while there is none."""
    spent: float = 0.0
    tree: float = 0.0
    """CPU seconds of all the root's tree, when it was looked at last."""
    root: float = 0.0
    """Of the root and of its children that ended."""
    memory: int = 0
    private: int = 0
    processes: int = 0
    state: str = ""


class Meter:
    """`look` once a second or so, in a thread: it reads files of the kernel, some ms in all."""

    def __init__(self, stack: Stack, running: Running) -> None:
        """What was used before now isn't counted."""
        self._stack, self._running = stack, running
        self._parts: dict[str, _Part] = {}
        self._looks = 0
        self._late = 0.0
        """What the stack's ended children had used, and no part that died has claimed yet."""
        self._reaped: float | None = None
        self._first = True
        self.events: list[Change] = []
        """Since whoever reads them emptied it."""
        self.look()
        self._first = False
        self.events.clear()

    def look(self) -> dict[str, Use]:
        """Everything now, by part; the stack's supervisor under its own name."""
        state = self._running(Path(self._stack["data"])) if self._stack.get("data") else None
        listed = {part["name"]: part for part in (state or {"parts": ()})["parts"]}
        trees = _trees()
        died = [part for name, part in self._parts.items() if name != SUPERVISOR and not self._follow(part, trees)]
        self._settle(died)
        for name, now in listed.items():
            part = self._parts.get(name)
            if part is None:
                part = self._parts[name] = _Part(now["kind"])
                self.events.append(Change(name, "added"))
            if part.process is None and now["pid"]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    part.process = psutil.Process(now["pid"])
                    self._follow(part, trees, new=True)
        self._tell(listed, died)
        self._supervise()
        self._looks += 1
        return {name: Use(p.kind, p.spent, p.memory, p.processes, p.private) for name, p in self._parts.items()}

    def _follow(self, part: _Part, trees: Mapping[int, list[int]], *, new: bool = False) -> bool:
        """Read a part's tree; False when its root has ended since the last look."""
        root = part.process
        if root is None:
            return True
        try:
            if not root.is_running():
                return False
            tree = own = _cpu(root)
        except psutil.NoSuchProcess:
            return False
        memory, private, processes = 0, 0, 0
        for member in (root, *_members(root.pid, trees)):
            with contextlib.suppress(psutil.Error):
                if member is not root:
                    tree += _cpu(member)
                if new or self._looks % MEMORY_EVERY == 0:
                    whole, alone = _memory(member)
                    memory += whole
                    private += alone
                processes += member.status() != psutil.STATUS_ZOMBIE
        if new:
            part.tree = tree if self._first else 0.0
        part.spent += max(0.0, tree - part.tree)
        part.tree, part.root, part.processes = tree, own, processes
        if memory:
            part.memory, part.private = memory, private
        return True

    def _settle(self, died: Sequence[_Part]) -> None:
        """Give those that ended what they used after they were looked at last."""
        reaped = self._ended()
        new = 0.0 if reaped is None or self._reaped is None else max(0.0, reaped - self._reaped)
        self._reaped = reaped
        unseen = max(0.0, self._late + new - sum(part.root for part in died)) / max(1, len(died))
        # It may have ended after its part was looked at: the next look will know.
        self._late = 0.0 if died else new
        for part in died:
            part.spent += unseen
            part.process, part.tree, part.root = None, 0.0, 0.0
            part.memory, part.private, part.processes = 0, 0, 0

    def _ended(self) -> float | None:
        """CPU seconds of the stack's children that ended, theirs included."""
        try:
            times = psutil.Process(self._stack["pid"]).cpu_times()
        except (psutil.Error, KeyError):
            return None
        return float(times.children_user + times.children_system)

    def _tell(self, listed: Mapping[str, Mapping[str, Any]], died: Sequence[_Part]) -> None:
        for name, part in self._parts.items():
            if name == SUPERVISOR:
                continue
            state = listed[name]["state"] if name in listed else "removed"
            if state != "removed" and any(part is one for one in died):
                self.events.append(Change(name, "ended"))
                part.state = "down"
            if state in TOLD and part.state not in ("", state):
                self.events.append(Change(name, state))
            part.state = state

    def _supervise(self) -> None:
        with contextlib.suppress(psutil.Error, KeyError):
            process = psutil.Process(self._stack["pid"])
            times = process.cpu_times()
            own = _cpu(process) - times.children_user - times.children_system
            part = self._parts.get(SUPERVISOR)
            if part is None:
                part = self._parts[SUPERVISOR] = _Part("supervisor", tree=own)
            part.spent += own - part.tree
            part.tree, part.processes = own, 1
            if self._looks % MEMORY_EVERY == 0:
                part.memory, part.private = _memory(process)


def servers(uses: Mapping[str, Use]) -> float:
    """CPU seconds of all parts that serve."""
    return sum(use.cpu for name, use in uses.items() if name != SUPERVISOR)


def seconds(before: Mapping[str, Use], after: Mapping[str, Use], lasted: float) -> dict[str, ServiceSample]:
    """Between two looks that lie `lasted` seconds apart."""
    return {
        name: ServiceSample(_grown(before, name, use) / max(lasted, 1e-3), use.memory / MB, use.processes)
        for name, use in after.items()
    }


def over(
    before: Mapping[str, Use],
    after: Mapping[str, Use],
    lasted: float,
    moves: int,
    idle: Mapping[str, Use],
    players: int,
) -> dict[str, Service]:
    """A hold's sums, from the looks at its beginning and end; `idle`: the look before the first player came."""
    return {
        name: Service(
            kind=use.kind,
            cpu_us_per_move=_grown(before, name, use) * 1e6 / max(1, moves),
            cpu=_grown(before, name, use) / max(lasted, 1e-3),
            memory_mb=use.memory / MB,
            memory_mb_per_1000_players=(use.private - _before(idle, name).private) / MB * 1000 / max(1, players),
        )
        for name, use in after.items()
    }


def _grown(before: Mapping[str, Use], name: str, after: Use) -> float:
    return after.cpu - _before(before, name).cpu


def _before(uses: Mapping[str, Use], name: str) -> Use:
    return uses.get(name, NOT_THERE)


def machine() -> float:
    """CPU seconds that this machine's cores have spent on anything at all, since it started."""
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    # On Linux a guest's time is in user and nice too.
    return float(sum(times) - idle - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0))


def _trees() -> dict[int, list[int]]:
    """The children of each process of this machine."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for process in psutil.process_iter(["ppid"]):
        found[process.info["ppid"]].append(process.pid)
    return found


def _members(root: int, trees: Mapping[int, list[int]]) -> Iterable[psutil.Process]:
    waiting = list(trees.get(root, ()))
    while waiting:
        pid = waiting.pop()
        waiting += trees.get(pid, ())
        with contextlib.suppress(psutil.Error):
            yield psutil.Process(pid)


def _cpu(process: psutil.Process) -> float:
    """Seconds, of its children that ended too.  Raises psutil.Error."""
    times = process.cpu_times()
    own = times.user + times.system
    if sys.platform == "linux":
        # Its CPU clock counts nanoseconds, where /proc has hundredths of a second.
        with contextlib.suppress(OSError):
            own = time.clock_gettime((~process.pid << 3) | _CPU_CLOCK)
    return float(own + times.children_user + times.children_system)


def _memory(process: psutil.Process) -> tuple[int, int]:
    """Bytes: with its part of what it shares, and what it has alone.  Raises psutil.Error."""
    try:
        full = process.memory_full_info()
    except psutil.AccessDenied:
        rss = int(process.memory_info().rss)
        return rss, rss
    return int(getattr(full, "pss", 0) or full.rss), int(full.uss)
