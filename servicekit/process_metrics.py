"""What every process says of itself, whatever it serves: what runs, its memory and time, its loop and its garbage."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from servicekit.garbage import Pauses
from servicekit.lag import Lag
from servicekit.meters import Meters


class ProcessMetrics:
    """Added to a service's own.  Nothing is looked at before `start`."""

    def __init__(self, registry: CollectorRegistry, service: str, build: str, commit: str) -> None:
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)
        self.meters = meters = Meters("snatch", registry)
        info = meters.levels("build_info", "1, with what runs.", service=[service], build=[build], commit=[commit])
        info.read = lambda: {(service, build, commit): 1}
        self._lag = Lag(meters)
        self._pauses = Pauses(meters)

    def start(self) -> None:
        self._lag.start()
        self._pauses.start()

    def stop(self) -> None:
        self._lag.stop()
        self._pauses.stop()
