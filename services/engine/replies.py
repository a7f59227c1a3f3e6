"""Replies to one caller's commands: they gather while the last batch of them is on its way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from generated.snatch.engine.v1 import engine_pb2 as pb

MAX_REPLIES = 16384
"""Replies that may wait for their caller: of one that doesn't read, nothing more is read here."""


class CommandReplies:
    """One caller's."""

    def __init__(self) -> None:
        self._replies: list[pb.Reply] = []
        self._some = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._over = False

    @property
    def waiting(self) -> int:
        return len(self._replies)

    def reply(self, reply: pb.Reply) -> None:
        if self._over:
            return
        self._replies.append(reply)
        self._some.set()
        if len(self._replies) >= MAX_REPLIES:
            self._room.clear()

    async def room(self) -> None:
        """Wait while the caller doesn't read what it is told: it is asked no more meanwhile."""
        await self._room.wait()

    def end(self) -> None:
        self._over = True
        self._some.set()

    async def batches(self) -> AsyncIterator[pb.CommandsResponse]:
        while True:
            await self._some.wait()
            self._some.clear()
            replies, self._replies = self._replies, []
            self._room.set()
            if replies:
                yield pb.CommandsResponse(replies=replies)
            if self._over:
                return
