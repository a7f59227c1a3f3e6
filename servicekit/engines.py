"""The engines, as gateways, bots, rooms and watch ask them: by room, wherever it is played.

Questions (`engine_calls`) are asked again until they are answered; commands
(`engine_commands`) go out in batches and are sent again until they are.
"""

from __future__ import annotations

import asyncio
import secrets

import msgspec
import nats.errors
from nats.aio.client import Client

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import rpc
from servicekit.engine_calls import EngineAway, EngineCalls, EngineRefusal
from servicekit.engine_commands import Counts, EngineCommands, Talker
from servicekit.engine_link import Links
from servicekit.placement import Placement
from wire import subjects
from wire.news import CallerBeat

BEAT = 1.0
"""Seconds between beats of a process that has players attached."""

__all__ = ["Counts", "EngineAway", "EngineRefusal", "Engines", "Talker"]


class Engines:
    """Start it after NATS is connected, stop it before NATS is closed.  `links`: other ways to engines than gRPC."""

    def __init__(self, nc: Client, name: str, *, timeout: float = 5.0, links: Links | None = None) -> None:
        self.timeout = timeout
        self.caller = f"{name[:40]}-{secrets.token_hex(4)}"
        """Under this name players are attached, until it is silent for long."""
        self._nc = nc
        self.placement = Placement(nc, self._on_placement)
        self._links = links or Links()
        self._calls = EngineCalls(self.placement, self._links)
        self._commands = EngineCommands(self.placement, self._links)
        self._links.replied, self._links.broke = self._commands.on_reply, self._commands.on_broken
        self._beating: asyncio.Task[None] | None = None

    @property
    def counts(self) -> Counts:
        return self._commands.counts

    async def start(self) -> None:
        await self.placement.start()
        self._commands.start()

    async def stop(self) -> None:
        """What is queued goes out first, if an engine takes it within a moment."""
        await self._commands.stop()
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)
            self._beating = None
            await self._beat(gone=True)
        await self._links.close()
        await self.placement.stop()

    # ---- questions ----

    async def open_table(self, request: pb.OpenRequest, timeout: float | None = None) -> pb.OpenResponse:
        """Raises EngineRefusal (ALREADY_EXISTS: another table is live, its id is the detail) or EngineAway."""
        return await self._calls.ask(
            request.room, lambda link, t: link.stub.Open(request, timeout=t), timeout or self.timeout
        )

    async def close_table(self, request: pb.CloseRequest, timeout: float | None = None) -> pb.CloseResponse:
        """Raises EngineRefusal or EngineAway."""
        return await self._calls.ask(
            request.room, lambda link, t: link.stub.Close(request, timeout=t), timeout or self.timeout
        )

    async def attach(self, request: pb.AttachRequest, timeout: float | None = None) -> pb.AttachResponse:
        """Asked again, it grows the session again: only the last answer counts.  Raises EngineRefusal or EngineAway."""
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat_on(), name="callers-beat")
        return await self._calls.ask(
            request.room,
            lambda link, t: link.stub.Attach(request, timeout=t, metadata=((rpc.CALLER, self.caller),)),
            timeout or self.timeout,
        )

    async def view(self, request: pb.ViewRequest, timeout: float | None = None) -> pb.ViewResponse:
        """Raises EngineRefusal (`no_table`, `taken_over`) or EngineAway."""
        return await self._calls.ask(
            request.room, lambda link, t: link.stub.View(request, timeout=t), timeout or self.timeout
        )

    async def tables(self, timeout: float = 2.0) -> list[pb.TableSummary]:
        """Every live table of every engine that answers."""
        return await self._calls.tables(timeout)

    async def silent(self, timeout: float = 1.0) -> list[str]:
        """The owners of partitions that don't answer a call just now."""
        return await self._calls.silent(timeout)

    # ---- commands ----

    def register(self, talker: Talker) -> None:
        """Replies to (room, seat, session) go to this talker from now on."""
        self._commands.register(talker)

    def unregister(self, talker: Talker) -> None:
        self._commands.unregister(talker)

    def send(self, talker: Talker, command: pb.Command) -> None:
        """Send a command that is already the last of the talker's `outstanding`."""
        self._commands.send(talker, command)

    def stall(self, talker: Talker) -> None:
        """Send all of the talker's outstanding commands again as soon as there is an owner to send to."""
        self._commands.stall(talker)

    def detach(self, room: str, seat: int, session: int) -> None:
        """Tell the owner that a session's socket is gone; told again for a while if the owner changes."""
        self._commands.detach(room, seat, session)

    # ---- what happens ----

    def _on_placement(self, partition: int) -> None:
        self._calls.on_placement(partition)
        self._commands.on_placement(partition)

    async def _beat_on(self) -> None:
        while True:
            await self._beat()
            await asyncio.sleep(BEAT)

    async def _beat(self, *, gone: bool = False) -> None:
        if not self._nc.is_connected:
            return
        try:
            await self._nc.publish(subjects.CALLERS_BEAT, msgspec.json.encode(CallerBeat(self.caller, gone)))
        except nats.errors.Error:
            return
