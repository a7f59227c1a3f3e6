"""A partition's tables from its log, up to the fence: read, checked and taken in until it is whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from servicekit import logs
from services.engine import records as r
from services.engine.ledger import Inconsistent, Ledger
from services.engine.log import Log, Trimmed
from services.engine.stream import StreamAway
from services.engine.table import AnyGame

RETRY = 0.1
TRIMMED_TRIES = 50


class Replay:
    """`lose`: an operator gives up what can't be read.  `wanted` is asked before each further try.

    `needed`: the oldest record that tells of a table; one who gives up something may want older ones too.
    """

    def __init__(
        self,
        log: Log,
        games: Mapping[str, AnyGame],
        partition: int,
        *,
        lose: bool,
        wanted: Callable[[], bool],
        needed: int = 0,
    ) -> None:
        self._log, self._games, self._partition = log, games, partition
        self._lose, self._wanted = lose, wanted
        self._needed = 0 if lose else needed
        self._say = logs.logger(__name__).bind(partition=partition)
        self._ledger = Ledger(games)

    async def run(self, fence: int) -> Ledger | None:
        """None when it is not wanted any more.  Raises Inconsistent, or UnknownVersion."""
        trimmed = 0
        while True:
            try:
                return await self._once(fence)
            except Trimmed:
                trimmed += 1
                if trimmed == TRIMMED_TRIES:
                    raise Inconsistent("records are missing, and nobody trims") from None
                self._say.info("records were trimmed while they were read: once more")
            except StreamAway as error:
                self._say.warning("the log can't be read", error=str(error))
            except r.UnknownVersion:
                raise
            except Exception as error:
                raise Inconsistent(f"the log can't be replayed: {error!r}") from error
            if not self._wanted():
                return None
            await asyncio.sleep(RETRY)

    async def _once(self, fence: int) -> Ledger:
        self._ledger = ledger = Ledger(self._games)
        gap = self._gap if self._lose else None
        async for sequence, record in self._log.read(self._partition, fence, gap, self._needed):
            try:
                ledger.replay(record, sequence)
            except r.UnknownVersion:
                raise
            except Exception as error:
                if not self._lose:
                    raise
                self._gap(f"record {sequence} can't be replayed: {error!r}")
        if self._lose:
            ledger.give_up_orphans()
        ledger.replayed()
        return ledger

    def _gap(self, why: str) -> None:
        self._say.error("passed over in the log, as an operator wished", why=why)
        self._ledger.gap()
