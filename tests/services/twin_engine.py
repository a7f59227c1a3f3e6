"""An engine as gateways and watch see one: it decides ids in order and says so in frames, and can be made to fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import msgspec
from nats.aio.client import Client
from nats.js.api import KeyValueConfig, RePublish
from nats.js.errors import BucketNotFoundError

from generated.snatch.engine.v1 import engine_pb2 as pb
from generated.snatch.engine.v1 import engine_pb2_grpc
from servicekit import rpc
from wire import client_out, frames, subjects
from wire.places import PARTITIONS, partition_of


@dataclass
class TwinSeat:
    number: int
    player: str
    session: int = 0
    tab: int = 0
    answered: int = 0
    frames: int = 0
    attached: bool = False


@dataclass
class TwinTable:
    room: str
    table: str
    game: str = "twin"
    seats: dict[int, TwinSeat] = field(default_factory=dict)
    frames: int = 0
    seq: int = 0
    decided: list[tuple[int, int, bytes]] = field(default_factory=list)
    """(seat, id, message) in the order they were decided."""

    @property
    def ids(self) -> list[int]:
        """Of the moves, in the order they were decided."""
        return [id for _, id, _ in self.decided]


class TwinTables:
    """What the log would hold: shared by the engines of a test, so that one can go on where another stopped."""

    def __init__(self) -> None:
        self.live: dict[str, TwinTable] = {}

    def open(self, room: str, table: str = "t1") -> TwinTable:
        self.live[room] = TwinTable(room, table)
        return self.live[room]


async def bucket(nc: Client) -> Any:
    """The placement bucket, made as the engine's set-up makes it."""
    js = nc.jetstream()
    try:
        return await js.key_value(subjects.OWN_BUCKET)
    except BucketNotFoundError:
        return await js.create_key_value(
            KeyValueConfig(
                bucket=subjects.OWN_BUCKET,
                history=1,
                republish=RePublish(src=f"$KV.{subjects.OWN_BUCKET}.>", dest=subjects.OWN_REPUBLISH),
            )
        )


