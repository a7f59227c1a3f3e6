"""Real engines on a real NATS, in this process, and a room played on them over gRPC."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from generated.snatch.engine.v1 import engine_pb2 as pb
from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceStub
from servicekit import bus, rpc
from servicekit.engines import Engines
from services.engine import records as r
from services.engine import table_store as store
from services.engine.app import Engine
from services.engine.settings import EngineSettings, SetupSettings
from services.engine.setup import set_up
from services.engine.stream import EXPECTED, Asker, Stream
from wire import frames, subjects
from wire.places import partition_of

if TYPE_CHECKING:
    from generated.snatch.engine.v1.engine_pb2_grpc import EngineServiceAsyncStub

PATIENCE = 20.0


class EngineStack:
    """Engines by name; `engines` asks whichever serves a room."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.running: dict[str, Engine] = {}
        self.nc: bus.Bus
        self.engines: Engines
        self._asker: Asker

    async def begin(self) -> EngineStack:
        await set_up(SetupSettings(nats_url=self.url))
        self.nc = await bus.connect(self.url, "test")
        self.engines = Engines(self.nc, "test", timeout=PATIENCE)
        await self.engines.start()
        self._asker = Asker(self.nc)
        await self._asker.start()
        return self

    async def end(self) -> None:
        await self.engines.stop()
        for engine in list(self.running.values()):
            await engine.stop()
        await self.nc.close()

    async def start(self, name: str) -> Engine:
        engine = self.running[name] = Engine(EngineSettings(nats_url=self.url, instance=name, trim_after=0))
        await engine.start()
        return engine

    async def stop(self, name: str) -> None:
        await self.running.pop(name).stop()

    def serving(self, room: str) -> tuple[str, Engine] | None:
        """The engine of this process that has the room's partition."""
        for name, engine in self.running.items():
            if engine.hall is not None and engine.hall.owner_of(room) is not None:
                return name, engine
        return None

    def state(self, room: str) -> bytes:
        """The room's table at its engine, as bytes."""
        found = self.serving(room)
        assert found is not None
        hall = found[1].hall
        assert hall is not None
        owner = hall.owner_of(room)
        assert owner is not None
        table = owner.ledger.table(room)
        assert table is not None
        return store.dump(table)

    async def raw(self, room: str, *commands: pb.Command, count: int | None = None) -> list[pb.Reply]:
        """One batch on a stream of its own, and its replies: one for each command, or `count`."""
        found = self.serving(room)
        assert found is not None
        channel = rpc.channel(f"127.0.0.1:{found[1].port}")
        stub: EngineServiceAsyncStub = EngineServiceStub(channel)
        call = stub.Commands()
        await call.write(pb.CommandsRequest(commands=commands))
        replies: list[pb.Reply] = []
        async with asyncio.timeout(PATIENCE):
            async for response in call:
                replies += response.replies
                if len(replies) >= (len(commands) if count is None else count):
                    break
        call.cancel()
        await channel.close()
        return replies

    async def log(self, room: str) -> list[r.Record]:
        """Every record of the room's partition, its chain checked link by link."""
        stream = Stream(self._asker, subjects.LOG_STREAM)
        found: list[r.Record] = []
        at = 0
        while batch := await stream.read(subjects.log(partition_of(room)), at + 1):
            for message in batch:
                assert at in (0, int(message.headers[EXPECTED])), "each record follows the one before it"
                at = message.sequence
                found.append(r.decode(message.data))
        epochs = [record.epoch for record in found]
        assert epochs == sorted(epochs)
        return found

    async def decided(self, room: str) -> list[tuple[int, str | None]]:
        """Every move in the log, in order: its id, and why it was refused."""
        steps = [step for record in await self.log(room) for chunk in record.chunks for step in chunk.steps]
        return [(step.id, step.no.code if step.no else None) for step in steps if step.id is not None]

    async def process(self, name: str, module: str = "services.engine") -> asyncio.subprocess.Process:
        """An engine in a process of its own."""
        environment = {**os.environ, "NATS_URL": self.url, "SNATCH_INSTANCE": name, "SNATCH_LOG_FORMAT": "json"}
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, env=environment, stderr=asyncio.subprocess.DEVNULL
        )


