"""A socket's first message: which one it must be, of which version, and how soon."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import msgspec

from servicekit.sockets import Socket
from wire import client_in

G = TypeVar("G", client_in.Hello, client_in.Watch)


class BadGreeting(Exception):
    """It didn't come, or was another.  `code` is one of client_out.Error's."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class _Version(msgspec.Struct):
    """All that is read of a first message of another version."""

    v: int | None = None


_version = msgspec.json.Decoder(_Version)


async def greeting(socket: Socket, decoder: msgspec.json.Decoder[Any], kind: type[G], within: float) -> G | None:
    """The socket's first message; None when it is gone.  `within` seconds.  Raises BadGreeting."""
    tag = kind.__struct_config__.tag
    try:
        async with asyncio.timeout(within):
            data = await socket.receive()
    except TimeoutError:
        raise BadGreeting("bad_message", f"no {tag} came") from None
    if data is None:
        return None
    try:
        # Before the rest of it, which another version may well say otherwise.
        version = _version.decode(data).v
        if version not in (None, client_in.VERSION):
            raise BadGreeting("bad_version", f"version {client_in.VERSION} is spoken here, not {version}")
        message = decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadGreeting("bad_message", str(error)[:200]) from None
    if not isinstance(message, kind):
        raise BadGreeting("bad_message", f"the first message is {tag}")
    return message
