"""A running stack becomes another layout, or new processes of the same one, while people play.

One process after another, the next when all are ready again; what asks is ended before what is
asked, and what is asked is started before what asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stack import servers
from stack.child import Child, Part
from stack.data import COUNTS
from stack.layout import KINDS, lay_out

if TYPE_CHECKING:
    from stack.play import Stack

GRACE = 11.0
"""Seconds for a clean end; a service takes ten at most."""
READY_WITHIN = 45.0
MOST = 16
"""Processes of a kind."""


class NotDone(Exception):
    """What is the matter, and the cure."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(f"{what}\n→ {cure}")
        self.what = what
        self.cure = cure


class Change:
    """One change of a stack."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    async def scale(self, counts: Mapping[str, int]) -> None:
        """So many of each kind that is named.  Raises NotDone; then what is new is taken away again."""
        for kind, count in counts.items():
            _check(kind, count)
        stack = self._stack
        before = stack.layout
        kept = {c.part.name: c.part.ports for c in stack.children}
        layout = lay_out(before.wishes.with_counts(counts), stack.data, kept=kept)
        parts = {p.name: p for p in layout.services}
        there = {c.part.name: c for c in stack.children if c.part.stage < servers.FIRST_STAGE}
        if layout.wishes == before.wishes and parts.keys() == there.keys():
            await self._all_ready()
            return
        stack.layout = layout
        added: list[Child] = []
        try:
            for kind in KINDS:
                new = [stack.add(p) for p in layout.services if p.kind == kind and p.name not in there]
                added += new
                await self._ready(new)
        except NotDone:
            stack.layout = before
            for child in reversed(added):
                await self._end(child)
            raise
        gone = [child for name, child in there.items() if name not in parts]
        for child in _in_order(gone, "gateway", "watch", "bots"):
            await self._end(child)
        changed = [child for name, child in there.items() if name in parts and child.part.env != parts[name].env]
        for child in changed:
            await self._renew(child, parts[child.part.name])
        for child in _in_order(gone, "rooms", "engine"):
            await self._end(child)
            await self._all_ready()
        await self._all_ready()

    async def restart(self, kinds: Sequence[str]) -> None:
        """Each process of these kinds, of all services when none is named.  Raises NotDone.

        All services go only while all are ready.  A kind that is named may be the cure of what
        isn't (a NATS whose disk was full): then those that aren't ready go first.
        """
        known = {c.part.kind for c in self._stack.children}
        for kind in kinds:
            if kind not in known:
                raise NotDone(f"there is no {kind} in this stack", f"name one of {', '.join(sorted(known))}")
        waiting = [c.part.name for c in self._stack.children if c.state != "ready"]
        if waiting and not kinds:
            raise NotDone(
                f"{', '.join(waiting)} not ready: another one should not go now", "see why: snatch status; then again"
            )
        for child in sorted(_in_order(self._stack.children, *(kinds or KINDS)), key=lambda c: c.state == "ready"):
            await self._renew(child, child.part)

    async def _renew(self, child: Child, part: Part) -> None:
        self._stack.screen.say(f"{part.name}: restarting it")
        await child.renew(part, GRACE)
        await self._ready([child])
        await self._all_ready()

    async def _end(self, child: Child) -> None:
        await child.stop(GRACE)
        self._stack.forget(child)

    async def _ready(self, children: Sequence[Child]) -> None:
        """Raises NotDone when one does not come up."""

        def settled() -> bool:
            return all(c.state == "ready" for c in children) or any(c.hopeless for c in children)

        await self._stack.until(settled, READY_WITHIN)
        for child in children:
            if child.state != "ready":
                raise NotDone(
                    f"{child.part.name} does not come up ({child.why or child.state})", f"its log: {child.log.path}"
                )

    async def _all_ready(self) -> None:
        if not await self._stack.settled(READY_WITHIN):
            waiting = [f"{c.part.name} ({c.why or c.state})" for c in self._stack.children if c.state != "ready"]
            raise NotDone(f"waited {READY_WITHIN:.0f} s for {', '.join(waiting)}", "see why: snatch status; then again")


def _in_order(children: Sequence[Child], *kinds: str) -> list[Child]:
    return [child for kind in kinds for child in children if child.part.kind == kind]


def _check(kind: str, count: int) -> None:
    if kind in ("nats", "valkey"):
        raise NotDone(
            f"the number of {kind} servers is fixed by the data", "end it; then: snatch play --fresh --nats 3"
        )
    if kind not in COUNTS:
        raise NotDone(f"there is no {kind}", f"name one of {', '.join(COUNTS)}")
    if not 1 <= count <= MOST:
        raise NotDone(f"{count} of {kind} is not 1 to {MOST}", f"name a number from 1 to {MOST}")
