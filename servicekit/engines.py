"""The engines, as gateways, bots, rooms and watch ask them: by room, wherever it is played.

Questions (`engine_calls`) are asked again until they are answered; commands
(`engine_commands`) go out in batches and are sent again until they are.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
import zlib

import msgspec
import nats.errors
from nats.aio.client import Client

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import rpc
from servicekit.call_counts import CallCounts
from servicekit.engine_calls import EngineAway, EngineCalls, EngineRefusal, Listing
from servicekit.engine_commands import Counts, EngineCommands, Talker
from servicekit.engine_link import EngineLink, Links
from servicekit.placement import Placement
from wire import subjects
from wire.news import CallerBeat, EngineSuspected

BEAT = 1.0
"""Seconds between beats of a process that has players attached."""
SUSPECT_AGAIN = 0.5
"""Seconds between hints about the same engine."""

__all__ = ["Counts", "EngineAway", "EngineRefusal", "Engines", "Listing", "Talker"]


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
        self._links.replied, self._links.broke = self._commands.on_reply, self._on_broken
        self._beating: asyncio.Task[None] | None = None
        self._attempts = itertools.count(1)
        self._suspected: dict[str, float] = {}
        self._hints: set[asyncio.Task[None]] = set()

    @property
    def counts(self) -> Counts:
        return self._commands.counts

    @property
    def call_counts(self) -> CallCounts:
        return self._links.counts

    def pending(self) -> int:
        """Commands that wait for their answers now."""
        return self._commands.pending()

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
        await asyncio.gather(*self._hints, return_exceptions=True)
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

    async def listing(self, timeout: float = 2.0) -> Listing:
        """Every live table of every engine that answers, and whether that is all there are."""
        return await self._calls.listing(timeout)

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
        """Tell the owner that a session's socket is gone, until an owner has confirmed it."""
        self._commands.detach(room, seat, session)

    def new_attempt(self) -> int:
        """Names a try to attach: of this process and no other, as nearly as 32 bits can."""
        return zlib.crc32(f"{self.caller}/{next(self._attempts)}".encode()) or 1

    def detach_attempt(self, room: str, attempt: int) -> None:
        """The same for an Attach whose answer never came."""
        self._commands.detach_attempt(room, attempt)

    # ---- what happens ----

    def _on_broken(self, link: EngineLink) -> None:
        self._commands.on_broken(link)
        now = asyncio.get_running_loop().time()
        if now - self._suspected.get(link.address, -SUSPECT_AGAIN) >= SUSPECT_AGAIN:
            self._suspected = {a: at for a, at in self._suspected.items() if now - at < SUSPECT_AGAIN}
            self._suspected[link.address] = now
            hint = asyncio.create_task(self._suspect(link.address), name="suspect")
            self._hints.add(hint)
            hint.add_done_callback(self._hints.discard)

    async def _suspect(self, address: str) -> None:
        """Its peers find out whether it is gone; nothing rests on this but how soon they do."""
        await self._say(subjects.ENGINE_SUSPECTED, msgspec.json.encode(EngineSuspected(address)))

    def _on_placement(self, partition: int) -> None:
        self._calls.on_placement(partition)
        self._commands.on_placement(partition)

    async def _beat_on(self) -> None:
        while True:
            await self._beat()
            await asyncio.sleep(BEAT)

    async def _beat(self, *, gone: bool = False) -> None:
        await self._say(subjects.CALLERS_BEAT, msgspec.json.encode(CallerBeat(self.caller, gone)))

    async def _say(self, subject: str, data: bytes) -> None:
        if not self._nc.is_connected:
            return
        try:
            await self._nc.publish(subject, data)
        except nats.errors.Error:
            return
