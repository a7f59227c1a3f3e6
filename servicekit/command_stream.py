"""The stream of commands to one engine: gRPC's own bytes, spoken on the loop's transport.

grpc.aio passes each message through threads of its own, which costs a process as much as
the moves of a batch.  A single call that lasts needs little of HTTP/2: this is a client for
just that, towards any gRPC server.  Flow control is kept both ways; a connection that gives
no sign of life is given up.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from typing import cast

from generated.snatch.engine.v1.engine_pb2 import CommandsRequest, CommandsResponse

PATH = b"/snatch.engine.v1.EngineService/Commands"
CONNECT_WITHIN = 2.0
PING_EVERY, PONG_WITHIN = 2.0, 1.5
"""As for every channel between services (`rpc`)."""
MAX_MESSAGE = 8 * 1024 * 1024
WINDOW = 1 << 24
"""Bytes that an engine may send before it is told that they were read."""

_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
_END_STREAM, _ACK, _END_HEADERS, _PADDED = 0x1, 0x1, 0x4, 0x8
_ENABLE_PUSH, _INITIAL_WINDOW, _MAX_FRAME = 2, 4, 5
_CONNECTION, _STREAM = 0, 1
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_LONGEST = (1 << 24) - 1
_MAX_FRAME_HERE = 16384

_setting = struct.Struct(">HI")
_prefix = struct.Struct(">BI")


class Broken(ConnectionError):
    """The call is over, or never began: in words."""


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """One HTTP/2 frame."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def headers(authority: str) -> bytes:
    """The header block of the call, by HPACK's static table, no state kept (RFC 7541, 6.2.2)."""

    def text(value: bytes) -> bytes:
        assert len(value) < 127, "longer ones are written otherwise"
        return bytes((len(value),)) + value

    method_post, scheme_http = b"\x83", b"\x86"
    path, host = b"\x04" + text(PATH), b"\x01" + text(authority.encode()[:126])
    te = b"\x00" + text(b"te") + text(b"trailers")
    content_type = b"\x0f\x10" + text(b"application/grpc")
    return method_post + scheme_http + path + host + te + content_type


