"""One JetStream stream, spoken to raw: appends under an expected sequence, and reads from the leader.

Every request may go unanswered (None): a time-out, or a lost connection, which ends the
wait at once.  An unanswered append may have happened, or may happen yet.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec
import nats.errors
from nats.aio.msg import Msg

from servicekit.bus import Bus

EXPECTED = "Nats-Expected-Last-Subject-Sequence"
SLOT_ID = "Snatch-Id"
NEEDED = "Snatch-Needed"
TIMEOUT = 1.0
SWEEP = 0.02
"""Seconds by which a question may be given up later."""
BATCH = 256


class StreamAway(Exception):
    """The stream is not there, or doesn't answer."""


class Message(NamedTuple):
    """A message of the stream as it lies there."""

    sequence: int
    headers: dict[str, str]
    data: bytes


class _Ack(msgspec.Struct):
    seq: int = 0
    error: dict[str, Any] | None = None


_ack = msgspec.json.Decoder(_Ack)


class Asker:
    """Requests on one reply subscription, without a task each."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._loop: asyncio.AbstractEventLoop
        self._prefix = bus.new_inbox()
        self._count = itertools.count()
        self._waiting: dict[str, asyncio.Future[bytes | None]] = {}
        self._due: deque[tuple[float, str]] = deque()
        """When which question is given up, in order: one timer for all."""
        self._sweeper: asyncio.TimerHandle | None = None
        self._subscription: Any = None

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()  # asked once: each question is a system call
        self._subscription = await self._bus.listen(self._prefix + ".*", self._hear)

    async def stop(self) -> None:
        self.lost()
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        if self._subscription is not None:
            await self._bus.unlisten(self._subscription)

    def lost(self) -> None:
        """The connection broke: nothing under way will be answered."""
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_result(None)

    async def ask(self, subject: str, payload: bytes, headers: dict[str, str] | None = None) -> bytes | None:
        """The answer, or None after `TIMEOUT`.  While disconnected nothing is sent: it would be, later."""
        if not self._bus.is_connected:
            return None
        loop = self._loop
        token = f"{self._prefix}.{next(self._count)}"
        future: asyncio.Future[bytes | None] = loop.create_future()
        self._waiting[token] = future
        self._due.append((loop.time() + TIMEOUT, token))
        if self._sweeper is None:
            self._sweeper = loop.call_later(TIMEOUT, self._sweep)
        try:
            await self._bus.publish(subject, payload, reply=token, headers=headers)
            answer = await future
        except (nats.errors.Error, OSError):
            return None
        finally:
            self._waiting.pop(token, None)
        return answer or None  # a bare status, such as “no responders”, is no answer

    async def ask_many(self, subject: str, payload: bytes, timeout: float = 5.0) -> AsyncIterator[Msg]:
        """Answers as they come, ended by whoever reads.  Raises StreamAway when they stop coming."""
        inbox = self._bus.new_inbox()
        subscription = await self._bus.subscribe(inbox)
        try:
            await self._bus.publish(subject, payload, reply=inbox)
            while True:
                yield await subscription.next_msg(timeout=timeout)
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise StreamAway(repr(error)) from error
        finally:
            if not self._bus.is_closed:
                await subscription.unsubscribe()

    def _hear(self, subject: str, data: bytes) -> None:
        future = self._waiting.pop(subject, None)
        if future is not None and not future.done():
            future.set_result(data)

    def _sweep(self) -> None:
        """Give up what is due, and look again when the next one is, but not for each by itself."""
        loop = asyncio.get_running_loop()
        now, due = loop.time(), self._due
        while due and (due[0][0] <= now or due[0][1] not in self._waiting):
            future = self._waiting.pop(due.popleft()[1], None)
            if future is not None and not future.done():
                future.set_result(None)
        self._sweeper = loop.call_at(max(due[0][0], now + SWEEP), self._sweep) if due else None


class Stream:
    """A stream by name, whose subjects this engine appends to and reads."""

    def __init__(self, asker: Asker, name: str) -> None:
        self._asker, self.name = asker, name
        self.refusal = ""
        """Why the last append that failed did, in the server's words: for operators."""

    async def append(self, subject: str, body: bytes, expected: int, id: str = "", needed: int = 0) -> int | None:
        """The sequence it was acknowledged as; None for anything else at all, which proves nothing."""
        headers = {EXPECTED: str(expected)}
        if id:
            headers[SLOT_ID] = id
        if needed:
            headers[NEEDED] = str(needed)
        answer = await self._asker.ask(subject, body, headers)
        if answer is None:
            self.refusal = "no answer"
            return None
        try:
            ack = _ack.decode(answer)
        except msgspec.DecodeError:
            self.refusal = "an answer that can't be read"
            return None
        if ack.error is not None:
            self.refusal = f"{ack.error.get('description')} ({ack.error.get('err_code')})"
            return None
        return ack.seq if ack.seq > 0 else None

    async def last(self, subject: str) -> Message | None:
        """The subject's last message from the leader, None when there is none.  Raises StreamAway."""
        payload = msgspec.json.encode({"last_by_subj": subject})
        answer = await self._asker.ask(f"$JS.API.STREAM.MSG.GET.{self.name}", payload)
        if answer is None:
            raise StreamAway(f"{self.name} does not answer")
        found = msgspec.json.decode(answer)
        error = found.get("error")
        if error is not None:
            if error.get("err_code") == 10037:
                return None
            raise StreamAway(f"{self.name}: {error.get('description')}")
        message = found["message"]
        headers = parse_headers(base64.b64decode(message.get("hdrs", "")))
        return Message(int(message["seq"]), headers, base64.b64decode(message.get("data", "")))

    async def read(self, subject: str, sequence: int) -> list[Message]:
        """Up to a batch of the subject's messages from `sequence` on, perhaps from a replica that is behind.

        Raises StreamAway.
        """
        payload = msgspec.json.encode({"seq": sequence, "next_by_subj": subject, "batch": BATCH})
        found: list[Message] = []
        async for message in self._asker.ask_many(f"$JS.API.DIRECT.GET.{self.name}", payload):
            headers = dict(message.headers or {})
            if "Status" in headers:
                if headers["Status"] not in ("204", "404"):
                    raise StreamAway(f"{self.name}: {headers}")
                break
            found.append(Message(int(headers["Nats-Sequence"]), headers, message.data))
        return found

    async def subjects(self, pattern: str) -> tuple[list[str], int]:
        """The subjects that have messages, and the stream's last sequence.  Raises StreamAway."""
        state = (await self.info({"subjects_filter": pattern}))["state"]
        return sorted((state.get("subjects") or {}).keys()), int(state.get("last_seq", 0))

    async def info(self, question: dict[str, Any] | None = None) -> dict[str, Any]:
        """The stream's configuration and state.  Raises StreamAway, also when there is none."""
        payload = msgspec.json.encode(question) if question else b""
        answer = await self._asker.ask(f"$JS.API.STREAM.INFO.{self.name}", payload)
        if answer is None:
            raise StreamAway(f"{self.name} does not answer")
        found: dict[str, Any] = msgspec.json.decode(answer)
        if "error" in found:
            raise StreamAway(f"{self.name}: {found['error'].get('description')}")
        return found

    async def purge_below(self, subject: str, sequence: int) -> bool:
        """Remove the subject's messages below `sequence`; False when that is not certain."""
        payload = msgspec.json.encode({"filter": subject, "seq": sequence})
        answer = await self._asker.ask(f"$JS.API.STREAM.PURGE.{self.name}", payload)
        return answer is not None and bool(msgspec.json.decode(answer).get("success"))


def parse_headers(raw: bytes) -> dict[str, str]:
    """NATS' header block.

    >>> parse_headers(b"NATS/1.0\\r\\nA: b\\r\\n\\r\\n")
    {'A': 'b'}
    """
    found = {}
    for line in raw.decode().split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            found[name.strip()] = value.strip()
    return found
