"""The WebSocket that always comes back, as the page's own (`web/src/lib/link.ts`): back-off, pings, silence noticed.

A socket is dead when nothing was heard for `SILENCE`; while something is owed, as the
answer to a move, when nothing was heard for `DOUBT_AFTER` nor within `PONG_WITHIN` of a
ping then.  Anything heard is life.  What a slow connection can't keep is lengthened
after each try that it made futile.

Calls only, no task: what is heard is handed on at once, and what is sent is written at
once or not at all.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from random import Random
from typing import Protocol, cast

import msgspec
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from wire import client_in

FIRST_WAIT, LONGEST_WAIT = 0.2, 5.0
"""Seconds before another try: doubled by each failure, less up to a half by chance."""
PING_EVERY = 5.0
SILENCE = 11.0
"""Seconds without a word, pongs included: the socket is dead, whatever it says."""
OPEN_WITHIN, OPEN_WITHIN_MOST = 4.0, 12.0
"""Seconds that opening may take at first, and at most: a stopped server's kernel takes connections nobody serves, and
only another connection may fall to a server that lives."""
OPEN_TIMES, OPEN_WITHIN_LEAST = 4, 1.0
"""The same once it is known how fast a socket opens here: so many times that, at the least so much."""
DOUBT_AFTER = 3.0
"""Seconds without a word though something is owed, after which a ping asks whether anybody is there."""
PONG_WITHIN, PONG_WITHIN_MOST = 2.0, SILENCE - DOUBT_AFTER
"""Seconds that its answer may take at first, and at most."""

FINAL = frozenset({4001, 4002, 4003, 4004})
"""Taken over, bad token, removed, bad hello: coming back by itself would be wrong."""

_MAX_MESSAGE = 4 << 20
_encode = msgspec.json.Encoder().encode


class LinkListener(Protocol):
    """Who speaks on a link.  None of these may wait."""

    def hello(self) -> bytes: ...

    def heard(self, data: bytes) -> bool:
        """A message; whether it shows that the server serves us (neither a pong nor an error)."""
        ...

    def owed(self) -> bool:
        """Something should be heard soon: a silence means something."""
        ...

    def down(self) -> None:
        """An open socket is lost, or one could not be opened; another is tried."""
        ...

    def ended(self, code: int, reason: str) -> None:
        """Closed for good."""
        ...


class Link:
    """`start`, and `stop` for good.  Times are seconds."""

    def __init__(self, url: str, listener: LinkListener, dice: Random) -> None:
        self.url = url
        self._uri = parse_uri(url)
        self._listener, self._dice = listener, dice
        self._socket: _Socket | None = None
        self._running = False
        self._tries = 0
        self._heard = 0.0
        """When something was; the opening counts."""
        self._began = 0.0
        """When the opening did."""
        self._greeted = False
        """Something was heard on this socket."""
        self._asked = 0.0
        """When the first thing was said since anything was heard; 0: none."""
        self._replied = 0.0
        """When something was heard first after something was said."""
        self._open_within, self._pong_within = OPEN_WITHIN, PONG_WITHIN
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._opening: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._socket is not None and self._socket.opened

    def start(self) -> None:
        if not self._running:
            self._running = True
            self._connect()

    def stop(self) -> None:
        """Says goodbye; nothing more is heard."""
        self._running = False
        self._drop(abort=False)

    def send(self, data: bytes) -> bool:
        """Now or not at all: False when the socket is not open."""
        if self._socket is None or not self._socket.opened:
            return False
        self._socket.say(data)
        self._asked = self._asked or time.monotonic()
        return True

    # ---- opening ----

    def _connect(self) -> None:
        self._began = time.monotonic()
        socket = self._socket = _Socket(self)
        self._opening = asyncio.create_task(self._dial(socket))
        self._after("open", self._open_within, self._too_slow_to_open)

    async def _dial(self, socket: _Socket) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: socket, self._uri.host, self._uri.port)
        except OSError:
            self._lost(socket, 0, "")

    def handshake(self) -> ClientProtocol:
        return ClientProtocol(self._uri, max_size=_MAX_MESSAGE)

    def _opened(self, socket: _Socket) -> None:
        if socket is not self._socket:
            return
        self._cancel("open")
        usual = OPEN_TIMES * (time.monotonic() - self._began)
        self._open_within = min(OPEN_WITHIN_MOST, max(OPEN_WITHIN_LEAST, usual))
        self._greeted = False
        self._heard = self._asked = time.monotonic()
        socket.say(self._listener.hello())
        self._ping()
        self._after("silence", SILENCE, self._look)
        self._after("doubt", DOUBT_AFTER, self._doubt)

    # ---- while it is open ----

    def _hear(self, socket: _Socket, data: bytes) -> None:
        if socket is not self._socket:
            return
        self._heard = time.monotonic()
        self._greeted = True
        if self._asked:
            self._asked, self._replied = 0.0, self._heard
        if self._listener.heard(data):
            # A socket that is taken and thrown out again at once must not come back without a wait.
            self._tries = 0

    def _ping(self) -> None:
        self.send(_encode(client_in.Ping(time.monotonic())))
        self._after("ping", PING_EVERY, self._ping)

    def _doubt(self) -> None:
        """Something is owed, and nothing was heard for a while: is anybody there?"""
        now = time.monotonic()
        if self._greeted and not self._listener.owed():
            self._after("doubt", DOUBT_AFTER, self._doubt)
        elif (left := max(self._heard, self._asked) + DOUBT_AFTER - now) > 0:
            self._after("doubt", left, self._doubt)
        else:
            self.send(_encode(client_in.Ping(now)))
            self._after("doubt", self._pong_within, partial(self._judge, now))

    def _judge(self, asked: float) -> None:
        """The answer to a doubting ping has had its time: anything heard since then is one."""
        if self._heard > asked:
            if self._replied - asked <= PONG_WITHIN:
                self._pong_within = PONG_WITHIN
            self._doubt()
        else:
            # If a new socket is as slow as this one, it has longer.
            self._pong_within = min(PONG_WITHIN_MOST, 2 * self._pong_within)
            self._give_up()

    def _too_slow_to_open(self) -> None:
        self._open_within = min(OPEN_WITHIN_MOST, 1.5 * self._open_within)
        self._drop(abort=True)
        self._listener.down()
        if self._running:
            self._connect()

    def _look(self) -> None:
        left = self._heard + SILENCE - time.monotonic()
        if left > 0:
            self._after("silence", left, self._look)
        else:
            self._give_up()

    # ---- closing ----

    def _give_up(self) -> None:
        self._drop(abort=True)
        self._again()

    def _lost(self, socket: _Socket, code: int, reason: str) -> None:
        if socket is not self._socket:
            return
        self._drop(abort=True)
        if code in FINAL:
            self._running = False
            self._listener.ended(code, reason)
        else:
            self._again()

    def _again(self) -> None:
        if not self._running:
            return
        self._listener.down()
        full = min(LONGEST_WAIT, FIRST_WAIT * 2**self._tries)
        self._tries += 1
        self._after("again", full * (0.5 + self._dice.random() / 2), self._connect)

    def _drop(self, abort: bool) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.end(abort)
        if self._opening is not None and self._opening is not asyncio.current_task():
            self._opening.cancel()
        self._opening = None

    def _after(self, name: str, seconds: float, call: object) -> None:
        self._cancel(name)
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, call)  # type: ignore[arg-type]

    def _cancel(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()


_WHOLE_TEXT = 0x81


def _frame_at(data: bytes, at: int) -> tuple[int, int] | None:
    """Where the payload of a server's frame begins and ends; None while it isn't whole."""
    left = len(data) - at
    if left < 2:
        return None
    size, begin = data[at + 1], at + 2
    if size == 126:
        size, begin = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
    elif size == 127:
        size, begin = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
    if left < begin - at + size:
        return None
    return begin, begin + size


class _Socket(asyncio.Protocol):
    """One connection of a link."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._ws = link.handshake()
        self._transport: asyncio.Transport | None = None
        self._parts: list[bytes] = []
        self._rest = b""
        self.opened = False

    # ---- for the link ----

    def say(self, data: bytes) -> None:
        if self._ws.state is State.OPEN:  # while it closes nobody hears it
            self._ws.send_text(data)
            self._write()

    def end(self, abort: bool) -> None:
        """With a goodbye, or cut off."""
        self.opened = False
        if self._transport is None:
            return
        if not abort and self._ws.state is State.OPEN:
            self._ws.send_close(1000)
            self._write()
            self._transport.close()
        else:
            self._transport.abort()

    # ---- asyncio's ----

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass
        if self._link._socket is not self:
            self._transport.abort()
            return
        self._ws.send_request(self._ws.connect())
        self._write()

    def data_received(self, data: bytes) -> None:
        if not self.opened:
            self._receive(data)
            return
        # Whole text frames, nearly all there are, are read right here: the players share their
        # machine with the servers that they measure.
        data = self._rest + data
        at = 0
        while (body := _frame_at(data, at)) is not None:
            begin, end = body
            if data[at] == _WHOLE_TEXT and not self._parts:
                self._link._hear(self, data[begin:end])
            else:
                self._receive(data[at:end])
            at = end
        self._rest = data[at:]

    def _receive(self, data: bytes) -> None:
        """The handshake, and every other kind of frame."""
        self._ws.receive_data(data)
        self._write()
        if self._ws.state is State.CLOSING:  # the goodbye was among it: nothing may be said any more
            self.opened = False
        for event in self._ws.events_received():
            if isinstance(event, Response):
                if self._ws.state is State.OPEN:
                    self.opened = True
                    self._link._opened(self)
            elif isinstance(event, Frame):
                self._take(event)
        if self._ws.close_expected() and self._transport is not None:
            self._transport.close()

    def _take(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return
        if frame.fin and not self._parts:
            self._link._hear(self, bytes(frame.data))
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            whole, self._parts = b"".join(self._parts), []
            self._link._hear(self, whole)

    def eof_received(self) -> None:
        self._ws.receive_eof()

    def connection_lost(self, error: Exception | None) -> None:
        self.opened = False
        if self._ws.state is not State.CLOSED:
            self._ws.receive_eof()
        closed = self._ws.close_rcvd
        self._link._lost(self, closed.code if closed else 1006, closed.reason if closed else "")

    def _write(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        data = b"".join(part for part in self._ws.data_to_send() if part)
        if data:
            self._transport.write(data)
