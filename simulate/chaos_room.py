"""One room under faults: it plays on and on, is hushed, compared by hash, and plays on with fresh pages."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from simulate.chaos_verdict import RoomVerdict, digest, lobby_faults, log_says
from simulate.differences import differences
from simulate.door import Door, Ticket
from simulate.findings import Findings
from simulate.gaps import RoomGaps
from simulate.log_witness import LogWitness
from simulate.phone import Phone, Refused, Stale
from simulate.player import Player
from simulate.room_log import judge_ledger, judge_view
from simulate.table_run import SAME_VIEW, SIDES
from simulate.tv import Tv
from simulate.watchers import PhoneWatch, Sockets, SocketWatch
from wire import client_in

COMES_BACK = "every room comes back by itself"
ANSWERED = "every move is answered"
PLAYS_ON = "every player stays at the table"
LOBBIES = "lobbies and tables agree"

ANSWERS_WITHIN = 30.0
"""Seconds after the last fault is over that a room may take to answer all moves."""
STILL_WITHIN = 40.0
FRESH_WITHIN = 30.0
LOBBY_WITHIN = 20.0
"""Seconds that a lobby may take to be the same on every page, and to have the table and its people."""
FIDGETS = (2.0, 6.0)
"""Seconds between two things that are asked of a room's lobby: it answers, if only that this can't be just now."""
FIDGETERS = 100
"""So many rooms' lobbies are asked so often; of more, each is asked less."""


@dataclass(frozen=True)
class RoomWish:
    """`seats`: people; `bots`: seats beside them."""

    seats: int = 2
    bots: int = 1
    level: str = "hard"
    speed: float = 1.0
    seed: int = 1
    tv: bool = True
    rooms: int = 1
    """That play beside each other."""


