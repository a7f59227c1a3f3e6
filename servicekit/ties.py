"""What a process hangs on, as metrics: its connection to NATS, and the services that it calls."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from servicekit.bus import Bus
from servicekit.call_counts import CallCounts
from servicekit.meters import Meters

NATS_ERRORS = ("slow_consumer", "other")
GRPC_CODES = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED", "INTERNAL", "UNKNOWN")
"""Those in which a call can fail without anybody's having said no; all others are `other`."""


class Ties:
    """Declared with a service's metrics; told by `watch_…` once there is something to count."""

    def __init__(self, registry: CollectorRegistry, *, calls: tuple[str, ...] = ()) -> None:
        """`calls`: the services that are called by gRPC."""
        meters = Meters("snatch", registry)
        self._connected = meters.level("nats_connected", "1 while NATS is there.")
        self._away = meters.count("nats_disconnects", "Times that the connection to NATS broke.")
        self._back = meters.count("nats_reconnects", "Times that it was had again.")
        self._errors = meters.counts("nats_errors", "What NATS and its client complained of.", kind=NATS_ERRORS)
        self._waits = meters.count("nats_publish_waits", "Times that a message waited for NATS to take it.")
        self._unsent = meters.level("nats_unsent_bytes", "Bytes that wait for NATS to take them.")
        if not calls:
            return
        self._failures = meters.counts(
            "grpc_failures", "Calls that had no answer, or not in time.", to=calls, code=GRPC_CODES
        )
        self._reconnects = meters.counts(
            "grpc_reconnects", "Times that a service answered again, or was connected to anew.", to=calls
        )

    def watch_nats(self, nc: Bus) -> None:
        self._connected.read = lambda: float(nc.is_connected)
        counts = nc.counts
        self._away.read = lambda: counts.disconnects
        self._back.read = lambda: counts.reconnects
        self._errors.read = lambda: {("slow_consumer",): counts.slow_consumers, ("other",): counts.errors}
        self._waits.read = lambda: nc.waits
        self._unsent.read = nc.unsent

    def watch_calls(self, **counts: CallCounts) -> None:
        """By the service that is called."""
        self._failures.read = lambda: {(to, code): n for to, c in counts.items() for code, n in c.failures.items()}
        self._reconnects.read = lambda: {(to,): c.reconnects for to, c in counts.items()}
