"""The binary prefix of a frame on NATS: what gateway and watch must know without decoding.

    u8  version (1)
    u8  kind
    u32 epoch      of the partition's owner; readers drop anything lower than they have seen
    u32 number     counts up by one on each subject; a gap means: ask for a snapshot
    u16 answers    how many answered moves follow
    then for each: u16 seat, u16 session, u32 id
    then the bytes that browsers get (none for a beacon, whose body is `Beacon`)

Big-endian.  A frame on a seat's subject answers only that seat; a table frame may
answer several.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

VERSION = 1
TABLE, SEAT, BEACON, LOBBY = 1, 2, 3, 4

_HEAD = struct.Struct(">BBIIH")
_HEAD_OF_ONE = struct.Struct(">BBIIHHHI")
"""A head with its only answer: most frames have one."""
_ANSWER = struct.Struct(">HHI")


class BadFrame(ValueError):
    """Bytes that are no frame of a version known here."""


class Answered(NamedTuple):
    seat: int
    session: int
    id: int


class Frame(NamedTuple):
    kind: int
    epoch: int
    number: int
    answered: tuple[Answered, ...]
    body: bytes


class Beacon(msgspec.Struct):
    """Body of a beacon, as JSON: the last number of every subject that has had a frame."""

    table: int
    seats: dict[int, int]


def pack(kind: int, epoch: int, number: int, answered: Sequence[tuple[int, int, int]], body: bytes) -> bytes:
    """A frame's bytes; each of `answered` as `Answered` has it."""
    if len(answered) == 1:
        return _HEAD_OF_ONE.pack(VERSION, kind, epoch, number, 1, *answered[0]) + body
    head = _HEAD.pack(VERSION, kind, epoch, number, len(answered))
    if answered:
        head += b"".join(_ANSWER.pack(*a) for a in answered)
    return head + body


def unpack(data: bytes) -> Frame:
    """Raises BadFrame."""
    try:
        version, kind, epoch, number, count = _HEAD.unpack_from(data)
        if version != VERSION:
            raise BadFrame(f"frame version {version}, this side knows {VERSION}")
        at = _HEAD.size
        answered = []
        for _ in range(count):
            answered.append(Answered(*_ANSWER.unpack_from(data, at)))
            at += _ANSWER.size
    except struct.error as error:
        raise BadFrame(str(error)) from error
    return Frame(kind, epoch, number, tuple(answered), data[at:])
