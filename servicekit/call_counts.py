"""How calls of another service fared, as plain numbers."""

from __future__ import annotations

from collections import Counter


class CallCounts:
    """`failures`: calls without an answer, by gRPC's name of the status; `reconnects`: times that it answered again."""

    def __init__(self) -> None:
        self.failures: Counter[str] = Counter()
        self.reconnects = 0
