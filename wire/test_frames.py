"""The binary prefix of frames: what is packed is unpacked, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire import frames
from wire.frames import Answered, BadFrame

u16, u32 = st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
answers = st.lists(st.builds(Answered, u16, u16, u32), max_size=20).map(tuple)


@given(st.integers(0, 255), u32, u32, answers, st.binary(max_size=200))
def test_a_frame_comes_out_as_it_went_in(
    kind: int, epoch: int, number: int, answered: tuple[Answered, ...], body: bytes
) -> None:
    assert frames.unpack(frames.pack(kind, epoch, number, answered, body)) == (kind, epoch, number, answered, body)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_frame_or_refused_as_a_bad_one(data: bytes) -> None:
    try:
        frame = frames.unpack(data)
    except BadFrame:
        return
    assert frames.pack(*frame) == data


def test_a_frame_of_another_version_is_refused() -> None:
    data = bytearray(frames.pack(frames.TABLE, 1, 1, (), b"{}"))
    data[0] = frames.VERSION + 1
    with pytest.raises(BadFrame, match="version 2"):
        frames.unpack(bytes(data))


def test_the_bytes_are_those_that_the_docstring_says() -> None:
    packed = frames.pack(frames.SEAT, 7, 513, (Answered(3, 2, 17),), b"{}")
    assert packed.hex() == "0102000000070000020100010003000200000011" + b"{}".hex()
