"""A full phone beside a seat: it takes in every message by itself, sharing no work, as a page must.

A few of them hold the players' shared picture to what a page would show.
"""

from __future__ import annotations

from typing import Any

import msgspec

from simulate.screen import Screen
from wire import client_out as out

_decode = msgspec.json.Decoder(out.ServerMessage).decode


class FullPhone:
    """`hear` all that its seat's sockets give."""

    def __init__(self) -> None:
        self.screen = Screen()

    def hear(self, data: bytes) -> None:
        """Raises msgspec.ValidationError for what is not of the protocol."""
        message: Any = _decode(data)
        if isinstance(message, out.Snapshot):
            self.screen.snapshot(message)
        elif isinstance(message, out.TableFrame | out.SeatFrame):
            self.screen.frame(message)
