"""What waits in a partition's queue to be decided: commands, calls, and deals that are ready."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from generated.snatch.engine.v1 import engine_pb2 as pb


class NotOwner(Exception):
    """The partition is not served here."""


class CallRefused(Exception):
    """A call's plain no: `status` is a grpc status name, `detail` what the caller is told."""

    def __init__(self, status: str, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.detail = status, detail


class Replies(Protocol):
    """Where a command's reply goes, if it has one."""

    def reply(self, reply: pb.Reply) -> None: ...


class CommandItem:
    """A command of a caller's stream."""

    __slots__ = ("at", "command", "replies")

    def __init__(self, command: pb.Command, replies: Replies) -> None:
        self.command, self.replies = command, replies
        self.at = 0.0
        """When it came, in seconds of the loop's clock."""

    def fail(self) -> None:
        self.reply(pb.REPLY_KIND_NOT_OWNER)

    def busy(self) -> None:
        """Not taken; ids are contiguous, so that what comes after it waits for it to come again."""
        self.reply(pb.REPLY_KIND_BUSY)

    def reply(self, kind: pb.ReplyKind.ValueType, id: int | None = None, body: bytes = b"") -> None:
        c = self.command
        self.replies.reply(
            pb.Reply(room=c.room, seat=c.seat, session=c.session, id=c.id if id is None else id, kind=kind, body=body)
        )


MakeCommand = Callable[[pb.Command, Replies], CommandItem]


class Call:
    """A unary call; its future gets the response after the commit, or NotOwner, or CallRefused."""

    __slots__ = ("future", "request", "via")

    def __init__(self, request: Any, future: asyncio.Future[Any], via: str = "") -> None:
        self.request, self.future, self.via = request, future, via

    def fail(self) -> None:
        self.refuse(NotOwner())

    def busy(self) -> None:
        self.refuse(CallRefused("UNAVAILABLE", "busy"))

    def refuse(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def answer(self, response: Any) -> None:
        if not self.future.done():
            self.future.set_result(response)


class DealItem:
    """A deal that a table asked for."""

    __slots__ = ("asked", "event", "room", "table")

    def __init__(self, room: str, table: str, asked: int, event: bytes) -> None:
        self.room, self.table, self.asked, self.event = room, table, asked, event

    def fail(self) -> None:
        """The new owner asks again."""


class DropItem:
    """All sessions of callers that are gone: their sockets closed without a word."""

    __slots__ = ("caller",)

    def __init__(self, caller: str) -> None:
        self.caller = caller

    def fail(self) -> None:
        """The new owner finds out by itself."""


Item = CommandItem | Call | DealItem | DropItem
