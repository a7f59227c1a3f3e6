"""One room from hosting to the last screen compared: players, a TV, and what must hold at the end."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from dataclasses import dataclass
from random import Random

from simulate.differences import differences
from simulate.door import Door
from simulate.findings import Findings
from simulate.log_witness import READ, LogWitness
from simulate.phone import Phone, Stale
from simulate.player import Player
from simulate.room_log import judge_ledger, judge_view
from simulate.tv import Tv
from wire import client_in

SIDES = ("screen", "engine")
SAME_VIEW = "every client's view equals the engine's"


@dataclass(frozen=True)
class Wish:
    """What a run was asked for."""

    rooms: int = 50
    seats: int = 4
    hands: int = 1
    level: str = "hard"
    speed: float = 2.0
    seed: int = 1
    limit: float = 300.0


class TableRun:
    """`run` plays it through; broken invariants go to `found`, whatever else fails is raised."""

    def __init__(self, number: int, wish: Wish, door: Door, tv_url: str | None, found: Findings) -> None:
        self.number = number
        self._wish, self._door, self._tv_url, self._found = wish, door, tv_url, found
        self._dice = Random(f"{wish.seed}:{number}")
        self._phones: list[Phone] = []
        self._tv: Tv | None = None
        self.room = ""
        self.at = "waiting"
        """How far it has come, for a report when the time is up."""

    async def run(self, witness: LogWitness | None) -> None:
        try:
            await self._gather()
            await self._play()
            await self._compare(witness)
            self.at = "done"
        finally:
            for phone in self._phones:
                phone.stop()
            if self._tv is not None:
                self._tv.stop()

    # ---- to the first deal ---------------------------------------------------------

    async def _gather(self) -> None:
        self.at = "hosting"
        ticket = await self._door.host(f"Host {self.number}", str(uuid.uuid4()))
        self.room = ticket.room
        tickets = [ticket]
        for seat in range(1, self._wish.seats):
            tickets.append(await self._door.join(self.room, f"Player {seat}", str(uuid.uuid4())))
        for t in tickets:
            phone = Phone(self._door.url, t.token, self._dice.randrange(1, 2**32), self._found)
            phone.start()
            self._phones.append(phone)
        self.at = "in the lobby"
        everyone = {t.player for t in tickets}
        for phone in self._phones:
            await phone.until(
                lambda p: p.lobby is not None and everyone <= {q.player for q in p.lobby.players if q.present}
            )
        host = self._phones[0]
        await host.act(client_in.StartTable())
        self.at = "on the game screen"
        for phone in self._phones:
            await phone.until(
                lambda p: (
                    p.screen.table is not None and sum(m.present for m in p.screen.table.members) == self._wish.seats
                )
            )
        if self._tv_url is not None:
            self._tv = Tv(self._tv_url, self.room, self._found)
            self._tv.start()
            await self._tv.until(lambda tv: tv.screen.table is not None)
        if self._wish.hands > 1:
            await self._must(host, client_in.SetOptions({"length": "to50"}))

    async def _must(self, phone: Phone, move: object) -> None:
        while True:
            with contextlib.suppress(Stale):  # the page gave it up, long after it was pressed
                told = await phone.move(move)
                break
        if told.no is not None:
            raise RuntimeError(f"{self.room}: {type(move).__name__} came back as {told.no.code}")

    # ---- hands ---------------------------------------------------------------------

    async def _play(self) -> None:
        host = self._phones[0]
        players = [
            Player(p, self._wish.level, self._wish.speed, Random(self._dice.random()), self._found)
            for p in self._phones
        ]
        for hand in range(1, self._wish.hands + 1):
            self.at = f"dealing hand {hand}"
            await self._must(host, client_in.Deal() if hand == 1 else client_in.NextHand())
            await host.until(lambda p: p.screen.live)
            self.at = f"hand {hand}"
            async with asyncio.TaskGroup() as group:
                for player in players:
                    group.create_task(player.play())
            for phone in self._phones:
                await phone.until(lambda p: p.screen.phase() in ("scores", "standings"))
            result = getattr(host.screen.view, "result", None)
            ended = "ended by the host" if result is not None and result.by is None else "ended by “Snatch!”"
            self._found.hands[ended] += 1
            assert host.screen.table is not None
            if host.screen.table.over:
                break

    # ---- at the end ------------------------------------------------------------------

    async def _compare(self, witness: LogWitness | None) -> None:
        """Nothing happens any more: all must show the same, a second tab of each player too."""
        self.at = "comparing"
        assert self._phones[0].screen.table is not None
        if self._phones[0].screen.table.over:
            for phone in self._phones:
                await phone.until(lambda p: p.screen.phase() == "standings")
        seconds = [Phone(self._door.url, p.token, self._dice.randrange(1, 2**32), self._found) for p in self._phones]
        try:
            for phone, second in zip(self._phones, seconds, strict=True):
                second.start()
                await second.until(lambda p: p.screen.table is not None)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(10):
                        await phone.taken_over.wait()
                self._found.check("a second tab takes over", phone.taken_over.is_set(), f"{self.room}: it never did")
                kept, fresh = phone.screen, second.screen
                where = f"{self.room} seat {kept.seat}"
                for what in ("view", "table", "seq", "you"):
                    a, b = getattr(kept, what), getattr(fresh, what)
                    self._found.check(SAME_VIEW, a == b, f"{where}, {what}{differences(a, b, SIDES)}")
            await self._compare_tv()
            if witness is not None:
                await self._compare_log(witness)
        finally:
            for second in seconds:
                second.stop()

    async def _compare_tv(self) -> None:
        if self._tv is None or self._tv_url is None:
            return
        fresh = Tv(self._tv_url, self.room, self._found)
        fresh.start()
        try:
            await fresh.until(lambda tv: tv.screen.table is not None)
            seq = fresh.screen.seq
            await self._tv.until(lambda tv: tv.screen.seq == seq)
            a, b = self._tv.screen.view, fresh.screen.view
            self._found.check(SAME_VIEW, a == b, f"{self.room} TV{differences(a, b, SIDES)}")
        finally:
            fresh.stop()

    async def _compare_log(self, witness: LogWitness) -> None:
        caught_up = await witness.catch_up()
        self._found.check(READ, caught_up, f"{self.room}: not to its end within 10 s")
        log = witness.rooms.get(self.room)
        for phone in self._phones:
            seat = phone.screen.seat
            if seat is not None:
                told = {id: t.no for id, t in phone.told.items()}
                judge_ledger(log, self.room, seat, phone.tab, told, self._found)
                judge_view(log, self.room, seat, phone.screen.view, self._found)
