"""A table as bytes, for the snapshots in the log: equal tables, equal bytes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.engine.records import VERSION, UnknownVersion
from services.engine.table import AnyGame, State, Table


class _Stored(msgspec.Struct, array_like=True):
    version: int
    state: State
    cards: bytes | None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Stored)


def dump(table: Table, version: int = VERSION) -> bytes:
    """A table as bytes, for readers of `version`; equal tables, equal bytes."""
    cards = table.game.dump(table.cards) if table.cards is not None else None
    return _encoder.encode(_Stored(version, table.state, cards))


def load(data: bytes, games: Mapping[str, AnyGame]) -> Table:
    """Raises UnknownVersion, KeyError for an unknown game, or msgspec.DecodeError."""
    stored = _decoder.decode(data)
    if stored.version > VERSION:
        raise UnknownVersion("snapshot", stored.version)
    game = games[stored.state.game]
    return Table(game, stored.state, game.load(stored.cards) if stored.cards is not None else None)
