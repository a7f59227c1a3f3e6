"""What a bot reads: the bytes that browsers get, decoded with one game's types."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

import msgspec

from games.contract import Game
from games.registry import GAMES
from wire import client_out
from wire.tolerant import decoder

TABLE_EVENTS: tuple[type, ...] = get_args(client_out.TableEvent)


class Reader:
    """Decoders of one game's snapshots and frames.  Unknown fields are passed over: an engine may be newer.

    A decoded snapshot is as `client_out.Snapshot` with the game's own View; a frame is
    as `client_out.TableFrame` with table events and the game's public events in `ev`.
    Both raise msgspec.DecodeError.
    """

    def __init__(self, game: Game[Any, Any, Any, Any, Any, Any]) -> None:
        event: Any = client_out.TableEvent | game.spec.public_event_type
        step = msgspec.defstruct(
            "Step",
            [
                ("ev", list[event], []),
                ("by", int | None, None),
                ("id", int | None, None),
                ("no", client_out.No | None, None),
            ],
        )
        frame = msgspec.defstruct("Frame", [("n", int), ("seq", int), ("steps", list[step])])  # type: ignore[valid-type]
        view: Any = game.spec.view_type
        snapshot = msgspec.defstruct(
            "Snapshot",
            [("v", int), ("seq", int), ("table", client_out.TableView), ("view", view | None), ("answered", int, 0)],
        )
        self.snapshot = decoder(snapshot)
        self.frame = decoder(frame)


@cache
def reader(game: str) -> Reader:
    """Made once for each game."""
    return Reader(GAMES[game])
