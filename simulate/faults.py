"""Faults for the processes of a stack on this machine, found by what its folder says of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from simulate.vigil import Stack

Fault = Literal["KILL", "STOP", "TERM", "PAUSE", "CUT", "SCALE", "RESTART", "DOWN", "RELEASE", "LOAD"]
FAULTS: tuple[Fault, ...] = ("KILL", "STOP", "TERM")
"""What a process of this machine can be given; the others are containers' (tests/compose)."""

LOOK_EVERY = 0.05


class NoParts(Exception):
    """The stack has no process of that kind, or it doesn't get ready."""


@dataclass
class Hit:
    """One fault at one process.  Times are monotonic seconds."""

    part: str
    fault: Fault
    at: float
    wall: float
    """The same moment by the machine's clock."""
    over: float | None = None
    """When the process was stopped no longer; else that of the hit."""
    ready: float | None = None
    """When all of its kind were ready again; None: not yet."""


class Hitter(Protocol):
    """Who brings faults about."""

    hits: list[Hit]

    async def hit(self, fault: Fault, hold: float) -> Hit:
        """Hit once; returns when all is ready again.  `hold`: seconds that a stop lasts.  Raises NoParts."""
        ...

    def wake(self) -> None:
        """Nobody stays stopped."""
        ...


class Faulter:
    """Hits one kind's processes, one at a time, each in its turn.  `state`: what the stack's folder says now."""

    def __init__(self, state: Callable[[], Stack | None], kind: str) -> None:
        self._state = state
        self.kind = kind
        self._turn = 0
        self._stopped: set[int] = set()
        self.hits: list[Hit] = []

    def parts(self) -> list[dict[str, Any]]:
        return [p for p in (self._state() or {"parts": ()})["parts"] if p["kind"] == self.kind]

    async def until_ready(self, patience: float, restarts: int | None = None) -> None:
        """All of the kind are ready, and were restarted so often, all together.  Raises NoParts."""
        until = time.monotonic() + patience
        while True:
            parts = self.parts()
            again = restarts is None or sum(p["restarts"] for p in parts) >= restarts
            if parts and again and all(p["state"] == "ready" for p in parts):
                return
            if time.monotonic() > until:
                said = ", ".join(f"{p['name']}: {p['state']}" for p in parts)
                raise NoParts(f"{self.kind}: {said or 'the stack has none'}")
            await asyncio.sleep(LOOK_EVERY)

    async def hit(self, fault: Fault, hold: float, patience: float = 30.0) -> Hit:
        """Hit the next one; returns when it is ready again.  `hold`: seconds that STOP lasts.  Raises NoParts."""
        await self.until_ready(patience)
        parts = sorted(self.parts(), key=lambda p: str(p["name"]))
        part = parts[self._turn % len(parts)]
        self._turn += 1
        restarts = sum(p["restarts"] for p in parts)
        hit = Hit(part["name"], fault, time.monotonic(), time.time())
        self.hits.append(hit)
        _signal(part["pid"], fault)
        if fault == "STOP":
            self._stopped.add(part["pid"])
            try:
                await asyncio.sleep(hold)
            finally:
                self.wake()
        hit.over = time.monotonic()
        await self.until_ready(patience, None if fault == "STOP" else restarts + 1)
        hit.ready = time.monotonic()
        return hit

    def wake(self) -> None:
        """Nobody stays stopped."""
        for pid in self._stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._stopped.clear()


def _signal(pid: int, fault: Fault) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, getattr(signal, f"SIG{fault}"))


def ready(state: Stack | None, kinds: Sequence[str] = ()) -> bool:
    """Whether all parts (of these kinds) are ready."""
    parts = (state or {"parts": ()})["parts"]
    return bool(parts) and all(p["state"] == "ready" for p in parts if not kinds or p["kind"] in kinds)
