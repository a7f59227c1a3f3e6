"""What a deal worker runs.  Imports little: each worker is a process, and keeps what it imports."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from multiprocessing.connection import wait
from random import Random
from typing import Any, NamedTuple

import msgspec

from games.contract import Game

NICENESS = 5
"""A deal may wait, the moves of those who play may not."""


class Kind(NamedTuple):
    """Deals that can stand for each other.  `options`: those of the game's that a deal depends on, as JSON."""

    game: str
    seats: tuple[int, ...]
    options: str


def compute(kind: Kind, seeds: Sequence[int]) -> list[bytes]:
    """A checked deal for each seed, as the event's bytes; runs in a worker."""
    from games.registry import GAMES

    return [make(GAMES[kind.game], kind, seed) for seed in seeds]


def make(game: Game[Any, Any, Any, Any, Any, Any], kind: Kind, seed: int) -> bytes:
    """One checked deal as the event's bytes; the same seed, the same deal."""
    chosen: Any = msgspec.json.decode(kind.options, type=game.spec.options_type)
    return msgspec.msgpack.encode(game.deal(kind.seats, chosen, Random(seed)))


def begin() -> None:
    """A worker's first act: leave Ctrl-C to the parent, and never outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel
        threading.Thread(target=lambda: (wait([sentinel]), os._exit(0)), daemon=True).start()
    import games.registry  # noqa: F401 - the first deal must not wait for it
