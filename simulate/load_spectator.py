"""A TV that watches one of the rooms: it hears what everybody sees, and how late."""

from __future__ import annotations

import asyncio
import time
from random import Random
from typing import Any

import msgspec

from simulate.load_picture import Picture, decode
from simulate.load_seat import FIRST_WAIT, LONGEST_WAIT
from simulate.load_socket import Socket, dial
from simulate.load_tally import Tally
from wire import client_in
from wire import client_out as out

_encode = msgspec.json.Encoder().encode


class Spectator:
    """`start`; it comes back by itself until `leave`.  A slow one reads nothing for most of the time."""

    def __init__(self, url: str, code: str, picture: Picture, dice: Random, tally: Tally, slow: bool) -> None:
        self._url, self._code, self._picture, self._dice, self._tally = url, code, picture, dice, tally
        self.slow = slow
        self.socket: Socket | None = None
        self.live = False
        self._n: int | None = None
        self._tries = 0
        self._left = False
        self._dialing: asyncio.Future[None] | None = None

    def start(self) -> None:
        self._dialing = asyncio.ensure_future(self._come())

    async def _come(self) -> None:
        try:
            self.socket = await dial(self._url, self)
        except OSError:
            self._tally.errors["tv connect"] += 1
            self._again()
            return
        if self._left:
            self.socket.close()
            return
        self.socket.send(_encode(client_in.Watch(out.VERSION, self._code)))

    def _again(self) -> None:
        if not self._left:
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2**self._tries) * (0.5 + self._dice.random() / 2)
            self._tries += 1
            asyncio.get_running_loop().call_later(wait, self.start)

    def leave(self) -> None:
        self._left = True
        if self.socket is not None:
            self.socket.close()

    def stop_reading(self) -> None:
        if self.socket is not None:
            self.socket.pause()

    def read_on(self) -> None:
        if self.socket is not None:
            self.socket.resume()

    def lost(self, socket: Socket, code: int) -> None:
        self._tally.closes[f"tv {code}"] += 1
        self.live, self._n = False, None
        self._again()

    def heard(self, socket: Socket, data: bytes) -> None:
        frame = self._picture.table_frame(data, self)
        if frame is None:
            self._other(decode(data))
            return
        now = time.monotonic()
        tally = self._tally
        if self._n is not None and frame.n != self._n + 1:
            tally.gaps += 1
            tally.amiss(f"TV of {self._code}: table frame {frame.n} after {self._n}")
        self._n = frame.n
        if not self.slow:
            for _, _, due, _ in frame.moves:
                if due is not None and tally.start <= due < tally.end:
                    tally.tv.append(now - due)

    def _other(self, message: Any) -> None:
        match message:
            case out.Snapshot():
                self._n, self._tries = None, 0
                self.live = True
            case out.Waiting() | out.NoTable():
                self.live = False
            case out.Error(code=code):
                self._tally.errors[f"tv {code}"] += 1
