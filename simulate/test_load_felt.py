"""A simulated page reports what gateways believe, and only when they ask."""

from __future__ import annotations

import msgspec

from services.gateway import felt
from services.gateway.metrics import GatewayMetrics
from simulate.load_felt import FeltReport
from wire.client_in import Felt


def test_what_it_reports_is_believed() -> None:
    metrics, page = GatewayMetrics(), FeltReport()
    page.asked(30, 0.0)
    for seconds in (0.0, 0.01, 0.0104, 0.02, 0.3, 9.9996, 10.2, 59.9):
        page.seen(seconds)
    page.reconnected()
    assert page.due(29.0) is None
    said = page.due(31.0)
    assert said is not None
    assert felt.take(msgspec.json.decode(said, type=Felt), 31.0, 30.0, metrics)
    assert metrics.registry.get_sample_value("snatch_gateway_felt_move_seconds_count") == 8
    assert metrics.registry.get_sample_value("snatch_gateway_felt_events_total", {"what": "reconnect"}) == 1
    assert page.due(100.0) is None, "it has nothing new to say"


def test_nobody_is_told_who_does_not_ask() -> None:
    page = FeltReport()
    page.asked(0, 0.0)
    page.seen(0.1)
    page.reconnected()
    assert page.due(1000.0) is None
