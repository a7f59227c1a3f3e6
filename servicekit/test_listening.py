"""What listeners hear, out of a stream that comes in any pieces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from servicekit import listening
from servicekit.listening import Listeners, Reading
from servicekit.pace import Pace

STREAM = (
    b"INFO {}\r\nPONG\r\nMSG f.ABCDE.table 7 5\r\nhe\r\nl\r\nMSG other 8 2\r\nyo\r\n"
    b"MSG f.ABCDE.seat.1 7 inbox 0\r\n\r\n"
    b"HMSG f.ABCDE.table 7 18 20\r\nNATS/1.0\r\nA: b\r\n\r\nab\r\n"
    b"HMSG f.ABCDE.table 7 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"
    b"HMSG other 8 12 14\r\nNATS/1.0\r\n\r\ncd\r\nPING\r\n"
)
OTHERS = (
    b"INFO {}\r\nPONG\r\nMSG other 8 2\r\nyo\r\nHMSG f.ABCDE.table 7 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"
    b"HMSG other 8 12 14\r\nNATS/1.0\r\n\r\ncd\r\nPING\r\n"
)
HEARD = [("f.ABCDE.table", b"he\r\nl"), ("f.ABCDE.seat.1", b""), ("f.ABCDE.table", b"ab")]


@pytest.mark.parametrize("size", [*range(1, 40), len(STREAM)])
def test_a_stream_in_pieces_of_any_size_is_heard_whole_and_the_rest_is_left_to_nats_py(size: int) -> None:
    heard: list[tuple[str, bytes]] = []
    listeners = Listeners()
    listeners.add(7, lambda subject, data: heard.append((subject, data)))
    reading = Reading(listeners)
    others = b"".join(reading.take(STREAM[at : at + size]) for at in range(0, len(STREAM), size))
    assert (heard, others) == (HEARD, OTHERS)


def test_who_asks_is_given_the_headers_around_the_message_that_has_them() -> None:
    told: list[object] = []

    @contextmanager
    def within(subject: str, headers: bytes) -> Iterator[None]:
        told.append((subject, headers))
        yield
        told.append("over")

    listeners = Listeners()
    listeners.within = within
    listeners.add(7, lambda _, data: told.append(data))
    Reading(listeners).take(b"MSG a 7 1\r\n1\r\nHMSG a 7 in 18 19\r\nNATS/1.0\r\nA: b\r\n\r\n2\r\nMSG a 7 1\r\n3\r\n")
    assert told == [b"1", ("a", b"NATS/1.0\r\nA: b\r\n\r\n"), b"2", "over", b"3"]


async def test_what_is_heard_counts_for_the_pace_message_by_message(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    pace = Pace()
    monkeypatch.setattr(pace, "heard", counted.append)
    monkeypatch.setattr(listening, "pace", pace)
    listeners = Listeners()
    listeners.add(7, lambda _, data: None)
    reader = listening._Reader(1024, listeners)
    reader.feed_data(b"MSG a 7 1\r\n1\r\nPONG\r\nMSG a 7 1\r\n2\r\nMSG a 7 1\r\n")
    reader.feed_data(b"3\r\n")
    assert counted == [2, 1]


def test_a_listener_that_fails_misses_one_message_and_nobody_else_any() -> None:
    heard: list[bytes] = []

    def hear(_: str, data: bytes) -> None:
        if data == b"bad":
            raise ValueError
        heard.append(data)

    listeners = Listeners()
    listeners.add(1, hear)
    assert Reading(listeners).take(b"MSG a 1 1\r\n1\r\nMSG a 1 3\r\nbad\r\nMSG a 1 1\r\n2\r\n") == b""
    assert heard == [b"1", b"2"]


def test_who_listens_no_more_is_told_nothing() -> None:
    heard: list[bytes] = []
    listeners = Listeners()
    listeners.add(1, lambda _, data: heard.append(data))
    listeners.remove(1)
    assert Reading(listeners).take(b"MSG a 1 1\r\n1\r\n") == b"MSG a 1 1\r\n1\r\n"
    assert heard == []