class ChaosRoom:
    """`gather` once; then `play`, `hush`, `compare`, and again."""

    def __init__(
        self, number: int, wish: RoomWish, door: Door, tv_url: str | None, found: Findings, sockets: Sockets
    ) -> None:
        self.number, self._wish, self._door, self._found = number, wish, door, found
        self._tv_url = tv_url if wish.tv else None
        self._sockets = sockets
        self.tv_sockets = Sockets()
        self._dice = Random(f"{wish.seed}:{number}")
        self.gaps = RoomGaps()
        self.room = ""
        self.phones: list[Phone] = []
        self.tv: Tv | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.fell = ""

    # ---- coming in ------------------------------------------------------------------

    async def gather(self) -> None:
        """Up to the first hand's “Snatch!”."""
        ticket = await self._door.host(f"Host {self.number}", str(uuid.uuid4()))
        self.room = ticket.room
        tickets = [ticket]
        for seat in range(1, self._wish.seats):
            tickets.append(await self._door.join(self.room, f"Player {seat}", str(uuid.uuid4())))
        self.phones = [self._page(t) for t in tickets]
        everyone = {t.player for t in tickets}
        for phone in self.phones:
            await phone.until(
                lambda p: p.lobby is not None and everyone <= {q.player for q in p.lobby.players if q.present}
            )
        host = self.phones[0]
        for _ in range(self._wish.bots):
            await host.act(client_in.AddBot("hard"))
        await host.act(client_in.StartTable())
        for phone in self.phones:
            await phone.until(
                lambda p: (
                    p.screen.table is not None
                    and sum(m.present for m in p.screen.table.members) == self._wish.seats + self._wish.bots
                )
            )
        if self._tv_url is not None:
            self.tv = Tv(self._tv_url, self.room, self._found, SocketWatch(self.tv_sockets))
            self.tv.start()
            await self.tv.until(lambda tv: tv.screen.table is not None)
        await host.move(client_in.SetOptions({"length": "to50"}))
        await host.move(client_in.Deal())
        await host.until(lambda p: p.screen.live)

    def _page(self, ticket: Ticket) -> Phone:
        return self._fresh(ticket.token)

    def _fresh(self, token: str) -> Phone:
        watch = PhoneWatch(self._sockets, self.gaps)
        phone = Phone(self._door.url, token, self._dice.randrange(1, 2**32), self._found, watch)
        phone.start()
        return phone

    async def leave(self) -> None:
        """No goodbyes: the room is left as it is."""
        await self._cancel()
        for phone in self.phones:
            phone.stop()
        if self.tv is not None:
            self.tv.stop()

    # ---- playing --------------------------------------------------------------------

    def play(self) -> None:
        """From now on, hand after hand."""
        if self.fell:
            return
        self._tasks = [asyncio.create_task(self._guard(self._play(phone))) for phone in self.phones]
        self._tasks.append(asyncio.create_task(self._guard(self._keep_dealing())))
        self._tasks.append(asyncio.create_task(self._guard(self._fidget())))

    async def _guard(self, playing: Any) -> None:
        try:
            await playing
        except Exception as error:
            self._found.check(PLAYS_ON, False, f"{self.room}: {error!r}")

    async def _play(self, phone: Phone) -> None:
        wish = self._wish
        player = Player(phone, wish.level, wish.speed, Random(self._dice.random()), self._found, impatient=True)
        while True:
            await player.play()
            await phone.until(lambda p: p.screen.phase() != "live")

    async def _keep_dealing(self) -> None:
        """The host presses for the next hand, as hosts do."""
        while True:
            phone = self._host()
            await phone.until(lambda p: _next_press(p) is not None or not _hosts(p))
            press = _next_press(phone) if _hosts(phone) else None
            if press is None:
                continue
            with contextlib.suppress(Stale):
                if (await phone.move(press)).no is not None:
                    await asyncio.sleep(0.2)

    async def _fidget(self) -> None:
        """What is asked of the lobby may fail, and is not asked again: the player presses no second time."""
        while True:
            await asyncio.sleep(self._dice.uniform(*FIDGETS) * max(1.0, self._wish.rooms / FIDGETERS))
            phone = self._dice.choice(self.phones)
            with contextlib.suppress(Refused, TimeoutError):
                await phone.act(client_in.SetColour(self._dice.randrange(8)))

    def _host(self) -> Phone:
        return next((p for p in self.phones if _hosts(p)), self.phones[0])

    async def _cancel(self) -> None:
        tasks, self._tasks = self._tasks, []
        while tasks:
            for task in tasks:
                task.cancel()
            _, left = await asyncio.wait(tasks, timeout=1.0)
            tasks = list(left)

    # ---- hushing ----------------------------------------------------------------------

    async def hush(self) -> None:
        """Nobody moves any more, all moves are answered, and the table stands still."""
        await self._cancel()
        try:
            async with asyncio.timeout(ANSWERS_WITHIN):
                for phone in self.phones:
                    await phone.until(lambda p: not p.outbox.pending)
        except TimeoutError:
            self._fall(ANSWERED, "; ".join(p.described() for p in self.phones if p.outbox.pending))
            return
        except Refused as error:
            self._fall(PLAYS_ON, repr(error))
            return
        self._found.check(ANSWERED, True, "")
        try:
            async with asyncio.timeout(STILL_WITHIN):
                await self._stand_still()
        except (TimeoutError, Refused) as error:
            where = [(p.screen.phase(), p.screen.table.paused_by if p.screen.table else None) for p in self.phones]
            self._fall(COMES_BACK, f"it never stood still: {error!r}, {where}")
            return
        self._found.check(COMES_BACK, True, "")

    def _fall(self, invariant: str, words: str) -> None:
        self.fell = words
        self._found.check(invariant, False, f"{self.room}: {words}")

    async def _stand_still(self) -> None:
        while True:
            phone = self._host()
            await phone.until(lambda p: _still(p) or p.screen.live or not _hosts(p))
            if _still(phone):
                return
            if phone.screen.live:
                with contextlib.suppress(Stale):
                    await phone.move(client_in.Pause())

    async def resume(self) -> None:
        """The game goes on where it was hushed."""
        if self.fell:
            return
        phone = self._host()
        table = phone.screen.table
        if table is not None and table.phase == "live" and table.paused_by is not None and table.paused_by >= 0:
            try:
                async with asyncio.timeout(ANSWERS_WITHIN):
                    await phone.move(client_in.Resume())
            except (TimeoutError, Refused, Stale) as error:
                self._fall(COMES_BACK, f"it could not be resumed: {error!r}; {phone.described()}")

    # ---- comparing ----------------------------------------------------------------------

    async def compare(self, witness: LogWitness) -> RoomVerdict:
        """Second tabs take over from the first: what these show is the engine's, and they play on."""
        verdict = RoomVerdict(fell=self.fell)
        if self.fell:
            verdict.unanswered = sum(len(p.outbox.pending) for p in self.phones)
            said = log_says(witness.rooms.get(self.room), self.phones)
            self._found.told.append(f"{self.room} fell, its log says: {said}")
            return verdict
        olds, self.phones = self.phones, []
        log = witness.rooms.get(self.room)
        kept: list[Any] = []
        fresh: list[Any] = []
        replayed: list[Any] = []
        try:
            async with asyncio.timeout(FRESH_WITHIN):
                for old in olds:
                    new = self._fresh(old.token)
                    self.phones.append(new)
                    await new.until(lambda p: p.screen.table is not None)
                    await old.taken_over.wait()
                    self._compare_pages(old, new)
                    kept.append(old.screen.view)
                    fresh.append(new.screen.view)
                    seat = old.screen.seat
                    if seat is None:
                        continue
                    replayed.append(log.replayed(seat) if log is not None else None)
                    judge_view(log, self.room, seat, old.screen.view, self._found)
                    told = {id: t.no for id, t in old.told.items()}
                    found = judge_ledger(log, self.room, seat, old.tab, told, self._found, old.screen.answered)
                    verdict.acknowledged += found.moves
                    verdict.lost += found.lost
                    verdict.untold += found.untold
                    if log is not None:
                        log.forget(seat, old.tab)
                if log is not None:  # bots' moves too
                    verdict.doubled, log.twice = len(log.twice), []
                if self.tv is not None:
                    seen, engine = await self._compare_tv(self.tv)
                    kept.append(seen)
                    fresh.append(engine)
                    replayed.append(log.replayed(None) if log is not None else None)
                    judge_view(log, self.room, None, seen, self._found)
        except (TimeoutError, Refused) as error:
            self._fall(COMES_BACK, f"a second tab or TV never got its table: {error!r}")
            verdict.fell = self.fell
            return verdict
        finally:
            for old in olds:
                old.stop()
        await self._compare_lobby()
        verdict.hashes = {"clients": digest(kept), "engine": digest(fresh), "log": digest(replayed)}
        return verdict

    def _compare_pages(self, old: Phone, new: Phone) -> None:
        for what in ("view", "table", "seq", "you"):
            a, b = getattr(old.screen, what), getattr(new.screen, what)
            words = "" if a == b else differences(a, b, SIDES)
            self._found.check(SAME_VIEW, a == b, f"{self.room} seat {old.screen.seat}, {what}{words}")

    async def _compare_lobby(self) -> None:
        """All pages have one lobby, which knows of the table and of everyone at it."""
        try:
            async with asyncio.timeout(LOBBY_WITHIN):
                for phone in self.phones:
                    await phone.until(lambda p: not lobby_faults(p))
                rev = max(p.lobby.rev for p in self.phones if p.lobby is not None)
                for phone in self.phones:
                    await phone.until(lambda p: p.lobby is not None and p.lobby.rev >= rev)
        except TimeoutError:
            faults = "; ".join(f"seat {p.screen.seat}: {lobby_faults(p) or 'is behind'}" for p in self.phones)
            self._found.check(LOBBIES, False, f"{self.room}: {faults}")
        else:
            self._found.check(LOBBIES, True, "")

    async def _compare_tv(self, tv: Tv) -> tuple[Any, Any]:
        assert self._tv_url is not None
        second = Tv(self._tv_url, self.room, self._found)
        second.start()
        try:
            await second.until(lambda t: t.screen.table is not None)
            # What TVs share may be behind the engine, whom the pages asked: it has a moment, if it lost its NATS.
            seq = max([second.screen.seq, *(p.screen.seq for p in self.phones)])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FRESH_WITHIN / 3):
                    for screen in (second, tv):
                        await screen.until(lambda t: t.screen.seq >= seq)
        finally:
            second.stop()
        a, b = tv.screen.view, second.screen.view
        self._found.check(SAME_VIEW, a == b, f"{self.room} TV{'' if a == b else differences(a, b, SIDES)}")
        return a, b


def _hosts(phone: Phone) -> bool:
    table = phone.screen.table
    return table is not None and table.host == phone.screen.seat


_PRESSES: dict[str, Callable[[], Any]] = {
    "setup": client_in.Deal,
    "scores": client_in.NextHand,
    "standings": client_in.NewGame,
}


def _next_press(phone: Phone) -> Any:
    """What a host presses now; None: nothing."""
    table = phone.screen.table
    if table is None or (table.phase == "scores" and table.over) or not phone.live:
        return None
    press = _PRESSES.get(table.phase)
    return press() if press is not None else None


def _still(phone: Phone) -> bool:
    """Nothing happens at this table by itself, nor by a bot."""
    table = phone.screen.table
    if table is None:
        return False
    if table.phase == "live":
        return table.paused_by is not None
    return table.phase in ("setup", "standings") or (table.phase == "scores" and not table.over)
