"""What a gateway tells rooms of its sockets, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from servicekit.rooms_client import RoomsClient
from services.gateway import presence
from services.gateway.presence import Presence
from tests.waiting import reach


class TwinRooms:
    """Hears who is here and who is gone."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bool]] = []

    async def presence(self, token: str, socket: str, *, here: bool) -> None:
        self.told.append((socket, here))

    async def still_here(self, sockets: Sequence[tuple[str, str]]) -> list[str] | None:
        self.told += [(socket, True) for _, socket in sockets]
        return [""] * len(sockets)


def nobody(code: str) -> None:
    """Who is refused isn't asked about."""


async def test_an_ending_gateway_tells_of_the_sockets_that_it_closed_when_their_pages_had_time_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presence, "STAYS", 0.01)
    rooms = TwinRooms()
    told = Presence(cast(RoomsClient, rooms))
    told.start()
    for socket in ("one", "two"):
        told.here(socket, "BCDFG", f"token {socket}", nobody)
    await reach(lambda: len(rooms.told) == 2, "both are here")
    told.gone("two")
    await reach(lambda: ("two", False) in rooms.told, "one that goes by itself is told of at once")
    told.hold()
    told.gone("one")
    told.here("three", "BCDFG", "token three", nobody)
    await reach(lambda: ("three", True) in rooms.told, "it has looked at what is to be told")
    assert ("one", False) not in rooms.told
    await told.stop()
    assert rooms.told[-1] == ("one", False)


async def test_a_gateway_that_has_nobody_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "STAYS", 1000.0)
    told = Presence(cast(RoomsClient, TwinRooms()))
    told.start()
    told.hold()
    await told.stop()
