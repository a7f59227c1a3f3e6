"""Browsers' WebSockets, as gateway and watch serve them: the protocol on the loop's own transport.

`Socket.send` never waits: what the kernel won't take lies in the transport, in order and
bounded; a socket with more of it than that is closed with 1013 and forgotten.  It never
delays another.  What one loop's turn writes to a socket goes out in one system call.
A socket has no task and no timer of its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from servicekit import logs, websocket
from servicekit.pace import pace
from wire import client_in
from wire.client_out import Error

MAX_QUEUED = 1024
MAX_QUEUED_BYTES = 256 * 1024
MAX_INBOX = 32
"""Messages that wait to be received; the socket isn't read on until they are."""
CLOSE_WITHIN = 2.0
"""Seconds that a closing socket has to take what was written before it is cut off."""

AGAIN, TOO_BIG, SLOW = 1012, 1009, 1013
TAKEN_OVER, NO_ROOM, REMOVED, BAD_HELLO = 4001, 4002, 4003, 4004
POLICY, FAULT = 1008, 1011
PROTOCOL_ERROR, NOT_UTF8 = 1002, 1007

_WHOLE_TEXT = websocket.FIN | websocket.TEXT
_WHOLE_BINARY = websocket.FIN | websocket.BINARY
_ALL = 1 << 62


class Listener(Protocol):
    """Who is told of a socket.  Neither may wait."""

    def on_message(self, data: str | bytes) -> None: ...

    def on_gone(self) -> None:
        """Nothing more comes, nor is sent: the peer has gone, or we closed.  Once, and never from within a call."""
        ...


class _LastFrame:
    """The frame made last: a room's sockets are sent the same bytes one after another."""

    body = b""
    frame = websocket.text_frame(b"")


