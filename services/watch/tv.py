"""A TV's socket: which room, then pings.  What it is shown is its room's show.

It hears the table's frames only; nothing that a seat alone may know comes to this process.
"""

from __future__ import annotations

import asyncio

import msgspec

from servicekit.greeting import BadGreeting, read_greeting
from servicekit.limits import Bucket
from servicekit.sockets import BAD_HELLO, NO_ROOM, POLICY, Socket
from services.watch.shows import Shows
from wire import client_in
from wire.client_out import Pong
from wire.places import tidy_code

PINGS_PER_SECOND, PINGS_BURST = 5.0, 20.0
MAX_BAD = 10

_messages: msgspec.json.Decoder[client_in.TvMessage] = msgspec.json.Decoder(client_in.TvMessage)


class Tv:
    """One socket, from the room it names to its end: no task, and no timer once it has named it."""

    __slots__ = ("_bad", "_bucket", "_hello", "_room", "_shows", "_socket")

    def __init__(self, socket: Socket, shows: Shows) -> None:
        self._socket = socket
        self._shows = shows
        self._room = ""
        self._bad = 0
        self._bucket: Bucket | None = None
        within = shows.parts.settings.hello_timeout
        self._hello: asyncio.TimerHandle | None = asyncio.get_running_loop().call_later(within, self._too_late)

    def on_message(self, data: str | bytes) -> None:
        if self._hello is not None:
            self._hello.cancel()
            self._hello = None
            self._begin(data)
            return
        self._count()
        try:
            message = _messages.decode(data)
            why = "watch comes once"
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            message, why = None, str(error)[:200]
        if isinstance(message, client_in.Ping):
            self._socket.send(msgspec.json.encode(Pong(message.at)))
            return
        self._bad += 1
        self._shows.parts.metrics.error_told("bad_message")
        self._socket.error("bad_message", why)
        if self._bad > MAX_BAD:
            self._socket.close(POLICY, "too many bad messages")

    def on_gone(self) -> None:
        if self._hello is not None:
            self._hello.cancel()
            self._hello = None
        if self._room:
            self._shows.leave(self._room, self._socket)

    def _begin(self, data: str | bytes) -> None:
        try:
            watch = read_greeting(data, _messages, client_in.Watch)
        except BadGreeting as bad:
            self._refuse(bad.code, bad.text, BAD_HELLO)
            return
        code = tidy_code(watch.room)
        if code is None:
            self._refuse("no_room", "that is no room code", NO_ROOM)
            return
        self._room = code
        self._shows.enter(code, self._socket)

    def _count(self) -> None:
        """Above its limit a TV is read more slowly."""
        loop = asyncio.get_running_loop()
        if self._bucket is None:
            self._bucket = Bucket(PINGS_PER_SECOND, PINGS_BURST, loop.time())
        wait = self._bucket.take(loop.time())
        if wait:
            self._socket.hold()
            loop.call_later(wait, self._read_on)

    def _read_on(self) -> None:
        assert self._bucket is not None
        self._bucket.take(asyncio.get_running_loop().time())
        self._socket.release()

    def _too_late(self) -> None:
        self._hello = None
        self._refuse("bad_message", "no watch came", BAD_HELLO)

    def _refuse(self, code: str, text: str, close: int) -> None:
        self._shows.parts.metrics.error_told(code)
        self._socket.error(code, text)
        self._socket.close(close, code)
