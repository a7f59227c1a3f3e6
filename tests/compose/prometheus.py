"""Prometheus, asked from outside at its container's own address."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import httpx


class Series(NamedTuple):
    labels: dict[str, str]
    value: float


class Prometheus:
    """`address`: this machine's way to it, as of now."""

    def __init__(self, address: str) -> None:
        self._http = httpx.Client(base_url=f"http://{address}:9090", timeout=20, trust_env=False)

    def ask(self, query: str) -> list[Series]:
        """An instant query.  Raises httpx.HTTPError, also where Prometheus finds it wrong."""
        answer = self._http.post("/api/v1/query", data={"query": query}).raise_for_status().json()["data"]
        if answer["resultType"] == "scalar":
            return [Series({}, float(answer["result"][1]))]
        return [Series(row["metric"], float(row["value"][1])) for row in answer["result"]]

    def until(self, query: str, holds: Callable[[list[Series]], bool], within: float = 60.0) -> list[Series]:
        """What it answers when that holds, or what it last did: it scrapes every few seconds."""
        end = time.monotonic() + within
        while not holds(found := self.ask(query)) and time.monotonic() < end:
            time.sleep(0.5)
        return found


def something(found: list[Series]) -> bool:
    """Whether there is a number in it."""
    return any(math.isfinite(series.value) for series in found)
