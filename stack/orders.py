"""What is asked of a running stack by another process: a file each in its folder, and SIGUSR1.

The answers are in the stack's state, `answers` by the order's id.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from stack.data import DataFolder

SIGNAL = signal.SIGUSR1
KEPT = 8
"""Answers that a stack's state holds."""
_LOOK = 0.05


class Refused(Exception):
    """The order can't be given or wasn't carried out: what is the matter, and the cure."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(f"{what}\n→ {cure}")
        self.what = what
        self.cure = cure


@dataclass(frozen=True)
class Order:
    """`scale` to the counts, by kind; `restart` the kinds, one process after another."""

    do: Literal["scale", "restart"]
    counts: Mapping[str, int] = field(default_factory=dict)
    kinds: Sequence[str] = ()
    id: str = field(default_factory=lambda: secrets.token_hex(8))


def take(data: DataFolder) -> list[Order]:
    """At the stack: what has been asked since, the oldest first."""
    files = [file for file in data.orders.glob("*.json") if file.is_file()]
    orders = []
    for file in sorted(files, key=lambda file: (file.stat().st_mtime_ns, file.name)):
        with contextlib.suppress(ValueError, TypeError):  # not of our making
            orders.append(Order(**json.loads(file.read_text())))
        file.unlink(missing_ok=True)
    return orders


def give(data: DataFolder | Path, order: Order, timeout: float) -> dict[str, Any]:
    """Ask, and wait until it is done, at most `timeout` seconds; the stack's state then.  Raises Refused."""
    data = data if isinstance(data, DataFolder) else DataFolder(data)
    state = data.state()
    if state is None:
        raise Refused(f"no stack runs on {data.path}", "start one: snatch play; or name its folder: --data DIR")
    if "answers" not in state:
        raise Refused("the stack that runs is of an earlier release", "end it and start it anew: snatch stop")
    _put(data.orders, order)
    try:
        os.kill(state["pid"], SIGNAL)
    except ProcessLookupError:
        raise _ended(data) from None
    except PermissionError:
        raise Refused(f"process {state['pid']} is another user's", "ask as that user") from None
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        state = data.state()
        if state is None:
            raise _ended(data)
        answer = state["answers"].get(order.id)
        if answer is not None and answer["done"]:
            if answer["why"]:
                raise Refused(answer["why"], answer["cure"])
            return state
        time.sleep(_LOOK)
    raise Refused(f"not done after {timeout:.0f} s, still under way", "look how it goes: snatch status")


def _put(folder: Path, order: Order) -> None:
    folder.mkdir(exist_ok=True)
    draft = folder / f"{order.id}.new"
    draft.write_text(json.dumps(asdict(order)))
    draft.replace(folder / f"{order.id}.json")


def _ended(data: DataFolder) -> Refused:
    return Refused(f"the stack on {data.path} has ended", "start it: snatch play")
