"""The processes that make deals: started, replaced when they die or hang, ended with this one.

They are spawned, never forked: gRPC runs in this process.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import secrets
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from typing import Any

from games.registry import GAMES
from servicekit import logs
from services.engine.deal_worker import Kind, begin, compute, make
from services.engine.table import AnyGame

STOP_WITHIN = 1.0
PATIENCE = 20.0
"""Seconds after which a worker that says nothing is taken for dead; a deal takes some ms."""


class Dealers:
    """`workers` processes.  `ready`: one has answered."""

    def __init__(self, games: Mapping[str, AnyGame], workers: int) -> None:
        self.workers = workers
        self.ready = False
        self._games = games
        self._pool: ProcessPoolExecutor | None = None
        self._children: list[Any] = []
        self._warm: asyncio.Task[None] | None = None
        self._ended = False
        self._replacing = asyncio.Lock()
        self._log = logs.logger(__name__)

    async def start(self) -> None:
        """Returns before the workers are up: see `ready`."""
        self._open()
        self._warm = asyncio.create_task(self._warm_up(), name="deal-workers-warm-up")

    async def stop(self) -> None:
        """What is being made is given up."""
        self._ended = True
        if self._warm is not None:
            self._warm.cancel()
        children = self._close()
        await asyncio.to_thread(_join, children)

    async def make(self, kind: Kind, count: int) -> list[bytes]:
        """So many checked deals.  Raises what the game's own `deal` raises."""
        seeds = [secrets.randbits(64) for _ in range(count)]
        loop = asyncio.get_running_loop()
        for _ in range(2):
            async with self._replacing:
                pool = self._pool
            if pool is None or self._games[kind.game] is not GAMES.get(kind.game):
                break  # Workers know the games of the registry alone.
            try:
                made = loop.run_in_executor(pool, compute, kind, seeds)
                if await _done_within(made, PATIENCE):
                    return made.result()
                await self._replace(pool, "hangs")
            except BrokenExecutor:
                await self._replace(pool, "died")
            except Exception:
                self._log.exception("a deal failed in its worker")
                break
        game = self._games[kind.game]
        return [await asyncio.to_thread(make, game, kind, seed) for seed in seeds]

    async def _replace(self, broken: ProcessPoolExecutor, what: str) -> None:
        async with self._replacing:
            if self._pool is not broken or self._ended:
                return
            self._log.error(f"a deal worker {what}; another is started")
            self._close()
            await asyncio.to_thread(self._open)  # Starting a process takes longer than a move.
            if self._ended:
                self._close()

    def _open(self) -> None:
        before = multiprocessing.active_children()
        self._pool = ProcessPoolExecutor(
            self.workers, mp_context=multiprocessing.get_context("spawn"), initializer=begin
        )
        for _ in range(self.workers):
            self._pool.submit(os.getpid)
        self._children = [c for c in multiprocessing.active_children() if c not in before]

    def _close(self) -> list[Any]:
        pool, self._pool = self._pool, None
        children, self._children = self._children, []
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in children:
                child.kill()
        return children

    async def _warm_up(self) -> None:
        assert self._pool is not None
        up = asyncio.get_running_loop().run_in_executor(self._pool, os.getpid)
        await _done_within(up, None)
        if up.cancelled() or up.exception() is not None:
            self._log.error("deal workers can't be started; deals will be made in a thread")
        self.ready = True


async def _done_within(made: asyncio.Future[Any], seconds: float | None) -> bool:
    """Whether it was done; `seconds` None: however long it takes.

    It is never cancelled, whoever gives up: a pool with such a future beneath it fails when a worker dies, and tells
    nobody that theirs is lost.
    """
    made.add_done_callback(lambda done: done.cancelled() or done.exception())  # there may be nobody left to ask it
    await asyncio.wait([made], timeout=seconds)
    return made.done()


def _join(children: list[Any]) -> None:
    for child in children:
        child.join(STOP_WITHIN)
