"""Makes the golden files of the release it runs on: what it leaves in NATS and Redis, and what it tells.

    python -m tests.golden.make tests/golden/release-<version>

plays six rooms through the public doors of a stack in this process, each left in another
phase, and writes down what there is then.  For an older release: run it with that tree as
working directory and first on PYTHONPATH.
"""

from __future__ import annotations

import asyncio
import json
import lzma
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import msgspec
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from redis.asyncio import Redis

from generated.snatch.engine.v1 import engine_pb2
from generated.snatch.rooms.v1 import rooms_pb2
from servicekit import bus
from servicekit.engines import Engines
from servicekit.sockets import Socket
from services.engine import hall, ledger, table_clock
from services.engine import table_store as store
from services.engine.log import Log
from simulate.door import Door
from tests.e2e.inprocess import SECRET, Stack, stack_in_process
from tests.e2e.party import Party, must, until
from wire import client_in, subjects

ROOMS = ("standings", "scores", "paused", "countdown", "setup", "closed")
FRAMES = 60
"""Frames kept of each room: the first ones and the last."""


class Said:
    """What went over players' and TVs' sockets: the first message of each kind, both ways."""

    def __init__(self) -> None:
        self.by_pages: dict[str, str] = {}
        self.to_pages: dict[str, str] = {}

    def listen(self) -> None:
        send, receive = Socket.send, Socket.receive

        def sent(socket: Socket, body: bytes) -> None:
            for tag in _tags(json.loads(body)):
                self.to_pages.setdefault(tag, body.decode())
            send(socket, body)

        async def received(socket: Socket) -> str | bytes | None:
            data = await receive(socket)
            if data:
                text = data if isinstance(data, str) else data.decode()
                message = json.loads(text)
                inner = message.get("m", message.get("do", {}))
                self.by_pages.setdefault(f"{message['t']} {inner.get('t', '')}".strip(), text)
            return data

        setattr(Socket, "send", sent)  # noqa: B010 - not the type's own
        setattr(Socket, "receive", received)  # noqa: B010


def _tags(message: dict[str, Any]) -> list[str]:
    """What is to be seen in a message: its own tag, and those of its events."""
    events = [e["t"] for step in message.get("steps", []) for e in step.get("ev", [])]
    return [message["t"], *(f"{message['t']} {e}" for e in events)]


async def play(stack: Stack, people: dict[str, Party]) -> None:
    """Six rooms, each left where its name says."""
    for name, party in people.items():
        ann = await party.host("Ann")
        await party.join("Bo")
        await ann.act(client_in.AddBot("hard" if name != "setup" else "easy"))
        await until(ann, lambda p: len(p.lobby.players) == 3)
        await party.start(ann)
    phones = {name: party.phones for name, party in people.items()}

    async def whole_hand(name: str, length: str) -> None:
        ann = phones[name][0]
        await must(ann, client_in.SetOptions({"length": length}))
        await must(ann, client_in.Deal())
        await people[name].live()
        await people[name].play(*phones[name], speed=40.0)
        await until(ann, lambda p: p.screen.phase() == "scores")

    await asyncio.gather(whole_hand("standings", "one"), whole_hand("scores", "to50"))
    await must(phones["standings"][0], client_in.Standings())

    ann, bo = phones["paused"]
    await must(ann, client_in.SetBotLevels("easy"))
    await must(ann, client_in.Deal())
    await people["paused"].live()
    for phone in (ann, bo):
        for tag in ("turn", "undo", "undo", "turn", "turn"):
            await phone.move({"t": tag})
    await must(bo, client_in.Pause())
    await ann.move({"t": "turn"})

    await must(phones["setup"][0], client_in.SetOptions({"length": "to25"}))
    await must(phones["setup"][0], client_in.SetBotLevels("medium"))
    await phones["setup"][1].move(client_in.Deal())  # not the host: refused
    await phones["closed"][0].move(client_in.Leave())
    await until(phones["closed"][1], lambda p: p.lobby.table is None)

    setattr(table_clock, "COUNTDOWN_MS", 60_000)  # noqa: B010 - long enough to be found counting
    await must(phones["countdown"][0], client_in.Deal())
    await until(phones["countdown"][1], lambda p: p.screen.phase() == "countdown")


