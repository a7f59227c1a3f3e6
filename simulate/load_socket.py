"""A client's WebSocket on picows: what is heard is handed on at once, and what is sent is written at once.

No task and no timer of its own: its owner decides when to come back.
"""

from __future__ import annotations

from typing import Any, Protocol

from picows import WSCloseCode, WSError, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

OPEN_WITHIN = 30.0
"""Seconds that opening may take: a thousand at once wait for each other."""
FIRST_BUFFER = 4096
"""Bytes; it grows for a snapshot."""
MOST = 4 << 20
NO_WORD = 1006
"""The close code of a socket that ended without one."""

TEXT, CLOSE, PING = WSMsgType.TEXT, WSMsgType.CLOSE, WSMsgType.PING


class Hearer(Protocol):
    """Whose socket it is.  None of these may wait."""

    def heard(self, socket: Socket, data: bytes) -> None: ...

    def lost(self, socket: Socket, code: int) -> None: ...


class Socket(WSListener):
    """`dial` makes one.  `paused` ones read nothing: what comes piles up in the kernel, then at the server."""

    def __init__(self, hearer: Hearer) -> None:
        self._hearer = hearer
        self._transport: WSTransport | None = None
        self._code = NO_WORD
        self._ended = False

    @property
    def open(self) -> bool:
        return self._transport is not None and not self._ended

    def send(self, data: bytes) -> None:
        if self._transport is not None and not self._ended:
            self._transport.send(TEXT, data)

    def close(self) -> None:
        """With a goodbye; nothing more is heard."""
        self._ended = True
        if self._transport is not None:
            self._transport.send_close(WSCloseCode.OK)
            self._transport.disconnect()

    def cut(self) -> None:
        """Without one, as a phone in a tunnel; nothing more is heard."""
        self._ended = True
        if self._transport is not None:
            self._transport.underlying_transport.abort()

    def pause(self) -> None:
        if self.open and self._transport is not None:
            self._transport.underlying_transport.pause_reading()

    def resume(self) -> None:
        if self.open and self._transport is not None:
            self._transport.underlying_transport.resume_reading()

    # ---- picows' ----

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        if self._ended:
            transport.underlying_transport.abort()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        kind = frame.msg_type
        if kind == TEXT:
            if not self._ended:
                self._hearer.heard(self, frame.get_payload_as_bytes())
        elif kind == CLOSE:
            code: Any = frame.get_close_code()  # a plain number when it is none of picows' own
            self._code = int(getattr(code, "value", code))
            transport.disconnect()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        was, self._ended = self._ended, True
        if not was:
            self._hearer.lost(self, self._code)


async def dial(url: str, hearer: Hearer) -> Socket:
    """An open socket.  Raises OSError when nobody takes it."""
    socket = Socket(hearer)
    try:
        await ws_connect(
            lambda: socket,
            url,
            websocket_handshake_timeout=OPEN_WITHIN,
            read_buffer_init_size=FIRST_BUFFER,
            max_frame_size=MOST,
            disconnect_on_exception=False,
            use_aiofastnet=False,  # uvloop's own transport costs a tenth less a frame
        )
    except (WSError, TimeoutError) as error:
        raise OSError(f"{url}: {error!r}") from error
    return socket