class Driver:
    """A player of one room over gRPC: sends moves, hears frames, keeps what each id was answered."""

    def __init__(self, stack: EngineStack, room: str, player: str, tab: int = 1) -> None:
        self.stack, self.room, self.player, self.tab = stack, room, player, tab
        self.seat = self.session = self.last = 0
        self.answers: dict[int, str | None] = {}
        self.decided = 0
        self.events: list[dict[str, Any]] = []
        self.replies: list[pb.Reply] = []
        self.partition = partition_of(room)
        self.sent_to, self.oldest, self.stalled = "", float("inf"), False
        self._kept: list[pb.Command] = []
        self._heard = asyncio.Event()

    async def attach(self) -> dict[str, Any]:
        await self.stack.nc.subscribe(subjects.room_frames(self.room), cb=self._hear)
        await bus.barrier(self.stack.nc)
        request = pb.AttachRequest(room=self.room, player=self.player, tab=self.tab, name=self.player)
        answer = await self.stack.engines.attach(request)
        self.seat, self.session = answer.seat, answer.session
        self.last = self.decided = answer.snapshot.answered
        self.stack.engines.register(self)
        found: dict[str, Any] = json.loads(answer.snapshot.body)
        return found

    def send(self, t: str, **more: Any) -> int:
        self.last += 1
        body = json.dumps({"t": "move", "id": self.last, "basis": 0, "m": {"t": t, **more}}).encode()
        command = pb.Command(
            room=self.room, seat=self.seat, session=self.session, id=self.last, body=body, kind=pb.COMMAND_KIND_MOVE
        )
        self._kept.append(command)
        if len(self._kept) == 1:
            self.oldest = asyncio.get_running_loop().time()
        self.stack.engines.send(self, command)
        return self.last

    async def move(self, t: str, **more: Any) -> str | None:
        """The code of its refusal, if it was refused."""
        id = self.send(t, **more)
        await self.hear(lambda: id in self.answers)
        return self.answers[id]

    async def hear(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not true():
                self._heard.clear()
                await self._heard.wait()

    async def event(self, tag: str) -> None:
        await self.hear(lambda: any(e["t"] == tag for e in self.events))

    def outstanding(self) -> list[pb.Command]:
        return list(self._kept)

    def on_reply(self, reply: pb.Reply) -> None:
        self.replies.append(reply)
        if reply.kind == pb.REPLY_KIND_ANSWERED:
            no = json.loads(reply.body).get("no")
            self.answers.setdefault(reply.id, no["code"] if no else None)
            self._settle(reply.id)
        elif reply.kind == pb.REPLY_KIND_EXPECT:
            self.stack.engines.stall(self)
        self._heard.set()

    async def _hear(self, message: Any) -> None:
        frame = frames.unpack(message.data)
        if frame.kind == frames.BEACON:
            return
        own = message.subject == subjects.seat(self.room, self.seat)
        if frame.kind == frames.SEAT and not own:
            return
        for step in msgspec.json.decode(frame.body)["steps"]:
            self.events += step.get("ev", [])
            if "id" in step and (own or step.get("by") == self.seat):
                self.answers.setdefault(step["id"], step["no"]["code"] if "no" in step else None)
        for answered in frame.answered:
            if (answered.seat, answered.session) == (self.seat, self.session):
                self._settle(answered.id)
        self._heard.set()

    def _settle(self, id: int) -> None:
        self.decided = max(self.decided, id)
        self._kept = [c for c in self._kept if c.id > id]
        self.oldest = asyncio.get_running_loop().time() if self._kept else float("inf")


def bots_table(room: str, table: str = "t1", players: int = 1) -> pb.OpenRequest:
    """Players p0… and a bot that nobody drives."""
    members = [pb.OpenMember(player=f"p{i}", name=f"P{i}", colour=i) for i in range(players)]
    members.append(pb.OpenMember(player="bot", name="Bot", colour=7, bot="easy"))
    return pb.OpenRequest(room=room, table=table, game="snatch_solitaire", host="p0", members=members)


async def seated(stack: EngineStack, room: str) -> Driver:
    """The host of a new table with bots."""
    await stack.engines.open_table(bots_table(room))
    driver = Driver(stack, room, "p0")
    await driver.attach()
    return driver