class Socket(asyncio.Protocol):
    """One accepted WebSocket.  Only the event loop's thread may touch it.

    Read by `receive`, or by the `listener` given before anything is read.
    """

    __slots__ = (
        "__weakref__",
        "_behind",
        "_cut_off",
        "_held",
        "_inbox",
        "_listener",
        "_lost",
        "_on_end",
        "_over",
        "_parts",
        "_parts_kind",
        "_paused",
        "_skip",
        "_transport",
        "_unread",
        "_waiter",
        "address",
        "close_code",
        "evicted",
        "heard",
        "pinged",
        "pulse",
    )

    def __init__(self, transport: asyncio.Transport, address: str, on_end: Callable[[Socket], None]) -> None:
        """`on_end` is told once, when the connection is lost."""
        self._transport = transport
        self.address = address
        self._on_end = on_end
        self._listener: Listener | None = None
        self._inbox: deque[str | bytes] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._unread = b""
        self._parts: bytearray | None = None
        self._parts_kind = 0
        self._skip = 0
        self._held = False
        self._paused = False
        self._behind = 0
        self._over = False
        self._lost = False
        self._cut_off: asyncio.TimerHandle | None = None
        self.close_code: int | None = None
        """Ours, once closing."""
        self.evicted = ""
        """Why it was ended, when its own pace was the reason: `too_slow`, `too_fast`, `silent`."""
        self.heard = True
        """Something came since the pulse last looked."""
        self.pinged = False
        self.pulse = 0
        """Where the pulse keeps it."""

    @property
    def closing(self) -> bool:
        return self.close_code is not None

    @property
    def queued_bytes(self) -> int:
        """What the kernel hasn't taken yet."""
        return self._transport.get_write_buffer_size()

    # ---- sending ----

    def send(self, body: bytes) -> None:
        """Send a text message of UTF-8 bytes, now or soon; a socket that can't keep up is closed with 1013."""
        if body is _LastFrame.body:
            self.send_frame(_LastFrame.frame)
        else:
            frame = _LastFrame.frame = websocket.text_frame(body)
            _LastFrame.body = body
            self.send_frame(frame)

    def send_frame(self, frame: bytes, messages: int = 1) -> None:
        """The same with bytes that are whole frames already, of so many messages."""
        if self.close_code is not None or self._over:
            return
        if self._paused:
            self._behind += messages
            if self._behind > MAX_QUEUED or self._transport.get_write_buffer_size() + len(frame) > MAX_QUEUED_BYTES:
                self.evicted = "too_slow"
                self.close(SLOW, "too slow")
                return
        self._transport.write(frame)

    def error(self, code: str, text: str = "", *, req: int | None = None, id: int | None = None) -> None:
        self.send(msgspec.json.encode(Error(code, text, req, id)))

    def ping(self) -> None:
        """Ask for a sign of life, unless there is so much to take already that a ping tells nothing."""
        if self.close_code is None and not self._over and not self._paused:
            self._transport.write(websocket.PING_FRAME)

    def close(self, code: int, reason: str = "") -> None:
        """Say goodbye after what has been sent; cut off if the peer doesn't take it soon."""
        if self.close_code is not None:
            return
        self.close_code = code
        if not self._over and not self._lost:
            self._transport.write(websocket.close_frame(code, reason))
            self._cut_off = asyncio.get_running_loop().call_later(CLOSE_WITHIN, self._transport.abort)
        self._end()
        if self._held:  # the peer's goodbye must be read
            self.release()

    def abort(self) -> None:
        """Cut it off, and whatever it has not taken yet."""
        self._end()  # what came with the last bytes is not answered any more
        self._transport.abort()

    def shutdown(self) -> None:
        """The server is going."""
        self.close(AGAIN, "the server is going")

    # ---- receiving ----

    def listen(self, listener: Listener) -> None:
        """Tell messages instead of keeping them for `receive`; first those that were kept."""
        self._listener = listener
        kept, self._inbox = self._inbox, None
        self.release()
        for message in kept or ():
            listener.on_message(message)
        if self._over:
            asyncio.get_running_loop().call_soon(self._tell_gone)

    async def receive(self) -> str | bytes | None:
        """The next message; None when the socket is gone."""
        if self._inbox is None:
            self._inbox = deque()
        while not self._inbox:
            if self._over:
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self.close_code is not None:
            return None
        message = self._inbox.popleft()
        if self._held and not self._inbox:
            self.release()
        return message

    def hold(self) -> None:
        """Read no more of it for now."""
        if not self._held and not self._lost:
            self._held = True
            self._transport.pause_reading()

    def release(self) -> None:
        """Read on, after `hold`."""
        if self._held and not self._lost:
            self._held = False
            self._transport.resume_reading()
            asyncio.get_running_loop().call_soon(self._read_on)

    @property
    def held(self) -> bool:
        return self._held

    # ---- what the transport tells ----

    def data_received(self, data: bytes) -> None:
        self.heard = True
        pace.heard()
        if self._skip:
            skipped = min(self._skip, len(data))
            self._skip -= skipped
            data = data[skipped:]
        if self._unread:
            data = self._unread + data
            self._unread = b""
        try:
            self._read(data)
        except Exception:
            logs.logger(__name__).exception("a socket's message could not be heard")
            self.close(FAULT, "that went wrong here")

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._paused, self._behind = True, 0

    def resume_writing(self) -> None:
        self._paused = False

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._lost:
            self._lost = True
            self._unread = b""
            if self._cut_off is not None:
                self._cut_off.cancel()
            self._end()
            self._on_end(self)

    # ---- frames ----

    def _read_on(self) -> None:
        if self._unread and not self._held:
            self.data_received(b"")

    def _read(self, data: bytes) -> None:
        at, end = 0, len(data)
        while end - at > 1 and not self._held and not self._lost:
            first, second = data[at], data[at + 1]
            size, start = second & 0x7F, at + 2
            if size == 126:
                start += 2
                size = int.from_bytes(data[at + 2 : start], "big")
            elif size == 127:
                start += 8
                size = int.from_bytes(data[at + 2 : start], "big")
            if end < start:
                break
            kept = len(self._parts) if self._parts is not None else 0
            if second < 0x80 or first & 0x70 or (first & 0x08 and (size > websocket.MAX_CONTROL or first < 0x80)):
                self._fail()
                return
            stop = start + 4 + size
            if size + kept > client_in.MAX_BYTES and not first & 0x08:
                # Its sender still has all of it to send before it reads why not.
                self._skip = max(0, stop - end)
                self._parts = None
                self.close(TOO_BIG, "too big")
                at = min(stop, end)
                continue
            if stop > end:
                break
            payload = websocket.unmask(data, start, stop)
            at = stop
            if first == _WHOLE_TEXT and self._parts is None:
                self._take(True, payload)
            elif first & 0x08:
                self._on_control(first & 0x0F, payload)
            else:
                self._on_part(first, payload)
        if at < end and not self._skip and not self._lost:
            self._unread = data[at:]

    def _on_part(self, first: int, payload: bytes) -> None:
        """Of a message in several frames, or a binary one."""
        kind = first & 0x0F
        if (kind == websocket.CONTINUATION) == (self._parts is None) or kind > websocket.BINARY:
            self._fail()
        elif first == _WHOLE_BINARY:
            self._take(False, payload)
        else:
            if self._parts is None:
                self._parts, self._parts_kind = bytearray(), kind
            self._parts += payload
            if first & websocket.FIN:
                whole, self._parts = bytes(self._parts), None
                self._take(self._parts_kind == websocket.TEXT, whole)

    def _take(self, is_text: bool, payload: bytes) -> None:
        if self._over:
            return
        message: str | bytes = payload
        if is_text:
            try:
                message = payload.decode()
            except UnicodeDecodeError:
                self.close(NOT_UTF8)
                return
        if self._listener is not None:
            self._listener.on_message(message)
            return
        if self._inbox is None:
            self._inbox = deque()
        self._inbox.append(message)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        if len(self._inbox) >= MAX_INBOX:
            self.hold()

    def _on_control(self, kind: int, payload: bytes) -> None:
        if kind == websocket.PING:
            if self._paused and self._transport.get_write_buffer_size() > MAX_QUEUED_BYTES:
                self.evicted = "too_slow"
                self.abort()  # pongs that nobody takes would fill the memory
            elif self.close_code is None and not self._over:
                self._transport.write(websocket.pong_frame(payload))
        elif kind == websocket.CLOSE:
            self._on_close(payload)
        elif kind != websocket.PONG:
            self._fail()

    def _on_close(self, payload: bytes) -> None:
        if self.close_code is None and not self._over:
            try:
                code = websocket.goodbye(payload)
            except ValueError:
                code = PROTOCOL_ERROR
            self._transport.write(websocket.close_frame(code))
            self._cut_off = asyncio.get_running_loop().call_later(CLOSE_WITHIN, self._transport.abort)
            self._end()
        self._skip = _ALL
        self._transport.close()

    def _fail(self) -> None:
        """What came is no WebSocket any more, and nothing after it can be read."""
        self._skip = _ALL
        self.close(PROTOCOL_ERROR)

    def _end(self) -> None:
        if self._over:
            return
        self._over = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        if self._listener is not None:
            asyncio.get_running_loop().call_soon(self._tell_gone)

    def _tell_gone(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.on_gone()


def send_to_all(sockets: Iterable[Socket], frame: bytes, messages: int = 1) -> None:
    """`send_frame` to each, at the least cost of each: whoever keeps up is written to without a question."""
    for socket in sockets:
        if socket._paused or socket._over:
            socket.send_frame(frame, messages)
        else:
            socket._transport.write(frame)
