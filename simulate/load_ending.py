"""A room's end: every page is opened once more, and what it is shown is held against what its player saw all along."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from typing import Any

import msgspec

from games.snatch_solitaire.messages import View
from simulate.differences import differences
from simulate.load_orders import Ledger, RoomEnd
from simulate.load_picture import decode
from simulate.load_room import Room
from simulate.load_seat import Seat
from simulate.load_socket import Socket, dial
from simulate.load_tally import Tally
from wire import client_in
from wire import client_out as out

WITHIN = 20.0
"""Seconds for one room."""
SIDES = ("player", "engine")

_encode = msgspec.json.Encoder().encode


def state_hash(view: View | None) -> str:
    """Of a view, whoever made it."""
    return hashlib.sha256(b"" if view is None else msgspec.json.encode(view)).hexdigest()[:16]


class Fresh:
    """A page that is opened once more with the same tab, up to its snapshot."""

    def __init__(self) -> None:
        self.snapshot: asyncio.Future[out.Snapshot] = asyncio.get_running_loop().create_future()
        self.socket: Socket | None = None

    async def open(self, url: str, token: str, tab: int) -> out.Snapshot:
        """Raises OSError."""
        self.socket = await dial(url, self)
        self.socket.send(_encode(client_in.Hello(out.VERSION, token, tab)))
        return await self.snapshot

    def heard(self, socket: Socket, data: bytes) -> None:
        if not self.snapshot.done() and data.startswith(b'{"t":"snapshot"'):
            message: Any = decode(data)
            self.snapshot.set_result(message)

    def lost(self, socket: Socket, code: int) -> None:
        if not self.snapshot.done():
            self.snapshot.set_exception(OSError(f"closed with {code}"))


async def compare(room: Room, url: str, tally: Tally, compared: Counter[str]) -> RoomEnd:
    """Pauses the hand, then opens every page anew.  What differs is counted as `unequal`."""
    fresh: list[Fresh] = []
    try:
        async with asyncio.timeout(WITHIN):
            await _pause(room)
            fresh += [Fresh() for _ in room.seats]
            for seat in room.seats:
                seat.replaced = True
            snapshots = await asyncio.gather(
                *(page.open(url, seat.token, seat.tab) for page, seat in zip(fresh, room.seats, strict=True))
            )
        for seat, snapshot in zip(room.seats, snapshots, strict=True):
            _hold_against(room, seat, snapshot, tally, compared)
    except (OSError, TimeoutError) as error:
        compared["unreachable"] += 1
        tally.amiss(f"{room.code}: its end could not be compared: {error!r}")
    finally:
        for page in fresh:
            if page.socket is not None:
                page.socket.close()
        for seat in room.seats:
            seat.leave()
    return RoomEnd(room.code, {seat.number: _ledger(room, seat) for seat in room.seats}, state_hash(room.picture.view))


async def _pause(room: Room) -> None:
    """Nothing may change any more: a hand that is being dealt is waited for, and then paused."""
    screen = room.picture.screen
    await room.until(lambda: screen.phase() not in ("dealing", "countdown"))
    if screen.phase() == "live" and screen.table is not None and screen.table.paused_by is None:
        room.press(client_in.Pause())
        await room.until(
            lambda: screen.phase() != "live" or (screen.table is not None and screen.table.paused_by is not None)
        )
        await room.until_quiet()


def shown(room: Room, seat: Seat) -> View | None:
    """What this player's page shows."""
    view = room.picture.view
    return None if view is None else msgspec.structs.replace(view, mine=seat.view.mine)


def _hold_against(room: Room, seat: Seat, snapshot: out.Snapshot, tally: Tally, compared: Counter[str]) -> None:
    engine = None if snapshot.view is None else msgspec.convert(snapshot.view, View)
    mine = shown(room, seat)
    compared["engine"] += 1
    if engine != mine:
        compared["unequal"] += 1
        tally.amiss(f"{room.code} seat {seat.number}{differences(mine, engine, SIDES)}")
    if seat.phone is not None:
        compared["phones"] += 1
        if seat.phone.screen.view != mine:
            compared["unequal"] += 1
            tally.amiss(
                f"{room.code} seat {seat.number}{differences(seat.phone.screen.view, mine, ('phone', 'player'))}"
            )
    if snapshot.answered != seat.last - len(seat.pending) or snapshot.answered < seat.told:
        tally.lost += max(0, seat.told - snapshot.answered)
        tally.amiss(f"{room.code} seat {seat.number}: the engine knows {snapshot.answered} of {seat.last} moves")


def _ledger(room: Room, seat: Seat) -> Ledger:
    refused = {id: (no.code, no.by, no.pile) for id, no in seat.refused.items()}
    return Ledger(seat.tab, seat.told, sorted(seat.pending), refused, state_hash(shown(room, seat)))
