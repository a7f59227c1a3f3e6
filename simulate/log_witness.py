"""Reads the partitions' log while players play, and judges what they were told by it.

Acknowledged = logged: every answer a player got is in the log, word for word, decided
once; every logged decision reached its player; and the log, replayed, shows each seat
what its screen showed at the end.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import ConsumerConfig, DeliverPolicy

from games.registry import GAMES
from servicekit import bus
from services.engine import records
from simulate.differences import differences
from simulate.findings import Findings
from wire import client_out as out
from wire import subjects

LOGGED = "acknowledged = logged"
REPLAYED = "the log shows what screens show"


@dataclass
class RoomLog:
    """What the log says of one room."""

    tabs: dict[int, int] = field(default_factory=dict)
    decided: dict[tuple[int, int, int], out.No | None] = field(default_factory=dict)
    """By (seat, tab, id)."""
    twice: list[tuple[int, int, int]] = field(default_factory=list)
    game: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    seats: list[int] = field(default_factory=list)
    events: list[bytes] = field(default_factory=list)
    """Of the game since it was opened."""

    def take(self, step: records.LoggedStep) -> None:
        for event in step.events:
            match event:
                case records.Opened(game=game, options=options):
                    self.game, self.options = game, options
                case records.Attached(seat=seat, tab=tab):
                    self.tabs[seat] = tab
                case records.OptionsSet(options=options):
                    self.options = options
                case records.GameOpened(seats=seats):
                    self.seats, self.events = seats, []
                case records.Played(event=played):
                    self.events.append(bytes(played))
        if step.seat is not None and step.id is not None:
            key = (step.seat, self.tabs.get(step.seat, 0), step.id)
            if key in self.decided:
                self.twice.append(key)
            no = step.no
            self.decided[key] = None if no is None else out.No(no.code, no.by, no.pile)

    def replayed(self, seat: int | None) -> Any:
        """The view of this audience after all logged events."""
        game = GAMES[self.game]
        options: Any = msgspec.convert(self.options, game.spec.options_type)
        state = game.open(self.seats, options)
        for data in self.events:
            game.evolve(state, msgspec.msgpack.decode(data, type=game.spec.event_type))
        return game.view(state, seat)


class LogWitness:
    """Reads on from now; `stop` when all that was told is asked for."""

    def __init__(self, nats_url: str) -> None:
        self._url = nats_url
        self._nc: Client | None = None
        self._seen = 0
        self._moved = asyncio.Event()
        self.rooms: dict[str, RoomLog] = {}

    async def start(self) -> None:
        self._nc = await asyncio.wait_for(bus.connect(self._url, "simulate"), 5)
        js = self._nc.jetstream()
        await js.subscribe(
            subjects.LOG_SUBJECTS,
            stream=subjects.LOG_STREAM,
            ordered_consumer=True,
            config=ConsumerConfig(deliver_policy=DeliverPolicy.NEW),
            cb=self._take,
            pending_msgs_limit=1_000_000,
            pending_bytes_limit=1 << 30,
        )

    async def stop(self) -> None:
        if self._nc is not None:
            await self._nc.close()

    async def catch_up(self, patience: float = 10) -> bool:
        """Until all that is in the log now was read; False when that takes too long."""
        assert self._nc is not None
        last = (await self._nc.jetstream().stream_info(subjects.LOG_STREAM)).state.last_seq
        try:
            async with asyncio.timeout(patience):
                while self._seen < last:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            return False
        return True

    async def _take(self, message: Msg) -> None:
        record = records.decode(message.data)
        for chunk in record.chunks:
            room = self.rooms.setdefault(chunk.room, RoomLog())
            for step in chunk.steps:
                room.take(step)
        self._seen = message.metadata.sequence.stream
        self._moved.set()


def judge(
    log: RoomLog | None,
    room: str,
    seat: int,
    tab: int,
    told: dict[int, out.No | None],
    view: Any,
    found: Findings,
) -> None:
    """Hold one player's ledger and last view against the log of their room."""
    if log is None:
        found.check(LOGGED, not told, f"{room}: nothing of it is in the log")
        return
    for id, no in told.items():
        key = (seat, tab, id)
        logged = key in log.decided and log.decided[key] == no
        found.check(LOGGED, logged, f"{room} seat {seat} was told {no} of move {id}; the log: {log.decided.get(key)}")
    mine = [id for (s, t, id) in log.decided if (s, t) == (seat, tab)]
    for id in mine:
        found.check(LOGGED, id in told, f"{room} seat {seat} was never told of move {id}, which the log decided")
    for key in log.twice:
        if key[:2] == (seat, tab):
            found.check(LOGGED, False, f"{room}: the log decides move {key[2]} of seat {seat} twice")
    shown = log.replayed(seat if seat in log.seats else None)
    found.check(REPLAYED, shown == view, f"{room} seat {seat}: {differences(view, shown, ('screen', 'log'))}")


__all__ = ["LOGGED", "REPLAYED", "LogWitness", "NatsError", "RoomLog", "judge"]