class TwinEngine(engine_pb2_grpc.EngineServiceServicer):
    def __init__(self, nc: Client, tables: TwinTables, name: str = "e1") -> None:
        self.nc = nc
        self.tables = tables
        self.name = name
        self.epoch = 1
        self.addr = ""
        self.owns: set[int] = set()
        self.heard = 0
        """Commands that came, swallowed ones too."""
        self.commands: list[pb.Command] = []
        """Every move that came, decided or not."""
        self.detached: list[tuple[str, int, int]] = []
        self.attempts: list[int] = []
        self.attempts_undone: list[int] = []
        self.views = 0
        self.attaches = 0
        self.lose_frames = 0
        """So many frames to come are numbered and never published."""
        self.deaf = False
        """Commands are swallowed."""
        self.busy = 0
        """So many commands to come are answered BUSY."""
        self.drop_ids: set[int] = set()
        """Moves with these ids are lost on their way, once each."""
        self.hold_attach: asyncio.Event | None = None
        self.refuse_attach = ""
        self.something = asyncio.Condition()
        self._server: grpc.aio.Server | None = None
        self._break = asyncio.Event()

    # ---- life ----

    async def start(self) -> None:
        self._server = rpc.server()
        engine_pb2_grpc.add_EngineServiceServicer_to_server(self, self._server)
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.addr = f"127.0.0.1:{port}"
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            self._break.set()
            await self._server.stop(0)
            self._server = None

    async def claim(self, *partitions: int, epoch: int = 1) -> None:
        """Own these partitions (all, if none is named), and say so."""
        kv = await bucket(self.nc)
        self.epoch = epoch
        for partition in partitions or range(PARTITIONS):
            self.owns.add(partition)
            entry = {"owner": self.name, "addr": self.addr, "epoch": epoch, "state": "open"}
            await kv.put(subjects.placement_key(partition), msgspec.json.encode(entry))

    def break_streams(self) -> None:
        self._break.set()
        self._break = asyncio.Event()

    async def until(self, true: Any, timeout: float = 20.0) -> None:
        """Wait until `true()` is, asked whenever something came."""
        async with asyncio.timeout(timeout), self.something:
            await self.something.wait_for(true)

    async def _happened(self) -> None:
        async with self.something:
            self.something.notify_all()

    # ---- frames ----

    async def tell_table(
        self, table: TwinTable, steps: list[client_out.Step], answered: tuple[frames.Answered, ...] = ()
    ) -> None:
        table.frames += 1
        table.seq += 1
        body = msgspec.json.encode(client_out.TableFrame(table.frames, table.seq, steps))
        await self._publish(subjects.table(table.room), frames.TABLE, table.frames, answered, body)

    async def tell_seat(
        self, table: TwinTable, seat: TwinSeat, steps: list[client_out.Step], answered: tuple[frames.Answered, ...]
    ) -> None:
        seat.frames += 1
        body = msgspec.json.encode(client_out.SeatFrame(seat.frames, table.seq, steps))
        await self._publish(subjects.seat(table.room, seat.number), frames.SEAT, seat.frames, answered, body)

    async def beacon(self, table: TwinTable) -> None:
        body = msgspec.json.encode(frames.Beacon(table.frames, {s.number: s.frames for s in table.seats.values()}))
        data = frames.pack(frames.BEACON, self.epoch, 0, (), body)
        await self.nc.publish(subjects.beacon(table.room), data)
        await self.nc.flush()

    async def _publish(
        self, subject: str, kind: int, number: int, answered: tuple[frames.Answered, ...], body: bytes
    ) -> None:
        if self.lose_frames:
            self.lose_frames -= 1
            return
        await self.nc.publish(subject, frames.pack(kind, self.epoch, number, answered, body))
        await self.nc.flush()

    def snapshot(self, table: TwinTable, seat: TwinSeat | None) -> pb.Snapshot:
        members = [client_out.Member(s.number, s.player, s.player, 0, present=s.attached) for s in table.seats.values()]
        view = client_out.TableView(table.table, table.game, "setup", 0, members, {})
        body = client_out.Snapshot(1, table.room, 0, table.seq, view, None)
        if seat is not None:
            body.you = client_out.You(seat.number, False)
            body.answered = seat.answered
        return pb.Snapshot(
            epoch=self.epoch,
            table_number=table.frames,
            seat_number=seat.frames if seat is not None else 0,
            answered=seat.answered if seat is not None else 0,
            body=msgspec.json.encode(body),
        )

    # ---- questions ----

    async def _table(self, room: str, table: str, context: Any) -> TwinTable:
        if partition_of(room) not in self.owns:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not_owner")
        live = self.tables.live.get(room)
        if live is None or table not in ("", live.table):
            await context.abort(grpc.StatusCode.NOT_FOUND, "no_table")
        assert live is not None
        return live

    async def Attach(self, request: pb.AttachRequest, context: Any) -> pb.AttachResponse:  # noqa: N802
        self.attaches += 1
        self.attempts.append(request.attempt)
        await self._happened()
        if self.hold_attach is not None:
            await self.hold_attach.wait()
        table = await self._table(request.room, request.table, context)
        if self.refuse_attach:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, self.refuse_attach)
        seat = next((s for s in table.seats.values() if s.player == request.player), None)
        if seat is None:
            seat = table.seats[len(table.seats)] = TwinSeat(len(table.seats), request.player)
        if seat.tab != request.tab:
            seat.tab, seat.answered = request.tab, 0
        seat.session += 1
        seat.attached = True
        await self.tell_seat(table, seat, [], (frames.Answered(seat.number, seat.session, 0),))
        await self._happened()
        return pb.AttachResponse(seat=seat.number, session=seat.session, snapshot=self.snapshot(table, seat))

    async def View(self, request: pb.ViewRequest, context: Any) -> pb.ViewResponse:  # noqa: N802
        self.views += 1
        table = await self._table(request.room, request.table, context)
        seat = table.seats[request.seat] if request.HasField("seat") else None
        if seat is not None and seat.session != request.session:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "taken_over")
        await self._happened()
        return pb.ViewResponse(snapshot=self.snapshot(table, seat))

    async def Open(self, request: pb.OpenRequest, context: Any) -> pb.OpenResponse:  # noqa: N802
        if partition_of(request.room) not in self.owns:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not_owner")
        live = self.tables.live.get(request.room)
        if live is not None and live.table != request.table:
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, live.table)
        self.tables.open(request.room, request.table)
        return pb.OpenResponse(table=request.table)

    async def Close(self, request: pb.CloseRequest, context: Any) -> pb.CloseResponse:  # noqa: N802
        await self._table(request.room, request.table, context)
        del self.tables.live[request.room]
        return pb.CloseResponse()

    async def CommandsAt(  # noqa: N802
        self, request: pb.CommandsAtRequest, context: Any
    ) -> pb.CommandsAtResponse:
        return pb.CommandsAtResponse()

    async def Tables(self, request: pb.TablesRequest, context: Any) -> pb.TablesResponse:  # noqa: N802
        return pb.TablesResponse(
            tables=[pb.TableSummary(room=t.room, table=t.table) for t in self.tables.live.values()],
            partitions=sorted(self.owns),
        )

    # ---- commands ----

    async def Commands(self, requests: AsyncIterator[pb.CommandsRequest], context: Any) -> AsyncIterator[Any]:  # noqa: N802
        broken = self._break
        incoming = requests.__aiter__()
        while True:
            read = asyncio.ensure_future(incoming.__anext__())
            read.add_done_callback(lambda done: done.cancelled() or done.exception())
            stop = asyncio.ensure_future(broken.wait())
            await asyncio.wait({read, stop}, return_when=asyncio.FIRST_COMPLETED)
            stop.cancel()
            if not read.done():
                read.cancel()
                await context.abort(grpc.StatusCode.UNAVAILABLE, "broken by the test")
            try:
                request = read.result()
            except StopAsyncIteration:
                return
            replies = [r for c in request.commands if (r := await self._take(c)) is not None]
            await self._happened()
            if replies:
                yield pb.CommandsResponse(replies=replies)

    async def _take(self, command: pb.Command) -> pb.Reply | None:
        def reply(kind: pb.ReplyKind.ValueType, id: int, body: bytes = b"") -> pb.Reply:
            return pb.Reply(room=command.room, seat=command.seat, session=command.session, id=id, kind=kind, body=body)

        self.heard += 1
        if self.deaf:
            return None
        if command.kind == pb.COMMAND_KIND_DETACH:
            self.detached.append((command.room, command.seat, command.session))
            self.attempts_undone += [command.id] if not command.session else []
            return reply(pb.REPLY_KIND_DETACHED, command.id)
        if command.id in self.drop_ids:
            self.drop_ids.remove(command.id)
            return None
        self.commands.append(command)
        if self.busy:
            self.busy -= 1
            return reply(pb.REPLY_KIND_BUSY, command.id)
        if partition_of(command.room) not in self.owns:
            return reply(pb.REPLY_KIND_NOT_OWNER, command.id)
        table = self.tables.live.get(command.room)
        if table is None:
            return reply(pb.REPLY_KIND_NO_TABLE, command.id)
        seat = table.seats[command.seat]
        if command.session != seat.session:
            return reply(pb.REPLY_KIND_TAKEN_OVER, command.id)
        if command.id <= seat.answered:
            return reply(pb.REPLY_KIND_ANSWERED, command.id, msgspec.json.encode(client_out.Answer(command.id)))
        if command.id > seat.answered + 1:
            return reply(pb.REPLY_KIND_EXPECT, seat.answered + 1)
        if b'"bad"' in command.body:
            error = client_out.Error("bad_message", "the twin says so", id=command.id)
            return reply(pb.REPLY_KIND_BAD, command.id, msgspec.json.encode(error))
        seat.answered = command.id
        table.decided.append((seat.number, command.id, command.body))
        step = client_out.Step([], seat.number, command.id)
        await self.tell_table(table, [step], (frames.Answered(seat.number, seat.session, command.id),))
        return None
