"""Where `snatch top` reads: each process of a stack on this machine, or a Prometheus that has read them all."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

import httpx
import psutil

from stack.data import DataFolder
from stack.top_readings import Between, Process, Reading, Said, Series, parsed

SERVICES = ("gateway", "rooms", "engine", "bots", "watch")
WINDOW = 10.0
"""Seconds over which rates are taken, as soon as there are so many."""
SCRAPED_WINDOW = 30
"""The same of a Prometheus, which reads every few seconds only."""
ANSWER_WITHIN = 2.0
"""Seconds until a process that doesn't answer is called silent."""
READ = (
    '{__name__=~"snatch_.+|process_cpu_seconds_total|process_resident_memory_bytes|up",'
    f'job=~".*({"|".join(SERVICES)})"}}'
)


class NothingThere(Exception):
    """There is nobody to ask, in words."""


class Source(Protocol):
    """`name`: where it reads, for people."""

    name: str

    async def read(self) -> Between:
        """Now, and as long before as rates are taken over.  Raises NothingThere."""
        ...


class Stack:
    """The stack on a folder, whatever its processes are at the time."""

    def __init__(self, data: DataFolder, http: httpx.AsyncClient) -> None:
        self.name = str(data.path)
        self._data, self._http = data, http
        self._readings: deque[Reading] = deque()

    async def read(self) -> Between:
        state = self._data.state()
        if state is None:
            raise NothingThere(f"no stack runs on {self._data.path}")
        reading = Reading(time.monotonic())
        await asyncio.gather(*(self._ask(part, reading) for part in state["parts"]))
        self._readings.append(reading)
        while len(self._readings) > 2 and reading.at - self._readings[1].at >= WINDOW:
            self._readings.popleft()
        return Between(self._readings[0], reading)

    async def _ask(self, part: Mapping[str, Any], reading: Reading) -> None:
        process = Process(part["kind"], part["name"])
        try:
            if part["kind"] in SERVICES:
                answer = await self._http.get(f"http://127.0.0.1:{part['ports']['ops']}/metrics", timeout=ANSWER_WITHIN)
                reading.said[process] = parsed(answer.raise_for_status().text)
            else:
                reading.said[process] = _as_seen(part["pid"])
        except httpx.TimeoutException:
            reading.silent[process] = f"no answer within {ANSWER_WITHIN:.0f} s"
        except (httpx.HTTPError, ValueError, psutil.Error) as error:
            reading.silent[process] = str(error) or type(error).__name__


def _as_seen(pid: int) -> Said:
    """Of a server that has no metrics of ours: what the system knows, by the names of ours.  Raises psutil.Error."""
    process = psutil.Process(pid)
    with process.oneshot():
        cpu, memory = process.cpu_times(), process.memory_info()
    return {
        "process_cpu_seconds_total": [Series({}, cpu.user + cpu.system)],
        "process_resident_memory_bytes": [Series({}, memory.rss)],
    }


class Prometheus:
    """`url`: its address.  The services are known by the `job` that ends in their name."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.name = url
        self._url, self._http = url.rstrip("/"), http

    async def read(self) -> Between:
        before, now = await asyncio.gather(self._query(f" offset {SCRAPED_WINDOW}s"), self._query(""))
        if not now.said and not now.silent:
            raise NothingThere(f"{self._url} knows of no service of Snatch: no job named {', '.join(SERVICES)}")
        before.at = now.at - (SCRAPED_WINDOW if before.said else 0)
        return Between(before, now)

    async def _query(self, offset: str) -> Reading:
        try:
            answer = await self._http.post(f"{self._url}/api/v1/query", data={"query": READ + offset}, timeout=10)
            found = answer.raise_for_status().json()["data"]["result"]
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
            raise NothingThere(f"{self._url} is no Prometheus that answers: {error or type(error).__name__}") from error
        reading = Reading(time.monotonic())
        for series in found:
            labels: dict[str, str] = series["metric"]
            name, job, instance = (labels.pop(label, "") for label in ("__name__", "job", "instance"))
            kind = next(kind for kind in SERVICES if job.endswith(kind))
            # Compose's are `172.18.0.7:9000`; a pod has a name.
            process = Process(kind, labels.pop("pod", "") or f"{kind} {instance}")
            value = float(series["value"][1])
            if name != "up":
                reading.said.setdefault(process, {}).setdefault(name, []).append(Series(labels, value))
            elif not value:
                reading.silent[process] = "not scraped"
        return reading
