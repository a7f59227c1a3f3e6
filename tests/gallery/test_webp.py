"""An animated WebP is put together from still ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gallery.webp import Frame, animated, picture

STILL = b"RIFF\x0f\x00\x00\x00WEBPVP8 \x03\x00\x00\x00abc\x00"


def chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    while data:
        size = int.from_bytes(data[4:8], "little")
        yield data[:4], data[8 : 8 + size]
        data = data[8 + size + size % 2 :]


def test_every_frame_lies_in_its_place_for_its_time() -> None:
    film = animated(300, 650, [Frame(STILL, 0, 0, 300, 650, 64), Frame(STILL, 10, 20, 31, 41, 500)])
    ((riff, all_of_it),) = chunks(film)
    assert (riff, all_of_it[:4]) == (b"RIFF", b"WEBP")
    assert len(film) % 2 == 0
    head, anim, *frames = chunks(all_of_it[4:])
    assert (head[0], anim[0], [kind for kind, _ in frames]) == (b"VP8X", b"ANIM", [b"ANMF", b"ANMF"])
    assert (int.from_bytes(head[1][4:7], "little") + 1, int.from_bytes(head[1][7:10], "little") + 1) == (300, 650)
    second = frames[1][1]
    numbers = [int.from_bytes(second[at : at + 3], "little") for at in range(0, 15, 3)]
    # Places are counted in twos, sizes from 1.
    assert numbers == [5, 10, 30, 40, 500]
    assert dict(chunks(second[16:])) == {b"VP8 ": b"abc"}


def test_of_what_is_no_webp_no_film_is_made() -> None:
    with pytest.raises(ValueError, match="no WebP"):
        picture(b"RIFF\x04\x00\x00\x00WEBP")
