"""One room: its players come in, its hands are dealt one after another, and its end is compared."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from games.snatch_solitaire.messages import EndHand
from simulate.door import Door
from simulate.load_phone import FullPhone
from simulate.load_picture import Picture
from simulate.load_seat import Seat
from simulate.load_tally import Tally
from wire import client_in

LONGEST_GAME = "to50"
"""Hands follow each other without a setup between them."""
STEER_AGAIN = 1.0
"""Seconds after which a control that came back is tried again, if it is still wanted."""

_encode = msgspec.json.Encoder().encode


class Room:
    """`open` brings it to the game screen, `deal` to its first hand; from there its host deals by itself.

    Until `stopping`.
    """

    def __init__(
        self, number: int, seats: int, door: Door, dice: Random, tally: Tally, *, flat_out: bool, full: bool
    ) -> None:
        """`full`: each of its players has a full phone beside it."""
        self.number = number
        self.code = ""
        self.playing = False
        """Cards may move."""
        self.stopping = False
        self.seats: list[Seat] = []
        self.picture = Picture(self._due, self._changed)
        self.started: Callable[[], None] = lambda: None
        """A hand went live."""
        self._size, self._door, self._dice, self._tally = seats, door, dice, tally
        self._flat_out, self._full = flat_out, full
        self._by_number: dict[int, Seat] = {}
        self._until: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._control = (0, "")
        """The host's move that is on its way, and in which phase it was made."""
        self._steered_at = 0.0

    # ---- to the first hand ----

    async def open(self) -> None:
        """Raises OSError, TimeoutError, door.Closed."""
        began = time.monotonic()
        tickets = [await self._door.host(f"Host {self.number}", str(uuid.uuid4()))]
        self._tally.join.append(time.monotonic() - began)
        self.code = tickets[0].room
        for number in range(1, self._size):
            began = time.monotonic()
            tickets.append(await self._door.join(self.code, f"Player {number}", str(uuid.uuid4())))
            self._tally.join.append(time.monotonic() - began)
        url = self._door.url.replace("http", "ws", 1) + "/ws"
        for ticket in tickets:
            seat = Seat(self, url, ticket.token, Random(self._dice.random()), self._tally, self._flat_out)
            if self._full:
                seat.phone = FullPhone()
            self.seats.append(seat)
            await seat.connect()
        host = self.seats[0]
        await self.until(lambda: host.lobby is not None and sum(p.present for p in host.lobby.players) == self._size)
        await host.act(client_in.StartTable())
        await self.until(lambda: all(seat.live for seat in self.seats) and self._members() == self._size)

    async def deal(self) -> None:
        """Up to the countdown of the first hand."""
        self.press(client_in.SetOptions({"length": LONGEST_GAME}))
        await self.until(lambda: self.picture.screen.phase() in ("countdown", "live"))

    def _members(self) -> int:
        table = self.picture.screen.table
        return 0 if table is None else len(table.members)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until what was heard makes this true."""
        if holds():
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._until.append((holds, future))
        await future

    def news(self) -> None:
        if self._until:
            kept = []
            for holds, future in self._until:
                if future.done():
                    continue
                if holds():
                    future.set_result(None)
                else:
                    kept.append((holds, future))
            self._until = kept

    def described(self) -> str:
        """Where it stands, for a report of what went wrong."""
        screen, lobby = self.picture.screen, self.seats[0].lobby if self.seats else None
        present = sum(p.present for p in lobby.players) if lobby is not None else 0
        waiting = sum(len(seat.pending) for seat in self.seats)
        return (
            f"room {self.code}: {len(self.seats)} of {self._size} connected, {present} present in the lobby,"
            f" {self._members()} at the table, {sum(s.live for s in self.seats)} with a snapshot;"
            f" phase {screen.phase() or 'none'}, {waiting} moves wait, the host's control came to {self._came_to()}"
        )

    def _came_to(self) -> str:
        host, (id, phase) = self._host(), self._control
        no = host.refused.get(id) if host is not None else None
        return f"{no.code if no else 'nothing'} ({phase})"

    # ---- what its seats ask ----

    def sat(self, seat: Seat) -> None:
        self._by_number[seat.number] = seat

    def alone(self, seat: Seat) -> bool:
        return not any(other.live for other in self.seats if other is not seat)

    def _due(self, number: int, id: int) -> float | None:
        seat = self._by_number.get(number)
        sent = seat.pending.get(id) if seat is not None else None
        return None if sent is None else sent[0]

    # ---- the host's controls ----

    def _changed(self) -> None:
        screen = self.picture.screen
        was, self.playing = self.playing, screen.live and not self.stopping
        if self.playing and not was:
            self.started()
        elif was and not self.playing:
            for seat in self.seats:
                seat.backlog.clear()
            if screen.phase() == "scores":
                result = getattr(screen.view, "result", None)
                self._tally.hands[
                    "ended by “Snatch!”" if result and result.by is not None else "ended by the host"
                ] += 1
        if not self.stopping:
            asyncio.get_running_loop().call_soon(self.steer)
        self.news()

    def steer(self) -> None:
        """What the host presses now, if anything; asked at each change and once a second."""
        host = self._host()
        screen = self.picture.screen
        if self.stopping or host is None or not host.live or screen.table is None:
            return
        wanted = self._wanted(screen)
        id, phase = self._control
        if wanted is None or id in host.pending:
            return
        at = f"{screen.phase()} {getattr(screen.view, 'hand', 0)}"
        now = time.monotonic()
        if phase == at and now < self._steered_at + STEER_AGAIN:
            return
        self._steered_at = now
        self._control = (self.press(wanted), at)

    def _wanted(self, screen: Any) -> Any:
        table = screen.table
        match screen.phase():
            case "setup":
                dealt = table.options.get("length") == LONGEST_GAME
                return client_in.Deal() if dealt else None
            case "scores":
                return client_in.NextHand() if not table.over else client_in.Standings()
            case "standings":
                return client_in.NewGame()
            case "live":
                if table.paused_by is not None:
                    return client_in.Resume()
                return EndHand() if screen.view is not None and screen.view.end_offered else None
        return None

    def _host(self) -> Seat | None:
        table = self.picture.screen.table
        return None if table is None else self._by_number.get(table.host)

    def press(self, move: Any) -> int:
        """The host makes this move of the table now; its id."""
        host = self._host()
        assert host is not None
        self._tally.moves += 1
        return host.say(_encode(move), time.monotonic())

    # ---- the end ----

    def stop(self) -> None:
        """Nobody moves any more; what was sent is still answered."""
        self.stopping = True
        self.playing = False
        for seat in self.seats:
            seat.backlog.clear()

    async def until_quiet(self) -> None:
        """Every move that was sent is answered."""
        await self.until(lambda: self.quiet)

    @property
    def quiet(self) -> bool:
        return all(seat.settled for seat in self.seats)