class CommandStream(asyncio.Protocol):
    """One call, to `host:port`; it connects at the first write."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._address = address
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._over = ""
        self._came: asyncio.Queue[CommandsResponse | None] = asyncio.Queue()
        self._rest = b""
        self._message = b""
        self._unread = 0
        self._windows = {_CONNECTION: 65535, _STREAM: 65535}
        """What may be sent yet."""
        self._initial_window = 65535
        self._max_frame = 16384
        self._may_send = asyncio.Event()
        self._may_send.set()
        self._heard = True
        self._pulse: asyncio.TimerHandle | None = None

    # ---- what its owner does ----

    async def write(self, request: CommandsRequest) -> None:
        """Send a message, as soon as the engine takes it.  Raises Broken."""
        if self._transport is None:
            await self._connect()
        body = request.SerializeToString()
        data = _prefix.pack(0, len(body)) + body
        windows = self._windows
        while data:
            await self._may_send.wait()
            if self._over or self._transport is None:
                raise Broken(self._over)
            size = min(len(data), self._max_frame, windows[_CONNECTION], windows[_STREAM])
            if size <= 0:
                self._may_send.clear()
                continue
            for which in windows:
                windows[which] -= size
            self._transport.write(frame(_DATA, 0, _STREAM, data[:size]))
            data = data[size:]

    async def __aiter__(self) -> AsyncIterator[CommandsResponse]:
        """What the engine says; then raises Broken, by whomever the call was ended."""
        while (response := await self._came.get()) is not None:
            yield response
        raise Broken(self._over)

    def cancel(self) -> None:
        """End it."""
        self._end("cancelled")

    # ---- the connection ----

    async def _connect(self) -> None:
        if self._over:
            raise Broken(self._over)
        try:
            async with asyncio.timeout(CONNECT_WITHIN):
                await self._loop.create_connection(lambda: self, self._host.strip("[]"), self._port)
        except (OSError, TimeoutError) as error:
            self._end(repr(error))
            raise Broken(self._over) from error
        if self._over or self._transport is None:
            raise Broken(self._over)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by type
        if self._over:
            self._transport.abort()
            return
        settings = _setting.pack(_ENABLE_PUSH, 0) + _setting.pack(_INITIAL_WINDOW, WINDOW)
        self._transport.write(  # before anything that the engine says is answered
            _PREFACE
            + frame(_SETTINGS, 0, _CONNECTION, settings)
            + frame(_WINDOW_UPDATE, 0, _CONNECTION, (WINDOW - 65535).to_bytes(4, "big"))
            + frame(_HEADERS, _END_HEADERS, _STREAM, headers(self._address))
        )
        self._pulse = self._loop.call_later(PING_EVERY, self._ping)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(repr(exc) if exc is not None else "the connection was closed")

    def pause_writing(self) -> None:
        self._may_send.clear()

    def resume_writing(self) -> None:
        self._may_send.set()

    def _ping(self) -> None:
        if self._over or self._transport is None:
            return
        self._heard = False
        self._transport.write(frame(_PING, 0, _CONNECTION, b"snatched"))
        self._pulse = self._loop.call_later(PONG_WITHIN, self._pong_due)

    def _pong_due(self) -> None:
        if not self._heard:
            self._end("no sign of life")
            return
        self._pulse = self._loop.call_later(PING_EVERY - PONG_WITHIN, self._ping)

    def _end(self, why: str) -> None:
        if self._over:
            return
        self._over = why or "over"
        if self._pulse is not None:
            self._pulse.cancel()
        if self._transport is not None:
            self._transport.abort()
        self._may_send.set()
        self._came.put_nowait(None)

    # ---- frames ----

    def data_received(self, data: bytes) -> None:
        self._heard = True
        data, at = self._rest + data if self._rest else data, 0
        while len(data) - at >= 9 and not self._over:
            size = int.from_bytes(data[at : at + 3], "big")
            if size > _MAX_FRAME_HERE:
                self._end("a frame that is too long")
                return
            if len(data) - at < 9 + size:
                break
            stream = int.from_bytes(data[at + 5 : at + 9], "big") & 0x7FFFFFFF
            self._take(data[at + 3], data[at + 4], stream, data[at + 9 : at + 9 + size])
            at += 9 + size
        self._rest = data[at:]

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == _DATA and stream == _STREAM:
            self._take_data(flags, payload)
        elif kind == _SETTINGS and not flags & _ACK:
            for at in range(0, len(payload) - 5, 6):
                self._set(*_setting.unpack_from(payload, at))
            self._send(frame(_SETTINGS, _ACK, _CONNECTION, b""))
        elif kind == _PING and not flags & _ACK:
            self._send(frame(_PING, _ACK, _CONNECTION, payload))
        elif kind == _WINDOW_UPDATE and stream in self._windows and len(payload) == 4:
            self._windows[stream] += int.from_bytes(payload, "big") & 0x7FFFFFFF
            self._may_send.set()
        elif kind == _HEADERS and flags & _END_STREAM:
            self._end("the engine ended the call")
        elif kind == _RST_STREAM and stream == _STREAM:
            self._end(f"the engine broke the call off: {int.from_bytes(payload[:4], 'big')}")
        elif kind == _GOAWAY and int.from_bytes(payload[:4], "big") < _STREAM:
            self._end("the engine took no call")

    def _set(self, setting: int, value: int) -> None:
        if setting == _INITIAL_WINDOW:
            self._windows[_STREAM] += value - self._initial_window
            self._initial_window = value
            self._may_send.set()
        elif setting == _MAX_FRAME:
            self._max_frame = min(value, _LONGEST)

    def _take_data(self, flags: int, payload: bytes) -> None:
        self._unread += len(payload)
        if self._unread > WINDOW // 2:
            more = self._unread.to_bytes(4, "big")
            self._send(frame(_WINDOW_UPDATE, 0, _CONNECTION, more) + frame(_WINDOW_UPDATE, 0, _STREAM, more))
            self._unread = 0
        if flags & _PADDED:
            payload = payload[1 : len(payload) - payload[0]]
        self._message += payload
        while len(self._message) >= _prefix.size:
            compressed, size = _prefix.unpack_from(self._message)
            if compressed or size > MAX_MESSAGE:
                self._end("a message that can't be read")
                return
            if len(self._message) < _prefix.size + size:
                break
            body = self._message[_prefix.size : _prefix.size + size]
            self._message = self._message[_prefix.size + size :]
            try:
                self._came.put_nowait(CommandsResponse.FromString(body))
            except Exception as error:
                self._end(repr(error))
                return
        if flags & _END_STREAM:
            self._end("the engine ended the call")

    def _send(self, data: bytes) -> None:
        if self._transport is not None and not self._over:
            self._transport.write(data)
