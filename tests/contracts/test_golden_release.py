"""What the release before left and told is understood: its log, its snapshots, its messages, its tokens.

The other way round: what this release tells has all that the one before reads.
"""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

from games.registry import GAMES
from generated.snatch.engine.v1 import engine_pb2
from generated.snatch.rooms.v1 import rooms_pb2
from servicekit.tokens import Tokens
from services.bots.reading import reader
from services.engine import table_moves, table_view
from services.engine import table_store as store
from services.engine.board import Lease, check_layout
from services.engine.ledger import Ledger
from services.engine.table import ANSWERS_KEPT, Table
from services.rooms import room as rooms
from tests.golden.stored import RELEASES, Golden
from wire import client_in, frames
from wire import client_out as out
from wire.news import BotWanted, CallerBeat, Entry, TableNews, WorkerBeat
from wire.places import partition_of

PHASES = {"standings", "scores", "paused", "countdown", "setup"}
CLIENT: Any = client_in.ClientMessage
SERVER: Any = out.ServerMessage
NEWS = {"news.table": TableNews, "callers.beat": CallerBeat, "bots.wanted": BotWanted, "bots.beat": WorkerBeat}


@pytest.fixture(params=RELEASES)
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.param)


def replayed(golden: Golden, partition: int, oldest: int = 0) -> Ledger:
    """A new owner's ledger, of a log that was trimmed below `oldest`."""
    ledger = Ledger(GAMES)
    for sequence, record in golden.partitions()[partition]:
        if sequence >= oldest:
            ledger.replay(record, sequence)
    ledger.replayed()
    return ledger


def known(golden: Golden, room: str) -> bytes:
    """The table as the release before had it, in this release's bytes."""
    return store.dump(store.load(golden.tables[room], GAMES))


def told(table: Table) -> bytes:
    """The table without what one of its releases keeps and another doesn't: answers that said done."""
    for member in table.state.members:
        member.answers = [answer for answer in member.answers if answer.no is not None]
    return store.dump(table)


# ---- the log ----


def test_the_goldens_are_of_rooms_in_every_phase_with_refusals_snapshots_and_hand_overs(golden: Golden) -> None:
    assert set(golden.rooms) == PHASES | {"closed"}
    records = [record for log in golden.partitions().values() for _, record in log]
    assert {record.kind for record in records} == {"claim", "data", "release"}
    steps = [step for record in records for chunk in record.chunks for step in chunk.steps]
    refused = {step.no.code for step in steps if step.no is not None}
    assert {"nothing_to_undo", "paused", "not_host"} <= refused
    assert {s.room for record in records for s in record.snapshots} >= {golden.rooms[p]["room"] for p in PHASES}


def test_its_log_replays_to_the_tables_that_it_had(golden: Golden) -> None:
    found = {}
    for partition in golden.partitions():
        for room, entry in replayed(golden, partition).rooms.items():
            found[room] = store.dump(entry.table)
    assert found == {room: known(golden, room) for room in golden.tables}


def test_its_events_alone_come_to_every_snapshot_and_table_that_it_had(golden: Golden) -> None:
    compared = 0
    for partition, log in golden.partitions().items():
        ledger = Ledger(GAMES)
        for sequence, record in log:
            for snapshot in record.snapshots:
                table = ledger.table(snapshot.room)
                assert table is not None
                assert told(table) == told(store.load(snapshot.data, GAMES)), f"log.{partition} {sequence}"
                compared += 1
            ledger.replay(msgspec.structs.replace(record, snapshots=[]), sequence)
        for room, entry in ledger.rooms.items():
            assert told(entry.table) == told(store.load(golden.tables[room], GAMES))
    assert compared >= len(golden.tables)


def test_its_log_trimmed_as_far_as_may_be_replays_to_the_same_tables(golden: Golden) -> None:
    for room in golden.tables:
        whole = replayed(golden, partition_of(room))
        oldest = whole.oldest_needed()
        assert oldest > min(sequence for sequence, _ in golden.partitions()[partition_of(room)])
        rest = replayed(golden, partition_of(room), oldest)
        assert store.dump(rest.rooms[room].table) == known(golden, room)


def test_its_tables_show_what_they_showed(golden: Golden) -> None:
    for at in golden.rooms.values():
        if "view" not in at:
            continue
        entry = replayed(golden, partition_of(at["room"])).rooms[at["room"]]
        now = at["view"]["now"]
        shown = json.loads(table_view.snapshot(entry.table, None, now))
        assert_has(shown, at["view"], at["room"])
        assert entry.table.state.frames == at["frames"]


def test_its_answers_are_given_again(golden: Golden) -> None:
    given = 0
    for at in golden.rooms.values():
        ledger = replayed(golden, partition_of(at["room"]))
        if at["room"] not in ledger.rooms:
            continue
        for member in at["members"]:
            known_to = ledger.rooms[at["room"]].table.state.members[member["seat"]]
            assert known_to.answered == max(map(int, member["answers"]), default=0)
            refused = {answer.id: answer.no.code for answer in known_to.answers if answer.no is not None}
            for id, code in member["answers"].items():
                if int(id) > known_to.answered - ANSWERS_KEPT:
                    assert refused.get(int(id)) == code
                    given += 1
    assert given > 50


def test_a_table_that_it_closed_stays_closed(golden: Golden) -> None:
    room = golden.rooms["closed"]["room"]
    assert room not in golden.tables
    assert replayed(golden, partition_of(room)).closed[room].why == "host_left"


# ---- what it told ----


