"""Is it ready?  One question to a port, answered by None or by what is missing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

Probe = Callable[[], Awaitable[str | None]]

NO_ANSWER = "no answer"
"""What is missing where somebody listens and says nothing: a process that is stopped, or hangs."""


async def _ask(port: int, question: bytes, timeout: float, host: str = "127.0.0.1") -> bytes:
    """The whole answer, the question having asked to close.  Raises Unanswered."""
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(question)
                return await reader.read(-1)
            finally:
                writer.close()
    except TimeoutError:
        raise Unanswered(NO_ANSWER) from None
    except OSError:
        raise Unanswered("not listening yet") from None


class Unanswered(Exception):
    """The port gave no answer, in words."""


def http(port: int, path: str = "/readyz", timeout: float = 2, host: str = "127.0.0.1") -> Probe:
    """Ready when GET is answered 200; otherwise the `why` or `error` of the answer."""
    question = f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n".encode()

    async def probe() -> str | None:
        try:
            answer = await _ask(port, question, timeout, host)
        except Unanswered as unanswered:
            return str(unanswered)
        head, _, body = answer.partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        if status == [b"200"]:
            return None
        try:
            said = json.loads(body)
            return str(said.get("why") or said["error"])  # ours, or a NATS server's
        except (ValueError, KeyError, TypeError, AttributeError):
            return f"answers {status[0].decode() if status else 'nothing'}"

    return probe


def redis(port: int, timeout: float = 1) -> Probe:
    """Ready when PING is answered PONG (not while it loads its file)."""

    async def probe() -> str | None:
        try:
            answer = await _ask(port, b"PING\r\nQUIT\r\n", timeout)
        except Unanswered as unanswered:
            return str(unanswered)
        return None if answer.startswith(b"+PONG") else answer.decode(errors="replace").split("\r\n")[0]

    return probe
