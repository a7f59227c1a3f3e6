"""The engine, put together: the only place that builds things."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import grpc
from prometheus_client import CollectorRegistry
from starlette.routing import Route

from games.registry import GAMES
from generated.snatch.engine.v1.engine_pb2_grpc import add_EngineServiceServicer_to_server
from servicekit import bus, logs, rpc, tracing
from servicekit.ending import in_order
from services.engine import reclaim
from services.engine.board import Lease
from services.engine.command_door import CommandDoor
from services.engine.dealing import Deals
from services.engine.hall import Hall
from services.engine.load import Load, Strain
from services.engine.log_size import LogSize, LogSizes
from services.engine.metrics import EngineMetrics
from services.engine.owner import MakeOwner, Owner
from services.engine.service import EngineService
from services.engine.settings import EngineSettings
from services.engine.stream import Asker, Stream, StreamAway
from services.engine.table import AnyGame
from services.engine.tables_seen import TablesLook
from wire import subjects

if TYPE_CHECKING:
    from servicekit.tracing_spans import Traces

RETRY = 0.25


class Engine:
    """Tables being played: one writer each.  Serves the partitions that fall to it.

    `deals` makes them; a test may give one whose decks it chose.  `traces`: others than the settings ask for.
    """

    def __init__(
        self,
        settings: EngineSettings,
        games: Mapping[str, AnyGame] = GAMES,
        deals: Deals | None = None,
        traces: Traces | None = None,
    ) -> None:
        self.settings = settings
        self._traces = traces
        self.metrics = EngineMetrics()
        self.registry: CollectorRegistry = self.metrics.registry
        self.port = 0
        self.hall: Hall | None = None
        self._games = games
        self._deals = (
            deals
            if deals is not None
            else Deals(games, settings.deal_workers, self.metrics.dealt, checked=self.metrics.deals_checked)
        )
        self._bus: bus.Bus | None = None
        self._asker: Asker | None = None
        self._server: grpc.aio.Server | None = None
        self._commands: CommandDoor | None = None
        self._strain = Strain(settings.engine_busy)
        self._load: Load | None = None
        self.sizes: LogSizes | None = None
        self._log = logs.logger(__name__)

    async def start(self) -> None:
        """Listen, then claim.  Waits for NATS, and for set-up to have made the log."""
        self._traces = self._traces or tracing.traces("engine", self.settings)
        await self._deals.start()
        self._bus = await bus.connect(
            self.settings.nats_url,
            f"engine-{self.settings.instance}",
            on_disconnect=self._on_disconnect,
            credentials=self.settings.nats_credentials,
        )
        self._asker = Asker(self._bus)
        await self._asker.start()
        self._server = rpc.server()
        self.port = self._server.add_insecure_port(f"{self.settings.engine_host}:{self.settings.engine_port}")
        lease = Lease(0, self._advertised(), self.settings.build, secrets.token_hex(4))
        owner, service_of = self._makers()
        self.hall = Hall(
            self._bus,
            self._asker,
            self._games,
            self._deals,
            self.metrics,
            self.settings.instance,
            lease,
            trim_after=self.settings.trim_after,
            owner=owner,
        )
        self._watch(self.hall)
        service = service_of(self.hall, self.metrics)
        add_EngineServiceServicer_to_server(service, self._server)
        self._commands = CommandDoor(service.take)
        await self._commands.start(self.settings.engine_host, self.settings.engine_commands_port)
        service.commands_port = self._commands.port
        await self._server.start()
        self._bus.reconnect_listeners += [self.hall.beacons.all_due, self.hall.keeper.news_missed]
        await self._enter(self.hall)
        beacons, most = self.hall.beacons, self.settings.engine_tables
        self._load = Load(self._bus, self.settings.instance, lambda: len(beacons), most, self._strain)
        self._load.start()
        self.sizes = LogSizes(Stream(self._asker, subjects.LOG_STREAM).info)
        self.sizes.start()

    def _makers(self) -> tuple[MakeOwner, Callable[[Hall, EngineMetrics], EngineService]]:
        """Of partitions' owners, and of what calls come to."""
        if self._traces is None:
            return Owner, EngineService
        from services.engine.tracing import TracedOwner, TracedService  # OpenTelemetry is loaded only now

        return partial(TracedOwner, self._traces), partial(TracedService, self._traces)

    async def _enter(self, hall: Hall) -> None:
        told = False
        while True:
            try:
                await hall.start()
                return
            except StreamAway as error:
                if not told:
                    self._log.warning("waiting for the log (python -m services.engine.setup makes it)", why=str(error))
                    told = True
                await asyncio.sleep(RETRY)

    def operations(self) -> Sequence[Route]:
        """What the operations port has beside what every service's has: see `reclaim`."""
        return reclaim.routes(lambda: self.hall)

    async def stop(self) -> None:
        """Stop taking, resolve, hand over, end."""
        hall, server, asker, nc = self.hall, self._server, self._asker, self._bus
        commands, load = self._commands, self._load
        await in_order(
            ("load", load.stop) if load is not None else None,
            ("log's size", self.sizes.stop) if self.sizes is not None else None,
            ("partitions", hall.stop) if hall is not None else None,
            ("commands", commands.stop) if commands is not None else None,
            ("gRPC", lambda: server.stop(0.2)) if server is not None else None,
            ("deals", self._deals.stop),
            ("asker", asker.stop) if asker is not None else None,
            ("NATS", lambda: asyncio.wait_for(nc.close(), 1)) if nc is not None else None,
            ("traces", self._traces.stop) if self._traces is not None else None,
        )

    async def ready(self) -> str | None:
        """None when NATS is there, deals can be made, and the partitions are served."""
        if self._bus is None or self.hall is None or not self._bus.is_connected:
            return "NATS is away"
        if not self._deals.ready:
            return "the deal workers are starting"
        return self.hall.missing()

    async def _on_disconnect(self) -> None:
        if self._asker is not None:
            self._asker.lost()

    def _advertised(self) -> str:
        told = self.settings.engine_advertise
        if not told:
            return f"{self.settings.engine_host}:{self.port}"
        return told if ":" in told else f"{told}:{self.port}"

    def _log_size(self) -> LogSize:
        return self.sizes.last if self.sizes is not None else LogSize()

    def _watch(self, hall: Hall) -> None:
        self.metrics.watch(
            partitions_open=lambda: len(hall.owners()),
            partitions_halted=lambda: len(hall.halted()),
            tables_capacity=lambda: self.settings.engine_tables,
            busy_ratio=lambda: self._strain.busy,
            strained=lambda: self._strain.strained,
            queue_depth=lambda: sum(o.depth for o in hall.owners()),
            append_waiting_seconds=hall.log.waited,
            deals_ready=lambda: self._deals.stocked,
            deals_awaited=lambda: self._deals.waiting,
            peers_alive=lambda: len(hall.keeper.alive()),
            log_bytes=lambda: self._log_size().bytes,
            log_limit_bytes=lambda: self._log_size().bytes_most,
            log_records=lambda: self._log_size().records,
            log_copies=lambda: self._log_size().copies,
            log_copies_wanted=lambda: self._log_size().copies_wanted,
        )
        if self._bus is not None:
            self.metrics.ties.watch_nats(self._bus)
        self.metrics.watch_epochs(lambda: {str(o.number): o.partition.epoch for o in hall.owners()})
        look, loop = TablesLook(), asyncio.get_running_loop()
        self.metrics.watch_tables(lambda: look.look((o.ledger for o in hall.owners()), loop.time()))
