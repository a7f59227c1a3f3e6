"""One gRPC call on a connection of its own, over the loop's transport: HTTP/2 is h2's, gRPC's prefix ours.

Messages whole and in order, flow control both ways, signs of life.  Either end may be any
gRPC.
"""

from __future__ import annotations

import asyncio
import struct
from typing import cast

from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from servicekit.pace import pace

MAX_MESSAGE = 8 * 1024 * 1024
CALL = 1
"""The stream of the call: a connection's first, and its only one."""
CONNECTION_WINDOW = 65535
"""What HTTP/2 begins with."""

MAX_UNSENT = 1024 * 1024
"""Bytes that may wait for the other end: one that only asks, say for signs of life, and reads nothing is cut off."""
_LONGEST = 256 * 1024
"""A frame's, whatever more the other end would take: so much is written at once."""

_prefix = struct.Struct(">BI")

Headers = list[tuple[bytes, bytes]]


class Broken(ConnectionError):
    """The call is over, or never began: in words."""


class Http2Call(asyncio.Protocol):
    """Subclasses say what opens the connection, and hear messages and the end."""

    ping_every, pong_within = 2.0, 1.5
    window = 1 << 24
    """Bytes of messages that the other end may send before it is told that they were read."""

    def __init__(self, *, client: bool) -> None:
        self.loop = asyncio.get_running_loop()
        self.http = H2Connection(H2Configuration(client_side=client, header_encoding=None))
        told = {SettingCodes.INITIAL_WINDOW_SIZE: self.window, SettingCodes.ENABLE_PUSH: 0}
        self.http.local_settings = Settings(client=client, initial_values=told)
        self.transport: asyncio.Transport | None = None
        self.over = ""
        """Why it is over; "" while it isn't."""
        self._message = bytearray()
        self._wanted = 0
        """Bytes that the message must grow to, before it is worth another look."""
        self._unread = 0
        self._holds = False
        self._may_send = asyncio.Event()
        self._may_send.set()
        self._paused = False
        self._heard = True
        self._pulse: asyncio.TimerHandle | None = None

    # ---- what subclasses say and hear ----

    def greet(self) -> None:
        """Say on `http` what opens the connection, after its settings."""

    def on_message(self, body: bytes) -> None:
        """One message.  Whatever it raises ends the call."""
        raise NotImplementedError

    def on_headers(self) -> None:
        """The other end's first ones."""

    def on_over(self) -> None:
        """Once."""
        raise NotImplementedError

    # ---- sending ----

    async def send(self, body: bytes) -> None:
        """Send a message, as soon as the other end takes it; one after another.  Raises Broken."""
        data = _prefix.pack(0, len(body)) + body
        while data:
            await self._may_send.wait()
            if self.over or self.transport is None:
                raise Broken(self.over)
            try:
                longest = min(self.http.max_outbound_frame_size, _LONGEST)
                size = min(len(data), longest, self.http.local_flow_control_window(CALL))
                if size <= 0:
                    self._may_send.clear()
                    continue
                self.http.send_data(CALL, data[:size])
            except ProtocolError as error:
                self.end(repr(error))
                raise Broken(self.over) from error
            self.flush()
            data = data[size:]

    def hold(self) -> None:
        """Take no more messages than the window lets through; signs of life are taken and given all the same."""
        self._holds = True

    def release(self) -> None:
        """Go on, after `hold`."""
        self._holds = False
        self._tell_read()
        self.flush()

    def flush(self) -> None:
        """Write what `http` has to say."""
        if (data := self.http.data_to_send()) and self.transport is not None and not self.over:
            self.transport.write(data)
            if self.transport.get_write_buffer_size() > MAX_UNSENT:
                self.end("the other end takes nothing")

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
        self.http.initiate_connection()
        self.http.increment_flow_control_window(self.window - CONNECTION_WINDOW)
        self.greet()
        self.flush()
        self._pulse = self.loop.call_later(self.ping_every, self._ping)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end(repr(exc) if exc is not None else "the connection was closed")

    def pause_writing(self) -> None:
        self._paused = True
        self._may_send.clear()

    def resume_writing(self) -> None:
        self._paused = False
        self._may_send.set()

    def _ping(self) -> None:
        self._heard = False
        self.http.ping(b"snatched")
        self.flush()
        self._pulse = self.loop.call_later(self.pong_within, self._pong_due)

    def _pong_due(self) -> None:
        if not self._heard:
            self.end("no sign of life")
            return
        self._pulse = self.loop.call_later(self.ping_every - self.pong_within, self._ping)

    # ---- what comes ----

    def data_received(self, data: bytes) -> None:
        self._heard = True
        pace.heard(0)  # who takes the messages knows how many there are in each
        try:
            for event in self.http.receive_data(data):
                if self.over:
                    return
                self._take(event)
        except ProtocolError as error:
            self.flush()  # it says to the other end why
            self.end(f"what came is no HTTP/2: {error!r}")
            return
        self.flush()

    def _take(self, event: events.Event) -> None:
        match event:
            case events.DataReceived():
                self._take_data(event)
            case events.WindowUpdated() | events.RemoteSettingsChanged():
                if not self._paused:
                    self._may_send.set()
            case events.RequestReceived(stream_id=stream) | events.ResponseReceived(stream_id=stream):
                if stream == CALL:
                    self.on_headers()
                else:
                    self.http.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
            case events.TrailersReceived() | events.StreamEnded():
                self.end("the other end ended the call")
            case events.StreamReset():
                self.end(f"the other end broke the call off: {event.error_code}")
            case events.ConnectionTerminated() if (event.last_stream_id or 0) < CALL:
                self.end("the other end took no call")

    def _take_data(self, event: events.DataReceived) -> None:
        self._unread += event.flow_controlled_length or 0
        self._tell_read()
        data = event.data or b""
        if self._message:
            self._message += data
            if len(self._message) < self._wanted:
                return
            data = bytes(self._message)
            self._message.clear()
        self._take_messages(data)

    def _take_messages(self, data: bytes) -> None:
        at, self._wanted = 0, _prefix.size
        while len(data) - at >= _prefix.size and not self.over:
            compressed, size = _prefix.unpack_from(data, at)
            if compressed or size > MAX_MESSAGE:
                self.end("a message that can't be read")
                return
            start = at + _prefix.size
            if len(data) < start + size:
                self._wanted = _prefix.size + size
                break
            at = start + size
            try:
                self.on_message(data[start:at])
            except Exception as error:
                self.end(repr(error))
                return
        self._message += data[at:]

    def _tell_read(self) -> None:
        if self._unread and not self._holds and not self.over:
            unread, self._unread = self._unread, 0
            self.http.acknowledge_received_data(unread, CALL)
