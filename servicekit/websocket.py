"""The WebSocket protocol's bytes (RFC 6455), as a server says and reads them; no extensions.

A server's frames aren't masked, so the same bytes go to every socket that is sent a message.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 0x1, 0x2, 0x0, 0x8, 0x9, 0xA
FIN = 0x80
MAX_CONTROL = 125
"""Bytes of a control frame's payload."""

PING_FRAME = bytes((FIN | PING, 0))
_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CODES = frozenset((1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014))


class BadUpgrade(ValueError):
    """A request that can't become a WebSocket: the HTTP status of its answer, and that answer's headers."""

    def __init__(self, status: int, text: str, headers: bytes = b"") -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers


def accept(method: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The whole answer that lets a request in.  Header names in lower case.  Raises BadUpgrade."""
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        found.setdefault(name, []).append(value.strip())
    if method != b"GET" or found.get(b"content-length", [b"0"]) != [b"0"] or b"transfer-encoding" in found:
        raise BadUpgrade(400, "a WebSocket begins with a GET without a body")
    if found.get(b"sec-websocket-version") != [b"13"]:
        raise BadUpgrade(426, "version 13 of WebSockets is spoken here", b"sec-websocket-version: 13\r\n")
    keys = found.get(b"sec-websocket-key", [])
    try:
        key = base64.b64decode(keys[0], validate=True) if len(keys) == 1 else b""
    except binascii.Error:
        key = b""
    if len(key) != 16:
        raise BadUpgrade(400, "the WebSocket's key is not one of 16 bytes")
    proof = base64.b64encode(hashlib.sha1(keys[0] + _KEY, usedforsecurity=False).digest())
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + proof + b"\r\n\r\n"
    )


def text_frame(body: bytes) -> bytes:
    """A whole text message."""
    size = len(body)
    if size < 126:
        return bytes((FIN | TEXT, size)) + body
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + body
    return b"\x81\x7f" + size.to_bytes(8, "big") + body


def close_frame(code: int | None, reason: str = "") -> bytes:
    """A goodbye; None: one that gives no code."""
    if code is None:
        return bytes((FIN | CLOSE, 0))
    said = reason.encode()[: MAX_CONTROL - 2].decode("utf-8", "ignore").encode()
    return bytes((FIN | CLOSE, 2 + len(said))) + code.to_bytes(2, "big") + said


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping."""
    return bytes((FIN | PONG, len(payload))) + payload


def goodbye(payload: bytes) -> int | None:
    """The code of the peer's close frame; None when it gives none.  Raises ValueError on one that may not be sent."""
    if not payload:
        return None
    code = int.from_bytes(payload[:2], "big")
    if len(payload) == 1 or (code not in _CODES and not 3000 <= code < 5000):
        raise ValueError("no such close code")
    payload[2:].decode()
    return code


def unmask(data: bytes, start: int, stop: int) -> bytes:
    """The payload in `data[start + 4 : stop]`, whose mask is the four bytes before it."""
    size = stop - start - 4
    if not size:
        return b""
    mask = (data[start : start + 4] * ((size + 3) >> 2))[:size]
    return (int.from_bytes(data[start + 4 : stop], "little") ^ int.from_bytes(mask, "little")).to_bytes(size, "little")
