"""What a running stack holds, read from outside: processes, NATS, Redis, and what its parts count."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import psutil
from prometheus_client.parser import text_string_to_metric_families
from redis.asyncio import Redis

from simulate.vigil import Running, Stack
from wire import subjects

Sample = dict[str, float]
"""By series: `memory/engine-1`, `log/messages`, `redis/keys` …; bytes or counts."""

GAUGES = {
    "snatch_engine_tables": "tables/engines",
    "snatch_engine_queue_depth": "queue/partitions",
    "snatch_gateway_sockets": "sockets/gateways",
    "snatch_gateway_rooms": "heard/gateways",
    "snatch_gateway_seats": "seats/gateways",
    "snatch_watch_sockets": "sockets/watches",
    "snatch_watch_rooms": "heard/watches",
    "snatch_bots_seats": "seats/bots",
}
"""Summed over a kind's processes."""
WORKERS = ("probe:", "workers:")
"""Keys of Redis that are of no room."""
STREAMS = {subjects.LOG_STREAM: "log", f"KV_{subjects.OWN_BUCKET}": "placement"}


class Sampler:
    """`async with Sampler(stack, running) as sampler`."""

    def __init__(self, stack: Stack, running: Running) -> None:
        self._stack, self._running = stack, running
        self._http = httpx.AsyncClient(timeout=5, trust_env=False)
        self._redis = Redis.from_url(stack["redis_url"], decode_responses=True)

    async def __aenter__(self) -> Sampler:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()
        await self._redis.aclose()

    def parts(self) -> list[dict[str, Any]]:
        """As the stack's folder lists them now; a part that is down for a moment is left out."""
        state = self._running(Path(self._stack["data"])) or self._stack
        return [part for part in state["parts"] if part["pid"]]

    def restarts(self) -> dict[str, int]:
        return {part["name"]: part["restarts"] for part in self.parts() if part["restarts"]}

    async def sample(self) -> Sample:
        """Everything that could be read just now."""
        parts = self.parts()
        found: Sample = {}
        for read in await asyncio.gather(
            asyncio.to_thread(processes, parts),
            asyncio.to_thread(disks, Path(self._stack["data"])),
            self._nats(parts),
            self._keys(),
            self._counts(parts),
        ):
            found |= read
        return found

    async def _nats(self, parts: list[dict[str, Any]]) -> Sample:
        """Connections and subscriptions of all servers; of each stream what its fullest replica holds."""
        found: defaultdict[str, float] = defaultdict(float)
        for part in parts:
            if part["kind"] != "nats" or "monitor" not in part["ports"]:
                continue
            at = f"http://127.0.0.1:{part['ports']['monitor']}"
            with contextlib.suppress(httpx.HTTPError):
                said = (await self._http.get(f"{at}/varz")).json()
                found["nats/connections"] += said["connections"]
                found["nats/subscriptions"] += said["subscriptions"]
                streams = (await self._http.get(f"{at}/jsz", params={"streams": "true"})).json()
                found["nats/consumers"] = max(found["nats/consumers"], streams["consumers"])
                for account in streams.get("account_details", ()):
                    for stream in account.get("stream_detail", ()):
                        name = STREAMS.get(stream["name"], stream["name"])
                        for what in ("messages", "bytes"):
                            found[f"{name}/{what}"] = max(found[f"{name}/{what}"], stream["state"][what])
        return dict(found)

    async def _keys(self) -> Sample:
        memory = await self._redis.info("memory")
        return {"redis/keys": float(await self._redis.dbsize()), "redis/bytes": float(memory["used_memory"])}

    async def keys(self) -> set[str]:
        """Of Redis, those apart that show which workers there are."""
        return {key async for key in self._redis.scan_iter(count=1000) if not key.startswith(WORKERS)}

    async def _counts(self, parts: list[dict[str, Any]]) -> Sample:
        found: defaultdict[str, float] = defaultdict(float)
        for part in parts:
            if "ops" not in part["ports"]:
                continue
            with contextlib.suppress(httpx.HTTPError):
                text = (await self._http.get(f"http://127.0.0.1:{part['ports']['ops']}/metrics")).text
                for family in text_string_to_metric_families(text):
                    if family.name in GAUGES:
                        found[GAUGES[family.name]] += sum(s.value for s in family.samples)
        return dict(found)


def processes(parts: list[dict[str, Any]]) -> Sample:
    """Memory, open files and threads of each part; those of what it started (deal workers) apart."""
    found: defaultdict[str, float] = defaultdict(float)
    for part in parts:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process = psutil.Process(part["pid"])
            _read(process, part["name"], found)
            for child in process.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    _read(child, f"{part['name']}'s workers", found)
    return dict(found)


def _read(process: psutil.Process, name: str, found: defaultdict[str, float]) -> None:
    full = process.memory_full_info()
    found[f"memory/{name}"] += getattr(full, "pss", None) or full.rss
    found[f"rss/{name}"] += full.rss
    found[f"files/{name}"] += process.num_fds()
    found[f"threads/{name}"] += process.num_threads()


def disks(data: Path) -> Sample:
    """Bytes that NATS and Valkey occupy on disk."""
    found: Sample = {}
    for folder in sorted(data.iterdir()):
        if folder.is_dir() and folder.name.startswith(("nats", "valkey")):
            size = 0
            for path in folder.rglob("*"):
                with contextlib.suppress(OSError):  # rewritten meanwhile
                    size += path.stat().st_blocks * 512
            found[f"disk/{folder.name}"] = float(size)
    return found