async def left(stack: Stack, people: dict[str, Party], out: Path) -> None:
    """Everything that the stack leaves, as if all its processes died now."""
    tables = {}
    for engine in stack.engines:
        assert engine.hall is not None
        for owner in engine.hall.owners():
            for room, entry in owner.ledger.rooms.items():
                tables[room] = store.dump(entry.table)
    nc = await bus.connect(stack.nats.url, "golden")
    engines = Engines(nc, "golden")
    await engines.start()
    rooms: dict[str, Any] = {}
    for name, party in people.items():
        members = []
        for phone in party.phones:
            answers = {str(id): told.no.code if told.no else None for id, told in sorted(phone.told.items())}
            seat = phone.screen.seat
            members.append({"seat": seat, "tab": phone.tab, "token": phone.token, "answers": answers})
        rooms[name] = {"room": party.room, "members": members}
        if party.room in tables:
            view = await engines.view(engine_pb2.ViewRequest(room=party.room))
            rooms[name] |= {"view": json.loads(view.snapshot.body), "frames": view.snapshot.table_number}
    await engines.stop()
    pack(out / "log.bin", await messages(nc))
    pack(out / "tables.bin", tables)
    own = await nc.jetstream().key_value(subjects.OWN_BUCKET)
    entries = {key: ((await own.get(key)).value or b"").decode() for key in await own.keys()}
    await nc.close()
    redis_ = Redis.from_url(stack.redis.url, decode_responses=True)
    documents = {str(key): str(await redis_.get(key)) async for key in redis_.scan_iter("room:*")}
    await redis_.aclose()
    save(out / "own.json", entries)
    save(out / "redis.json", documents)
    save(out / "rooms.json", {"secret": SECRET, "rooms": rooms})


async def messages(nc: bus.Bus) -> list[tuple[int, str, dict[str, str], bytes]]:
    """The whole log: sequence, subject, headers, data."""
    js = nc.jetstream()
    last = (await js.stream_info(subjects.LOG_STREAM)).state.last_seq
    found = []
    for sequence in range(1, last + 1):
        m = await js.get_msg(subjects.LOG_STREAM, sequence)
        found.append((sequence, m.subject or "", dict(m.headers or {}), m.data or b""))
    return found


async def no_trim(*_: Any) -> bool:
    """The log keeps all its records: the tests trim it."""
    return False


def pack(path: Path, what: Any) -> None:
    path.write_bytes(lzma.compress(msgspec.msgpack.encode(what)))


def save(path: Path, what: Any) -> None:
    path.write_text(json.dumps(what, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


async def make(out: Path) -> None:
    """Play and write.  Raises AssertionError when a screen was told something wrong."""
    # So that there are snapshots of each phase, hand-overs at once, and all of the log.
    for what, name, value in [
        (ledger, "SNAPSHOT_RECORDS", 60),
        (ledger, "SNAPSHOT_MS", 2_000),
        (hall, "STABLE", 0.3),
        (Log, "trim", no_trim),
    ]:
        setattr(what, name, value)
    said = Said()
    said.listen()
    told: list[tuple[str, bytes]] = []
    with tempfile.TemporaryDirectory() as folder:
        async with stack_in_process(Path(folder), engines=2) as stack, Door(stack.url) as door:
            nc = await bus.connect(stack.nats.url, "golden")

            async def hear(message: Any) -> None:
                told.append((message.subject, message.data))

            for subject in ("f.>", "l.>", "news.>", "bots.>", "callers.>"):
                await nc.subscribe(subject, cb=hear)
            await bus.barrier(nc)
            people = {name: Party(stack.url, stack.watch_url, door) for name in ROOMS}
            try:
                await play(stack, people)
                await asyncio.sleep(2.5)  # beacons, beats
                await left(stack, people, out)
                for party in people.values():
                    assert party.found.told == []
            finally:
                for party in people.values():
                    await party.end()
            await nc.close()
    pack(out / "frames.bin", few(told))
    save(out / "client.json", said.by_pages)
    save(out / "server.json", said.to_pages)
    files = FileDescriptorSet()
    for module in (engine_pb2, rooms_pb2):
        module.DESCRIPTOR.CopyToProto(files.file.add())
    (out / "protos.bin").write_bytes(files.SerializeToString(deterministic=True))


def few(told: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Of each subject the first messages and the last."""
    by_subject: dict[str, list[bytes]] = {}
    for subject, data in told:
        by_subject.setdefault(subject, []).append(data)
    kept = []
    for subject, all_of_it in by_subject.items():
        some = all_of_it if len(all_of_it) <= FRAMES else all_of_it[: FRAMES // 2] + all_of_it[-FRAMES // 2 :]
        kept += [(subject, data) for data in some]
    return kept


def release() -> str:
    """The version of the tree that this runs on."""
    found: str = tomllib.loads(Path("pyproject.toml").read_text())["project"]["version"]
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else f"tests/golden/release-{release()}")
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(make(folder))
