"""What a later release says beside what is known here is passed over, wherever it stands."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from wire import client_out as out
from wire import frames
from wire.tolerant import decoder


def later(message: Any) -> bytes:
    """The message with a field more in every object."""

    def more(found: Any) -> Any:
        if isinstance(found, dict):
            return {**{key: more(value) for key, value in found.items()}, "later": {"t": "any"}}
        return [more(value) for value in found] if isinstance(found, list) else found

    return msgspec.json.encode(more(msgspec.json.decode(msgspec.json.encode(message))))


ANY: Any = out.ServerMessage
MESSAGES = decoder(ANY)
LOBBY = out.Lobby("BCDFG", 3, "p0", [out.LobbyPlayer("p0", "Ann", 1, None, True)], table="t1")
STEP = out.Step([], 0, 4, out.No("snatched", by=1))
STANDINGS = out.FinalStandings(out.Outcome([out.Place(0, 25, 1)], [0]))


@pytest.mark.parametrize("message", [LOBBY, STEP, STANDINGS, out.Done(3)], ids=lambda m: type(m).__name__)
def test_fields_of_a_later_release_are_passed_over_at_any_depth(message: Any) -> None:
    kind = type(message)
    assert msgspec.json.encode(decoder(kind)(later(message))) == msgspec.json.encode(message)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(later(message), type=kind)


def test_a_union_is_told_by_its_tag() -> None:
    assert MESSAGES(later(LOBBY)) == LOBBY


def test_a_beacon_s_numbers_stay_numbers() -> None:
    data = msgspec.json.encode({"table": 4, "seats": {0: 2, 3: 1}, "later": True})
    assert decoder(frames.Beacon)(data) == frames.Beacon(4, {0: 2, 3: 1})


def test_what_is_wrong_or_unheard_of_is_still_refused() -> None:
    for bad in (b"{", b'{"t":"lobby"}', b'{"t":"what"}', b'{"t":"lobby","room":1}'):
        with pytest.raises(msgspec.DecodeError):
            MESSAGES(bad)
