"""What listeners hear is taken out of NATS' stream as it comes, before nats-py parses the rest.

nats-py has a queue, a task and a coroutine for each message: fine for questions, too dear
for frames.  A listener is called here and now, in the order of the stream; it never waits.
There is no queue that could overflow: who listens slowly reads slowly, and the server
gives such a connection up, which is a gap like any other.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import SupportsIndex
from urllib.parse import ParseResult

from nats.aio.transport import TcpTransport

from servicekit import logs
from servicekit.pace import pace

Hear = Callable[[str, bytes], None]
"""Subject and payload.  Must not wait."""
Within = Callable[[str, bytes], AbstractContextManager[object]]
"""Made of a subject and of headers, whole; the listener is called within it."""

_MSG, _HMSG = b"MSG ", b"HMSG "
_END = b"\r\n"
_NO_STATUS = b"NATS/1.0\r\n"


class Listeners:
    """Who hears which subscription, by its id as it stands in the stream."""

    def __init__(self) -> None:
        self._hear: dict[bytes, Hear] = {}
        self.heard = 0
        self.within: Within = _plainly
        """For messages with headers."""

    def add(self, sid: int, hear: Hear) -> None:
        self._hear[b"%d" % sid] = hear

    def remove(self, sid: int) -> None:
        self._hear.pop(b"%d" % sid, None)

    def get(self, sid: bytes) -> Hear | None:
        return self._hear.get(sid)


class Reading:
    """One connection's stream: whole operations out of its pieces."""

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._rest = b""
        self._wanted = 0
        """Bytes that the rest must grow to, before it is worth another look."""

    def take(self, data: bytes) -> bytes:
        """Call the listeners with what is theirs; returned is what nats-py is to parse."""
        if self._rest:
            self._rest += data
            if len(self._rest) < self._wanted:
                return b""
            data, self._rest = self._rest, b""
        others: list[bytes] = []
        at, size = 0, len(data)
        find, get = data.find, self._listeners.get
        while at < size:
            end = find(_END, at)
            if end < 0:
                self._wanted = 0
                break
            stop = end + 2
            plain = data.startswith(_MSG, at)
            if plain or data.startswith(_HMSG, at):
                words = data[at:end].split()
                stop += int(words[-1]) + 2
                if stop > size:
                    self._wanted = stop - at
                    break
                # MSG <subject> <sid> [reply] <size>, HMSG … <size of the headers> <size of all>
                if plain and (hear := get(words[2])) is not None:
                    self._listeners.heard += 1
                    try:
                        hear(words[1].decode(), data[end + 2 : stop - 2])
                    except Exception:
                        logs.logger(__name__).exception("a listener failed", subject=words[1].decode())
                    at = stop
                    continue
                if not plain and self._hear_headed(words, data[end + 2 : stop - 2]):
                    at = stop
                    continue
            others.append(data[at:stop])
            at = stop
        if at < size:
            self._rest = data[at:]
        return b"".join(others)

    def _hear_headed(self, words: list[bytes], whole: bytes) -> bool:
        """A message with headers, in its turn like any other; False: a status, or nobody's here, nats-py's to read."""
        hear = self._listeners.get(words[2])
        if hear is None or not whole.startswith(_NO_STATUS):
            return False
        self._listeners.heard += 1
        subject, size = words[1].decode(), int(words[-2])
        try:
            with self._listeners.within(subject, whole[:size]):
                hear(subject, whole[size:])
        except Exception:
            logs.logger(__name__).exception("a listener failed", subject=subject)
        return True


def _plainly(subject: str, headers: bytes) -> AbstractContextManager[object]:
    """Headers say nothing here."""
    return nullcontext()


class _Reader(asyncio.StreamReader):
    """What nats-py reads from."""

    def __init__(self, limit: int, listeners: Listeners) -> None:
        super().__init__(limit=limit, loop=asyncio.get_running_loop())
        self._listeners = listeners
        self._reading = Reading(listeners)

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        before = self._listeners.heard
        others = self._reading.take(bytes(data))
        pace.heard(self._listeners.heard - before)
        if others:
            super().feed_data(others)


class ListeningTransport(TcpTransport):
    """nats-py's, over a reader that has listeners."""

    def __init__(self, listeners: Listeners) -> None:
        self._bare_io_reader = self._io_reader = None
        self._bare_io_writer = self._io_writer = None
        self._listeners = listeners

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: int) -> None:
        loop = asyncio.get_running_loop()
        reader = _Reader(buffer_size, self._listeners)
        protocol = asyncio.StreamReaderProtocol(reader)
        async with asyncio.timeout(connect_timeout):
            transport, _ = await loop.create_connection(lambda: protocol, uri.hostname or "", uri.port or 4222)
        self._bare_io_reader = self._io_reader = reader
        self._bare_io_writer = self._io_writer = asyncio.StreamWriter(transport, protocol, reader, loop)

    async def connect_tls(
        self, uri: str | ParseResult, ssl_context: ssl.SSLContext, buffer_size: int, connect_timeout: int
    ) -> None:
        assert self._io_writer is not None
        loop = asyncio.get_running_loop()
        reader = _Reader(buffer_size, self._listeners)
        protocol = asyncio.StreamReaderProtocol(reader)
        name = uri if isinstance(uri, str) else uri.hostname
        async with asyncio.timeout(connect_timeout):
            transport = await loop.start_tls(self._io_writer.transport, protocol, ssl_context, server_hostname=name)
        assert transport is not None
        self._io_reader = reader
        self._io_writer = asyncio.StreamWriter(transport, protocol, reader, loop)

    def __bool__(self) -> bool:
        """Never made anew: nats-py would make one of its own."""
        return True

    def waiting(self) -> int:
        """Bytes written that the server hasn't taken yet."""
        return self._io_writer.transport.get_write_buffer_size() if self._io_writer is not None else 0