def test_its_frames_beacons_lobbies_and_news_are_read(golden: Golden) -> None:
    read = reader("snatch_solitaire")
    seen = set()
    for subject, data in golden.frames:
        kind = subject.split(".")[0]
        if kind == "l":
            body = data if data[:1] == b"{" else frames.unpack(data).body
            assert isinstance(msgspec.json.decode(body, type=SERVER), out.Lobby)
        elif kind == "f":
            frame = frames.unpack(data)
            kind += str(frame.kind)
            if frame.kind == frames.BEACON:
                msgspec.json.decode(frame.body, type=frames.Beacon)
            else:
                assert isinstance(msgspec.json.decode(frame.body, type=SERVER), out.TableFrame | out.SeatFrame)
                if frame.kind == frames.TABLE:
                    read.frame(frame.body)
        else:
            kind = subject
            msgspec.json.decode(data, type=NEWS[subject])
        seen.add(kind)
    assert seen == {"l", "f1", "f2", "f3", *NEWS}


def test_its_leases_and_placements_are_read_and_an_engine_of_it_reads_version_1(golden: Golden) -> None:
    leases = 0
    for key, text in golden.json("own").items():
        if key == "layout":
            check_layout(text.encode())
        elif key.startswith("e."):
            assert msgspec.json.decode(text, type=Lease).reads >= 1
            leases += 1
        else:
            assert msgspec.json.decode(text, type=Entry).state == "open"
    assert leases == 2


def test_its_pages_messages_are_understood(golden: Golden) -> None:
    game = GAMES["snatch_solitaire"]
    for name, text in golden.json("client").items():
        message = msgspec.json.decode(text, type=CLIENT)
        assert message_tag(message) == name.split()[0]
        if isinstance(message, client_in.MoveMessage):
            table_moves.decode(game, text.encode(), message.id)


def test_pages_of_it_are_sent_all_that_they_read(golden: Golden) -> None:
    """Nothing that its screens were told of has lost a field: this release's structs keep all of it."""
    for text in golden.json("server").values():
        told = msgspec.json.decode(text, type=SERVER)
        assert_has(json.loads(msgspec.json.encode(told)), json.loads(text), text[:60])


def test_its_rooms_in_redis_are_read_and_kept(golden: Golden) -> None:
    documents = golden.json("redis")
    assert len(documents) == len(golden.rooms)
    for key, text in documents.items():
        room = rooms.decode(text.encode())
        assert key == f"room:{room.room}"
        assert_has(json.loads(rooms.encode(room)), json.loads(text), key)


def test_its_tokens_name_their_players(golden: Golden) -> None:
    tokens = Tokens(golden.json("rooms")["secret"])
    documents = golden.json("redis")
    for at in golden.rooms.values():
        for member in at["members"]:
            claims = tokens.read(member["token"])
            room = rooms.decode(documents[f"room:{at['room']}"].encode())
            assert (claims.room, claims.birth) == (room.room, room.birth)
            assert room.find(claims.player) is not None


# ---- services of both releases side by side ----


@pytest.mark.parametrize("kind", [*NEWS.values(), Entry, Lease, frames.Beacon, rooms.Room], ids=lambda k: k.__name__)
def test_a_field_of_a_later_release_is_passed_over(kind: Any) -> None:
    made = {f.name: sample(f.type) for f in msgspec.structs.fields(kind) if f.required}
    assert msgspec.json.decode(msgspec.json.encode({**made, "later": {"a": 1}}), type=kind) == msgspec.convert(
        made, kind
    )


def test_browsers_are_held_to_the_letter() -> None:
    for kind in get_args(client_in.ClientMessage):
        assert kind.__struct_config__.forbid_unknown_fields


def test_calls_between_services_only_grew(golden: Golden) -> None:
    """What `buf breaking` asks of the wire: no method, field, number or type is gone or another."""
    now = {}
    for module in (engine_pb2, rooms_pb2):
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        now[file.package] = file
    for before in golden.protos.file:
        file = now[before.package]
        for service in before.service:
            methods = {m.name: m for s in file.service if s.name == service.name for m in s.method}
            for method in service.method:
                assert methods[method.name] == method
        for enum in before.enum_type:
            values = {v.number: v.name for e in file.enum_type if e.name == enum.name for v in e.value}
            assert all(values[v.number] == v.name for v in enum.value)
        messages = {m.name: m for m in file.message_type}
        for message in before.message_type:
            grew(messages[message.name], message)


def grew(now: DescriptorProto, before: DescriptorProto) -> None:
    fields = {f.number: f for f in now.field}
    for field in before.field:
        assert fields[field.number] == field, f"{before.name}.{field.name}"
    nested = {m.name: m for m in now.nested_type}
    for message in before.nested_type:
        grew(nested[message.name], message)


# ---- inside ----


def message_tag(message: Any) -> str:
    tag: str = type(message).__struct_config__.tag
    return tag


def sample(type_: Any) -> Any:
    """A value of a required field."""
    origin = getattr(type_, "__origin__", type_)
    return {str: "", int: 1, bool: False, list: [], dict: {}}[origin]


def assert_has(now: Any, before: Any, where: str) -> None:
    """All of `before`, with the same values; `now` may say more."""
    if isinstance(before, dict):
        for key, value in before.items():
            assert key in now, f"{where}: {key} is gone"
            assert_has(now[key], value, f"{where}.{key}")
    elif isinstance(before, list):
        assert len(now) == len(before), where
        for a, b in zip(now, before, strict=True):
            assert_has(a, b, where)
    else:
        assert now == before, where
