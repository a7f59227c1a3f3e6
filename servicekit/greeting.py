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
    try:
        async with asyncio.timeout(within):
            data = await socket.receive()
    except TimeoutError:
        raise BadGreeting("bad_message", f"no {kind.__struct_config__.tag} came") from None
    return None if data is None else read_greeting(data, decoder, kind)


def read_greeting(data: str | bytes, decoder: msgspec.json.Decoder[Any], kind: type[G]) -> G:
    """A first message.  Raises BadGreeting."""
    try:
        # Before the rest of it, which another version may well say otherwise.
        version = _version.decode(data).v
        if version not in (None, client_in.VERSION):
            raise BadGreeting("bad_version", f"version {client_in.VERSION} is spoken here, not {version}")
        message = decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadGreeting("bad_message", str(error)[:200]) from None
    if not isinstance(message, kind):
        raise BadGreeting("bad_message", f"the first message is {kind.__struct_config__.tag}")
    return message
