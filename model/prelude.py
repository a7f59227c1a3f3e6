"""What was before the world began: a log with a table in the middle of its game."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from model.cluster import room_in
from model.game import LADDER, Dealt
from model.nats import SimNats
from model.truth import Truth
from services.engine import records as r
from services.engine.board import KV
from services.engine.stream import EXPECTED, SLOT_ID
from wire import subjects
from wire.news import Entry


@lru_cache
def room_of(partition: int, turn: int = 0) -> str:
    """A room of a partition."""
    return room_in(partition, turn)


def player_names(room: str, players: int) -> list[str]:
    return [f"{room}-{i}" for i in range(players)]


def lay_log(nats: SimNats, truth: Truth, partition: int, players: int, epoch: int, bell: int, owner: str) -> None:
    """An engine that is no more claimed, opened a table, dealt, and died.  `owner` "": its placement is gone too."""
    room = room_of(partition)
    names = player_names(room, players)
    seats = list(range(players))
    opened = r.Opened("t1", room, LADDER, 0, [r.Newcomer(n, n, i % 8) for i, n in enumerate(names)], {"bell": bell}, 0)
    dealt = r.Played(msgspec.Raw(msgspec.msgpack.encode(Dealt(seats))))
    steps = [
        r.LoggedStep([opened]),
        r.LoggedStep([r.GameOpened(seats), r.DealAsked(1)]),
        r.LoggedStep([dealt, r.CountdownBegun(1)]),
        r.LoggedStep([r.WentLive()]),
    ]
    records = [
        r.Record(1, partition, epoch, "claim", 0),
        r.Record(1, partition, epoch, "data", 1, [], [r.Chunk(room, steps, 3, {})]),
    ]
    subject = subjects.log(partition)
    for number, record in enumerate(records):
        headers = {EXPECTED: str(nats.log.store.fence(subject)), SLOT_ID: f"{partition}:{epoch}:{number}:before"}
        stored = nats.log.store.commit(subject, headers, r.encode(record), 0.0)
        truth.record(partition, stored.sequence, stored.headers, stored.data)
    if owner:
        entry = msgspec.json.encode(Entry(owner, f"{owner}:1", epoch, "open"))
        nats.own.store.commit(KV + subjects.placement_key(partition), {}, entry, 0.0)
        truth.placed(partition, epoch)
