"""Animated WebP out of still ones: a browser writes those, and nothing here has to know of pixels."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """What changed: a still WebP without transparency, where it lies, and for how long the whole is seen."""

    still: bytes
    x: int
    y: int
    width: int
    height: int
    ms: int


def animated(width: int, height: int, frames: Iterable[Frame]) -> bytes:
    """Plays for ever.  Each frame lies on what was seen before; `x` and `y` must be even."""
    extended = bytes([0b10, 0, 0, 0]) + _three(width - 1) + _three(height - 1)
    parts = [_chunk(b"VP8X", extended), _chunk(b"ANIM", bytes(4) + struct.pack("<H", 0))]
    for frame in frames:
        place = b"".join(_three(n) for n in (frame.x // 2, frame.y // 2, frame.width - 1, frame.height - 1, frame.ms))
        no_blend = bytes([0b10])
        parts.append(_chunk(b"ANMF", place + no_blend + picture(frame.still)))
    return _chunk(b"RIFF", b"WEBP" + b"".join(parts))


def picture(still: bytes) -> bytes:
    """The chunk of a still WebP that holds its pixels.

    >>> picture(_chunk(b"RIFF", b"WEBP" + _chunk(b"VP8 ", b"pixels")))
    b'VP8 \\x06\\x00\\x00\\x00pixels'
    """
    at = 12
    while at + 8 <= len(still):
        kind, size = still[at : at + 4], int.from_bytes(still[at + 4 : at + 8], "little")
        if kind in (b"VP8 ", b"VP8L"):
            return _chunk(kind, still[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
    raise ValueError("that is no WebP")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def _three(number: int) -> bytes:
    return number.to_bytes(3, "little")
