"""What befalls the stack while it is under load: parts killed or stopped, at times of the hold."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simulate.faults import Fault, Faulter, NoParts
from simulate.vigil import Stack

STOPPED_FOR = 2.0
"""Seconds that a part stays stopped."""
PATIENCE = 30.0

_WISH = re.compile(r"(?P<kind>[a-z]+)(:(?P<fault>KILL|STOP|TERM))?@(?P<at>[0-9.]+)s?")


class BadTrouble(ValueError):
    """Not understood, in words."""


@dataclass(frozen=True)
class Trouble:
    """`fault` for one part of a kind, so many seconds after the hold began."""

    kind: str
    fault: Fault
    at: float


def trouble(words: str) -> Trouble:
    """`engine@10s`, `gateway:STOP@5`.  Raises BadTrouble.

    >>> trouble("engine@10s")
    Trouble(kind='engine', fault='KILL', at=10.0)
    >>> trouble("nats:STOP@2.5").fault
    'STOP'
    """
    match = _WISH.fullmatch(words.strip())
    if match is None:
        raise BadTrouble(f"{words!r}: say which kind and when, as engine@10s or gateway:STOP@5s")
    fault: Fault = match["fault"] or "KILL"  # type: ignore[assignment]
    return Trouble(match["kind"], fault, float(match["at"]))


async def befall(
    troubles: Sequence[Trouble], start: float, state: Callable[[], Stack | None], mark: Callable[[str, str], None]
) -> None:
    """All of them at their times; `start` is when the hold begins (monotonic).  Nothing stays stopped."""
    await asyncio.gather(*(_one(each, start, state, mark) for each in troubles))


async def _one(
    each: Trouble, start: float, state: Callable[[], Stack | None], mark: Callable[[str, str], None]
) -> None:
    faulter = Faulter(state, each.kind)
    await asyncio.sleep(max(0.0, start + each.at - time.monotonic()))
    verb = {"KILL": "kill", "STOP": "stop", "TERM": "end"}[each.fault]
    mark("stop" if each.fault == "STOP" else "kill", f"{verb} one {each.kind}")
    try:
        hit = await faulter.hit(each.fault, STOPPED_FOR, PATIENCE)
    except NoParts as error:
        mark("note", f"not done: {error}")
        return
    assert hit.ready is not None
    mark("note", f"{hit.part} is ready again, {hit.ready - hit.at:.1f} s later")
