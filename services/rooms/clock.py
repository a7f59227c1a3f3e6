"""The rooms' clock: whatever room is due is settled, by any one of the workers."""

from __future__ import annotations

import asyncio
import contextlib

from servicekit import logs

from .changes import Busy
from .engine import EngineAway
from .lobbies import Lobbies
from .metrics import RoomsMetrics
from .room import BadRoom, LobbyError
from .store import Store, StoreAway

PERIOD = 0.25
"""Seconds between looks; what happens in a lobby by itself is late by at most this."""
BATCH = 100


class Clock:
    """Also keeps the store's health known: it asks Redis all the time."""

    def __init__(self, store: Store, lobbies: Lobbies, metrics: RoomsMetrics) -> None:
        self._store, self._lobbies, self._metrics = store, lobbies, metrics
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="rooms:clock")

    async def stop(self) -> None:
        """What is being settled may end; a room that isn't is due again, for another worker."""
        self._over.set()
        if self._task is not None and not (await asyncio.wait({self._task}, timeout=1))[0]:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1)
        self._task = None

    async def _run(self) -> None:
        while not self._over.is_set():
            try:
                due = await self._store.take_due(BATCH)
                await asyncio.gather(*(self._settle(code) for code in due))
                self._metrics.rooms_counted(await self._store.count())
            except StoreAway:
                due = []
            except Exception:
                self._log.exception("the clock stumbled")
                due = []
            if len(due) < BATCH:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(PERIOD):
                        await self._over.wait()

    async def _settle(self, code: str) -> None:
        try:
            await self._lobbies.settle(code)
        except EngineAway as error:
            # Due again after the store's lease.
            self._log.info("an engine is away, its room waits", room=code, why=str(error))
        except LobbyError:
            # Gone in the meantime.
            return
        except (StoreAway, Busy):
            return
        except BadRoom as error:
            self._log.error("a room can't be read", room=code, why=str(error))
