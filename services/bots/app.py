"""Bots, wired: the only place that builds its parts."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

import msgspec
import nats.errors

from servicekit import bus, logs, tracing
from servicekit.ending import in_order
from servicekit.engines import Engines
from servicekit.feed import Feeds
from services.bots.metrics import BotsMetrics
from services.bots.seats import Seats
from services.bots.settings import BotsSettings
from wire import subjects
from wire.news import WorkerBeat

if TYPE_CHECKING:
    from servicekit.tracing_spans import Traces

BEAT = 0.5
"""Seconds between beats; engines give a worker's seats away after 1.5 s of silence."""


class Bots:
    """One worker of any number: it drives the seats it got hold of, others drive the rest."""

    def __init__(self, settings: BotsSettings, traces: Traces | None = None) -> None:
        """`traces`: others than the settings ask for."""
        self._settings = settings
        self._traces = traces
        self.worker = f"{settings.instance[:40]}-{secrets.token_hex(4)}"
        """Of this very process: one that is started again under its instance's name drives none of its seats."""
        self._metrics = BotsMetrics()
        self.registry = self._metrics.registry
        self._nc: bus.Bus | None = None
        self._engines: Engines | None = None
        self._feeds: Feeds | None = None
        self.seats: Seats | None = None
        self._beating: asyncio.Task[None] | None = None
        self._log = logs.logger(__name__)

    async def start(self) -> None:
        settings = self._settings
        name = f"bots {settings.instance}"
        self._traces = self._traces or tracing.traces("bots", settings)
        self._nc = await bus.connect(settings.nats_url, name, credentials=settings.nats_credentials)
        tracing.listen(self._nc, self._traces)
        self._engines = Engines(self._nc, name, timeout=settings.engine_patience)
        await self._engines.start()
        self._metrics.ties.watch_nats(self._nc)
        self._metrics.ties.watch_calls(engine=self._engines.call_counts)
        self._feeds = Feeds(self._nc, self._engines)
        await self._feeds.start()
        self.seats = Seats(self._nc, self._feeds, self.worker, settings.bots_seats, self._metrics)
        self._beating = asyncio.create_task(self._beat(), name="bots:beat")
        await self.seats.start()

    async def stop(self) -> None:
        seats = self.seats
        await in_order(
            ("beat", self._end_beat),
            ("seats", seats.stop) if seats is not None else None,
            # At once, so that others take the seats while this worker still closes.
            ("last beat", lambda: self._say(gone=True)) if seats is not None else None,
            ("feeds", self._feeds.stop) if self._feeds is not None else None,
            ("engines", self._engines.stop) if self._engines is not None else None,
            ("NATS", self._nc.close) if self._nc is not None else None,
            ("traces", self._traces.stop) if self._traces is not None else None,
        )

    async def _end_beat(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)

    async def ready(self) -> str | None:
        if self._nc is None or not self._nc.is_connected:
            return "NATS is away"
        if self.seats is None:
            return "not started yet"
        return None

    async def _beat(self) -> None:
        while True:
            await self._say(gone=False)
            await asyncio.sleep(BEAT)

    async def _say(self, gone: bool) -> None:
        if self._nc is None or self._nc.is_closed:
            return
        free = self.seats.free if self.seats is not None and not gone else None
        beat = WorkerBeat(self.worker, gone, free)
        try:
            await self._nc.publish(subjects.BOTS_BEAT, msgspec.json.encode(beat))
        except nats.errors.Error as error:
            self._log.warning("a beat could not be sent", why=repr(error))
