"""One gRPC call on a connection of its own: the part of HTTP/2 that both ends need for it.

Messages whole and in order, flow control both ways, signs of life.  RFC 9113 and gRPC's own
bytes on the wire, so that either end may be any gRPC.
"""

from __future__ import annotations

import asyncio
import struct
from typing import cast

from servicekit.pace import pace

MAX_MESSAGE = 8 * 1024 * 1024
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS, PADDED = 0x1, 0x1, 0x4, 0x8
ENABLE_PUSH, INITIAL_WINDOW, MAX_FRAME = 2, 4, 5
CONNECTION, CALL = 0, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CONTENT_TYPE = b"\x0f\x10\x10application/grpc"
_LONGEST, _LONGEST_HERE = (1 << 24) - 1, 16384

_setting = struct.Struct(">HI")
_prefix = struct.Struct(">BI")


class Broken(ConnectionError):
    """The call is over, or never began: in words."""


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """One HTTP/2 frame."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def text(value: bytes) -> bytes:
    """A string of a header block, as HPACK has short ones (RFC 7541, 5.2)."""
    assert len(value) < 127, "longer ones are written otherwise"
    return bytes((len(value),)) + value


class Http2Call(asyncio.Protocol):
    """Subclasses say what opens the connection, and hear messages and the end."""

    ping_every, pong_within = 2.0, 1.5
    window = 1 << 24
    """Bytes of messages that the other end may send before it is told that they were read."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self.over = ""
        """Why it is over; "" while it isn't."""
        self._rest = b""
        self._message = b""
        self._unread = 0
        self._holds = False
        self._windows = {CONNECTION: 65535, CALL: 65535}
        """What may be sent yet."""
        self._initial_window = 65535
        self._max_frame = 16384
        self._may_send = asyncio.Event()
        self._may_send.set()
        self._heard = True
        self._pulse: asyncio.TimerHandle | None = None

    # ---- what subclasses say and hear ----

    def greeting(self) -> bytes:
        """What goes out first of all."""
        raise NotImplementedError

    def on_message(self, body: bytes) -> None:
        """One message.  Whatever it raises ends the call."""
        raise NotImplementedError

    def on_headers(self, ended: bool) -> None:
        raise NotImplementedError

    def on_over(self) -> None:
        """Once."""
        raise NotImplementedError

    # ---- sending ----

    async def send(self, body: bytes) -> None:
        """Send a message, as soon as the other end takes it; one after another.  Raises Broken."""
        data = _prefix.pack(0, len(body)) + body
        windows = self._windows
        while data:
            await self._may_send.wait()
            if self.over or self.transport is None:
                raise Broken(self.over)
            size = min(len(data), self._max_frame, windows[CONNECTION], windows[CALL])
            if size <= 0:
                self._may_send.clear()
                continue
            for which in windows:
                windows[which] -= size
            self.transport.write(frame(DATA, 0, CALL, data[:size]))
            data = data[size:]

    def hold(self) -> None:
        """Take no more messages than the window lets through; signs of life are taken and given all the same."""
        self._holds = True

    def release(self) -> None:
        """Go on, after `hold`."""
        self._holds = False
        self._tell_read()

    def put(self, data: bytes) -> None:
        """Frames that flow control doesn't count."""
        if self.transport is not None and not self.over:
            self.transport.write(data)

    def end(self, why: str) -> None:
        """It is over, by whomever."""
        if self.over:
            return
        self.over = why or "over"
        if self._pulse is not None:
            self._pulse.cancel()
        if self.transport is not None:
            self.transport.abort()
        self._may_send.set()
        self.on_over()

    # ---- the connection ----

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by type
        if self.over:
            self.transport.abort()
            return
        self.transport.write(self.greeting())  # before anything that the other end says is answered
        self._pulse = self.loop.call_later(self.ping_every, self._ping)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end(repr(exc) if exc is not None else "the connection was closed")

    def pause_writing(self) -> None:
        self._may_send.clear()

    def resume_writing(self) -> None:
        self._may_send.set()

    def _ping(self) -> None:
        self._heard = False
        self.put(frame(PING, 0, CONNECTION, b"snatched"))
        self._pulse = self.loop.call_later(self.pong_within, self._pong_due)

    def _pong_due(self) -> None:
        if not self._heard:
            self.end("no sign of life")
            return
        self._pulse = self.loop.call_later(self.ping_every - self.pong_within, self._ping)

    # ---- frames ----

    def data_received(self, data: bytes) -> None:
        self._heard = True
        pace.heard()
        data, at = self._rest + data if self._rest else data, 0
        while len(data) - at >= 9 and not self.over:
            size = int.from_bytes(data[at : at + 3], "big")
            if size > _LONGEST_HERE:
                self.end("a frame that is too long")
                return
            if len(data) - at < 9 + size:
                break
            stream = int.from_bytes(data[at + 5 : at + 9], "big") & 0x7FFFFFFF
            self._take(data[at + 3], data[at + 4], stream, data[at + 9 : at + 9 + size])
            at += 9 + size
        self._rest = data[at:]

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == DATA and stream == CALL:
            self._take_data(flags, payload)
        elif kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload) - 5, 6):
                self._set(*_setting.unpack_from(payload, at))
            self.put(frame(SETTINGS, ACK, CONNECTION, b""))
        elif kind == PING and not flags & ACK:
            self.put(frame(PING, ACK, CONNECTION, payload))
        elif kind == WINDOW_UPDATE and stream in self._windows and len(payload) == 4:
            self._windows[stream] += int.from_bytes(payload, "big") & 0x7FFFFFFF
            self._may_send.set()
        elif kind == HEADERS and stream == CALL:
            self.on_headers(bool(flags & END_STREAM))
        elif kind == RST_STREAM and stream == CALL:
            self.end(f"the other end broke the call off: {int.from_bytes(payload[:4], 'big')}")
        elif kind == GOAWAY and int.from_bytes(payload[:4], "big") < CALL:
            self.end("the other end took no call")

    def _set(self, setting: int, value: int) -> None:
        if setting == INITIAL_WINDOW:
            self._windows[CALL] += value - self._initial_window
            self._initial_window = value
            self._may_send.set()
        elif setting == MAX_FRAME:
            self._max_frame = min(value, _LONGEST)

    def _tell_read(self) -> None:
        if self._unread > self.window // 2 and not self._holds:
            more = self._unread.to_bytes(4, "big")
            self.put(frame(WINDOW_UPDATE, 0, CONNECTION, more) + frame(WINDOW_UPDATE, 0, CALL, more))
            self._unread = 0

    def _take_data(self, flags: int, payload: bytes) -> None:
        self._unread += len(payload)
        self._tell_read()
        if flags & PADDED:
            payload = payload[1 : len(payload) - payload[0]]
        self._message = self._message + payload if self._message else payload
        while len(self._message) >= _prefix.size and not self.over:
            compressed, size = _prefix.unpack_from(self._message)
            if compressed or size > MAX_MESSAGE:
                self.end("a message that can't be read")
                return
            if len(self._message) < _prefix.size + size:
                break
            body = self._message[_prefix.size : _prefix.size + size]
            self._message = self._message[_prefix.size + size :]
            try:
                self.on_message(body)
            except Exception as error:
                self.end(repr(error))
                return
        if flags & END_STREAM:
            self.end("the other end ended the call")


def settings(window: int) -> bytes:
    """What either end says of itself first: no pushes, and its window, larger than 64 KB."""
    told = _setting.pack(ENABLE_PUSH, 0) + _setting.pack(INITIAL_WINDOW, window)
    more = frame(WINDOW_UPDATE, 0, CONNECTION, (window - 65535).to_bytes(4, "big"))
    return frame(SETTINGS, 0, CONNECTION, told) + more
