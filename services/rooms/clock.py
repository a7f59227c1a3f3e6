"""The rooms' clock: whatever room is due is settled, by any one of the workers."""

from __future__ import annotations

import asyncio
import contextlib

from servicekit import logs
from services.rooms.changes import Busy
from services.rooms.engine import EngineAway
from services.rooms.lobbies import Lobbies
from services.rooms.metrics import RoomsMetrics
from services.rooms.room import BadRoom, LobbyError
from services.rooms.store import Store, StoreAway

PERIOD = 0.25
"""Seconds between looks; what happens in a lobby by itself is late by at most this."""
AT_ONCE = 100
"""Rooms that one worker settles at the same time: one whose engine is away delays no other."""


class Clock:
    """Also keeps the store's health known: it asks Redis all the time."""

    def __init__(self, store: Store, lobbies: Lobbies, metrics: RoomsMetrics) -> None:
        self._store, self._lobbies, self._metrics = store, lobbies, metrics
        self._task: asyncio.Task[None] | None = None
        self._settling: dict[str, asyncio.Task[None]] = {}
        self._over = asyncio.Event()
        self._log = logs.logger(__name__)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="rooms:clock")

    async def stop(self) -> None:
        """What is being settled may end; a room that isn't is due again, for another worker."""
        self._over.set()
        running = {*self._settling.values(), *([self._task] if self._task is not None else ())}
        if running:
            _, running = await asyncio.wait(running, timeout=1)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=1)
        self._task = None

    async def _run(self) -> None:
        while not self._over.is_set():
            more = False
            try:
                await self._store.probe()
                free = AT_ONCE - len(self._settling)
                due = await self._store.take_due(free)
                if due.stood:
                    self._log.warning("lobbies' time stood still", seconds=round(due.stood / 1000, 1))
                for code in due.codes:
                    self._begin(code)
                more = len(due.codes) == free
                self._metrics.rooms_counted(await self._store.count())
            except StoreAway:
                pass
            except Exception:
                self._log.exception("the clock stumbled")
            if more:  # may be due: as soon as there is room
                if self._settling:
                    await asyncio.wait(self._settling.values(), timeout=PERIOD, return_when=asyncio.FIRST_COMPLETED)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PERIOD):
                    await self._over.wait()

    def _begin(self, code: str) -> None:
        if code in self._settling:  # for longer than the store's lease: due again already
            return
        task = self._settling[code] = asyncio.create_task(self._settle(code), name=f"rooms:settle:{code}")
        task.add_done_callback(lambda _: self._settling.pop(code, None))

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
        except Exception:
            self._log.exception("a room could not be settled", room=code)
