"""One reader of a room: which frames it takes, and when it needs a snapshot instead."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit import logs
from servicekit.engines import EngineAway, EngineRefusal
from wire import frames
from wire.frames import Beacon, Frame

MAX_HELD = 4096
"""Frames held while a snapshot is on its way; more, and another snapshot is asked for."""
FIRST_TRY, NEXT_TRY = 1.0, 5.0
"""Seconds until “waiting for the table” is said, and of each attempt after that."""
AFTER_FAULT = 1.0
"""Seconds until a snapshot is asked for again after a fault of our own."""
OLDER_TRIES, OLDER_PAUSE = 5, 0.2
"""A snapshot of an older epoch than was heard of is from an engine that was replaced and doesn't know it yet:
asked for again so often, so many seconds apart.  Then the log itself began anew, and it is believed."""


class Reader(Protocol):
    """What an audience tells.  None of these may wait."""

    def on_snapshot(self, snapshot: pb.Snapshot) -> None: ...

    def on_frame(self, frame: Frame) -> None: ...

    def on_waiting(self) -> None:
        """A snapshot is wanted and can't be had just now.  A snapshot ends it."""
        ...

    def on_refused(self, detail: str) -> None:
        """`no_table`, `taken_over`: no more frames for this reader."""
        ...


class Audience:
    """`seat` None: the TV.  Made holding: frames wait until `release` says what they follow.

    `ask(timeout)` gets a snapshot, raising EngineAway or EngineRefusal.
    """

    def __init__(self, reader: Reader, ask: Callable[[float], Awaitable[pb.Snapshot]], seat: int | None = None) -> None:
        self.seat = seat
        self.unseated = False
        """A seat's reader that doesn't know its number yet: all seats' frames are held for it."""
        self.epoch = 0
        self.table_number = 0
        self.seat_number = 0
        self._reader = reader
        self._ask = ask
        self._held: list[tuple[int | None, Frame]] | None = []
        self._overflow = False
        self._told_waiting = False
        self._behind = 0
        self._asking: asyncio.Task[None] | None = None
        self._closed = False

    def close(self) -> None:
        self._closed = True
        if self._asking is not None:
            self._asking.cancel()
        self._held = []

    # ---- frames ----

    def take_table(self, frame: Frame) -> None:
        if self._held is not None:
            self._hold(None, frame)
        elif self._follows(frame, self.table_number):
            self.table_number = frame.number
            self._show(frame)

    def take_seat(self, seat: int, frame: Frame) -> None:
        if seat != self.seat and not self.unseated:
            return
        if self._held is not None:
            self._hold(seat, frame)
        elif self._follows(frame, self.seat_number):
            self.seat_number = frame.number
            self._show(frame)

    def take_beacon(self, epoch: int, beacon: Beacon) -> None:
        if self._held is not None or epoch < self.epoch:
            return
        own = 0 if self.seat is None else beacon.seats.get(self.seat, 0)
        if beacon.table == self.table_number and (self.seat is None or own == self.seat_number):
            self.epoch, self._behind = epoch, 0
        elif beacon.table > self.table_number or own > self.seat_number or epoch > self.epoch:
            self.doubt()
        else:
            # A snapshot may be ahead of a beacon that is on its way, but not of two of them.
            self._behind += 1
            if self._behind > 1:
                self.doubt()

    def _follows(self, frame: Frame, after: int) -> bool:
        if frame.epoch < self.epoch:
            return False
        if frame.number == after + 1:
            self.epoch = frame.epoch
            return True
        if frame.number > after or frame.epoch > self.epoch:
            self.doubt()
            # The frame that showed the gap follows the snapshot, or is in it.
            if self._held is not None:
                self._hold(self.seat if frame.kind == frames.SEAT else None, frame)
        return False

    def _show(self, frame: Frame) -> None:
        """A reader that stumbles starts anew from a snapshot; the room's other readers never notice."""
        try:
            self._reader.on_frame(frame)
        except Exception:
            logs.logger(__name__).exception("a reader stumbled over a frame")
            self.doubt()

    def _hold(self, seat: int | None, frame: Frame) -> None:
        assert self._held is not None
        if len(self._held) >= MAX_HELD:
            self._held.clear()
            self._overflow = True
        self._held.append((seat, frame))

    # ---- snapshots ----

    def begin(self) -> None:
        """Ask for the first snapshot."""
        self._asking = asyncio.create_task(self._ask_until_answered(quiet=False))

    def doubt(self) -> None:
        """Something was missed: hold, and get a snapshot."""
        if self._held is None and not self._closed:
            self._held, self._overflow = [], False
            self._asking = asyncio.create_task(self._ask_until_answered(quiet=False))

    def check(self) -> None:
        """Perhaps something was missed: ask, and say nothing if it wasn't."""
        if self._held is None and not self._closed:
            self._held, self._overflow = [], False
            self._asking = asyncio.create_task(self._ask_until_answered(quiet=True))

    def release(self, snapshot: pb.Snapshot, *, quiet: bool = False) -> None:
        """Start from this snapshot: tell it, then the held frames that follow it."""
        if self._closed:
            return
        known = (self.table_number, self.seat_number) == (snapshot.table_number, snapshot.seat_number)
        self.epoch, self._behind, self.unseated = snapshot.epoch, 0, False
        self.table_number, self.seat_number = snapshot.table_number, snapshot.seat_number
        if not (quiet and known and not self._told_waiting):
            self._told_waiting = False
            self._reader.on_snapshot(snapshot)
        held, self._held = self._held or [], None
        if self._overflow:
            self.doubt()
            return
        for at, (seat, frame) in enumerate(held):
            if seat is None:
                self.take_table(frame)
            else:
                self.take_seat(seat, frame)
            if self._held is not None:
                self._held.extend(held[at + 1 :])
                return

    def _newest(self) -> int:
        """The highest epoch heard of."""
        return max([self.epoch, *(frame.epoch for _, frame in self._held or ())])

    async def _ask_until_answered(self, *, quiet: bool) -> None:
        timeout, older = FIRST_TRY, 0
        while not self._closed:
            try:
                snapshot = await self._ask(timeout)
                if snapshot.epoch < self._newest() and older < OLDER_TRIES:
                    older += 1
                    await asyncio.sleep(OLDER_PAUSE)
                    continue
                self.release(snapshot, quiet=quiet)
                return
            except EngineAway:
                if not self._told_waiting and not self._closed:
                    self._told_waiting = True
                    self._reader.on_waiting()
                timeout = NEXT_TRY
            except EngineRefusal as refusal:
                if not self._closed:
                    self._reader.on_refused(refusal.detail)
                return
            except Exception:
                logs.logger(__name__).exception("a snapshot could not be had, or read")
                await asyncio.sleep(AFTER_FAULT)
