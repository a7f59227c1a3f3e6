"""Traces: whether this process makes any.  Off, nothing of them is loaded.

What is traced is done by classes that stand in for the plain ones (`tracing_seat.TracedSeat`
for `SeatSession`, and so on).  A service that traces nothing is wired without them: its moves
pass no line of theirs.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from servicekit.bus import Bus
from servicekit.engine_link import Links
from servicekit.seat import MakeSeat, SeatSession
from servicekit.settings import Settings

if TYPE_CHECKING:
    from servicekit.tracing_spans import Traces

SWITCH = "OTEL_SDK_DISABLED"
"""OpenTelemetry's own: true, and nothing is traced."""


def traces(service: str, settings: Settings) -> Traces | None:
    """What the settings ask for; None: nothing is traced here.

    Raises OSError, with its cure, when spans can't be sent as they are asked to be.
    """
    if settings.trace_ratio <= 0 or os.environ.get(SWITCH, "").strip().lower() == "true":
        return None
    # Only here, as below: OpenTelemetry is loaded where something is traced, and nowhere else.
    from servicekit.tracing_spans import Traces, to_collector

    return Traces(service, settings, to_collector())


def seat(traces: Traces | None) -> MakeSeat:
    """What makes seats at tables."""
    if traces is None:
        return SeatSession
    from servicekit.tracing_seat import TracedSeat

    return partial(TracedSeat, traces)


def links(traces: Traces | None) -> Links:
    """Ways to engines."""
    if traces is None:
        return Links()
    from servicekit.tracing_calls import dialling
    from servicekit.tracing_stream import TracedStream

    return Links(dialling(traces), partial(TracedStream, traces))


def listen(bus: Bus, traces: Traces | None) -> None:
    """What is heard there of traced moves is told, if anything is."""
    if traces is not None:
        bus.listeners.within = traces.heard
