"""A partition's log, trimmed behind its snapshots while the partition is served."""

from __future__ import annotations

import asyncio

from services.engine.log import Log


class Trimming:
    """One purge at a time.  `after`: seconds that what isn't needed any more is left to slow readers."""

    def __init__(self, log: Log, partition: int, after: float) -> None:
        self.reached = 0
        """Records below this sequence are gone."""
        self._log, self._partition, self._after = log, partition, after
        self._oldest = 0
        self._task: asyncio.Task[None] | None = None

    def to(self, oldest: int) -> None:
        """Below `oldest` nothing is needed, as far as records are committed: a table's end that isn't may never be."""
        self._oldest = oldest
        if oldest > self.reached and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run(), name=f"trim:{self._partition}")

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        """What can't be purged now is tried again when more is to go."""
        while (oldest := self._oldest) > self.reached:
            if self._after:
                await asyncio.sleep(self._after)
            if not await self._log.trim(self._partition, oldest):
                return
            self.reached = oldest
