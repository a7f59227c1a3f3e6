"""Deals, computed off the event loop in processes of their own, ahead of time when they can be foreseen.

A result is only ever an offer: it becomes part of a table by a record, if that table still
waits for just this deal.  Workers are spawned, never forked (gRPC runs in this process),
and end with it, even when it is killed.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import secrets
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing.connection import wait
from random import Random
from typing import Any, NamedTuple

import msgspec

from servicekit import logs
from services.engine.table import AnyGame, Table

AGAIN = 1.0
STOP_WITHIN = 1.0
NICENESS = 5
"""Of deal workers: a deal may wait, the moves of those who play may not."""


class Key(NamedTuple):
    """Which deal of which table; another game's seats or options are another deal."""

    room: str
    table: str
    asked: int
    game: str
    seats: tuple[int, ...]
    options: str


class _Deal:
    """`ready` None: foreseen only; those wait until no table does."""

    __slots__ = ("asked_at", "event", "ready", "task")

    def __init__(self, asked_at: float) -> None:
        self.asked_at = asked_at
        self.event: bytes | None = None
        self.ready: Callable[[bytes], None] | None = None
        self.task: asyncio.Task[None] | None = None


def compute(game: str, seats: tuple[int, ...], options: str, seed: int) -> bytes:
    """One checked deal as the event's bytes; runs in a worker."""
    from games.registry import GAMES

    return make(GAMES[game], seats, options, seed)


def make(game: AnyGame, seats: tuple[int, ...], options: str, seed: int) -> bytes:
    """One checked deal as the event's bytes; the same seed, the same deal."""
    chosen: Any = msgspec.json.decode(options, type=game.spec.options_type)
    return msgspec.msgpack.encode(game.deal(seats, chosen, Random(seed)))


def _begin() -> None:
    """A worker's first act: leave Ctrl-C to the parent, and never outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel
        threading.Thread(target=lambda: (wait([sentinel]), os._exit(0)), daemon=True).start()
    import games.registry  # noqa: F401 - the first deal must not wait for it


class Deals:
    """`taken` hears how long a deal took in seconds, and whether it was foreseen."""

    def __init__(self, games: Mapping[str, AnyGame], workers: int, taken: Callable[[float, bool], None]) -> None:
        self._games, self._workers, self._taken = games, workers, taken
        self._pool: ProcessPoolExecutor | None = None
        self._children: list[Any] = []
        self._deals: dict[Key, _Deal] = {}
        self._warm: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__)
        self.ready = False
        """A worker has answered."""

    async def start(self) -> None:
        self._open_pool()
        self._warm = asyncio.create_task(self._warm_up(), name="deals-warm-up")

    async def stop(self) -> None:
        """Running deals are given up."""
        self._workers = 0
        for key in list(self._deals):
            self._drop(key)
        if self._warm is not None:
            self._warm.cancel()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in self._children:
                child.terminate()
            for child in self._children:
                await asyncio.to_thread(child.join, STOP_WITHIN)
                if child.is_alive():
                    child.kill()

    def look(self, table: Table, ready: Callable[[int, bytes], None]) -> None:
        """Ask for what this table waits for, or will; `ready(asked, event)` when it waits for it."""
        s = table.state
        if s.phase == "dealing":
            asked = s.asked
            self._want(self._key(table, asked), lambda event: ready(asked, event))
        elif s.phase == "scores" and not s.over:
            self._want(self._key(table, s.asked + 1), None)

    def forget(self, room: str) -> None:
        """The room's table is gone from here."""
        for key in [k for k in self._deals if k.room == room]:
            self._drop(key)

    def _key(self, table: Table, asked: int) -> Key:
        s = table.state
        options = msgspec.json.encode(s.options).decode()
        return Key(s.room, s.table, asked, s.game, tuple(table.playing()), options)

    def _want(self, key: Key, ready: Callable[[bytes], None] | None) -> None:
        loop = asyncio.get_running_loop()
        deal = self._deals.get(key)
        if deal is None:
            for old in [k for k in self._deals if k.room == key.room]:
                self._drop(old)
            deal = self._deals[key] = _Deal(loop.time())
        if ready is not None:
            deal.ready = ready
            if deal.event is not None:
                loop.call_soon(ready, deal.event)
        self._next()

    def _drop(self, key: Key) -> None:
        deal = self._deals.pop(key)
        if deal.task is not None:
            deal.task.cancel()

    def _next(self) -> None:
        """Let idle workers begin, with what a table waits for before what one will."""
        idle = self._workers - sum(d.task is not None for d in self._deals.values())
        waiting = [(key, d) for key, d in self._deals.items() if d.task is None and d.event is None]
        waiting.sort(key=lambda item: (item[1].ready is None, item[1].asked_at))
        for key, deal in waiting[: max(0, idle)]:
            deal.task = asyncio.create_task(self._run(key, deal), name="deal")

    async def _run(self, key: Key, deal: _Deal) -> None:
        foreseen = deal.ready is None
        try:
            while deal.event is None:
                try:
                    deal.event = await self._compute(key)
                except Exception:
                    self._log.exception("no deal could be made; once more", room=key.room)
                    await asyncio.sleep(AGAIN)
            self._taken(asyncio.get_running_loop().time() - deal.asked_at, foreseen)
            if deal.ready is not None:
                deal.ready(deal.event)
        finally:
            deal.task = None
            self._next()

    async def _compute(self, key: Key) -> bytes:
        loop = asyncio.get_running_loop()
        seed = secrets.randbits(64)
        for _ in range(2):
            if self._pool is None:
                break
            try:
                return await loop.run_in_executor(self._pool, compute, key.game, key.seats, key.options, seed)
            except BrokenExecutor:
                self._log.error("a deal worker died; another is started")
                self._open_pool()
            except Exception:
                self._log.exception("a deal failed in its worker")
                break
        return await asyncio.to_thread(make, self._games[key.game], key.seats, key.options, seed)

    def _open_pool(self) -> None:
        before = multiprocessing.active_children()
        self._pool = ProcessPoolExecutor(
            self._workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin
        )
        for _ in range(self._workers):
            self._pool.submit(os.getpid)
        self._children = [c for c in multiprocessing.active_children() if c not in before]

    async def _warm_up(self) -> None:
        assert self._pool is not None
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, os.getpid)
        except BrokenExecutor:
            self._log.error("deal workers can't be started; deals will be made in a thread")
        self.ready = True
