"""Prometheus, asked from outside at its container's own address."""

from __future__ import annotations

import math
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


def something(found: list[Series]) -> bool:
    """Whether there is a number in it."""
    return any(math.isfinite(series.value) for series in found)
