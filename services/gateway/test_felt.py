"""What pages say that they felt is counted while it makes sense, and ignored when it doesn't."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from services.gateway import felt
from services.gateway.metrics import GatewayMetrics
from wire.client_in import FELT_MS, ClientMessage, Felt

EVERY = 30.0
NONE = [0] * (len(FELT_MS) + 1)


def at(bucket: int, count: int = 1) -> list[int]:
    return [*NONE[:bucket], count, *NONE[bucket + 1 :]]


def test_what_was_felt_is_added_up_with_everybodys() -> None:
    metrics = GatewayMetrics()
    assert felt.take(Felt(moves=at(4, 2), ms=120, reconnects=1), EVERY, EVERY, metrics)
    assert felt.take(Felt(moves=at(13), ms=12_000, errors=3), EVERY, EVERY, metrics)
    told = metrics.registry.get_sample_value
    assert told("snatch_gateway_felt_move_seconds_bucket", {"le": "0.05"}) == 0
    assert told("snatch_gateway_felt_move_seconds_bucket", {"le": "0.075"}) == 2
    assert told("snatch_gateway_felt_move_seconds_bucket", {"le": "10.0"}) == 2
    assert told("snatch_gateway_felt_move_seconds_count") == 3
    assert told("snatch_gateway_felt_move_seconds_sum") == pytest.approx(12.12)
    assert told("snatch_gateway_felt_events_total", {"what": "reconnect"}) == 1
    assert told("snatch_gateway_felt_events_total", {"what": "script_error"}) == 3
    assert told("snatch_gateway_felt_reports_total", {"result": "taken"}) == 2


@pytest.mark.parametrize(
    "report",
    [
        Felt(moves=[1], ms=5),
        Felt(moves=[1] * 4000, ms=5),
        Felt(moves=at(3, -1), ms=-40),
        Felt(moves=at(3, felt.MOST_MOVES + 1), ms=40 * (felt.MOST_MOVES + 1)),
        Felt(moves=at(3, 10**30), ms=40 * 10**30),
        Felt(moves=at(3), ms=5),
        Felt(moves=at(3), ms=51),
        Felt(moves=at(13), ms=10**9),
        Felt(ms=1),
        Felt(reconnects=-1),
        Felt(reconnects=felt.MOST_EVENTS + 1),
        Felt(errors=10**30),
    ],
    ids=str,
)
def test_what_no_page_can_have_lived_through_is_ignored(report: Felt) -> None:
    metrics = GatewayMetrics()
    assert not felt.take(report, EVERY, EVERY, metrics)
    assert metrics.registry.get_sample_value("snatch_gateway_felt_reports_total", {"result": "ignored"}) == 1
    assert metrics.registry.get_sample_value("snatch_gateway_felt_move_seconds_count") == 0
    assert metrics.registry.get_sample_value("snatch_gateway_felt_events_total", {"what": "script_error"}) == 0


def test_reports_that_come_too_soon_or_unasked_are_ignored() -> None:
    metrics = GatewayMetrics()
    assert not felt.take(Felt(errors=1), EVERY / 4, EVERY, metrics)
    assert not felt.take(Felt(errors=1), EVERY, 0, metrics)
    assert metrics.registry.get_sample_value("snatch_gateway_felt_events_total", {"what": "script_error"}) == 0


@pytest.mark.parametrize("more", [{"text": "TypeError: at /r/BCDFG"}, {"moves": ["BCDFG"]}, {"errors": "many"}])
def test_a_report_has_no_room_for_words(more: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode({"t": "felt", **more}), type=ClientMessage)
