"""Whether everything is as it was once all rooms are gone."""

from __future__ import annotations

import asyncio
import time

from simulate.soak_samples import Sample, Sampler
from simulate.soak_verdict import shown
from wire.places import PARTITIONS

RECORDS_LEFT = 2 * PARTITIONS
"""A partition's last record is never trimmed; one before it may wait for the next record to come."""
BYTES_LEFT = 512 * 1024
FILES_MORE = 48
"""A process may keep more open than before its first room: rooms has up to 32 connections to Redis."""


async def settled(sampler: Sampler, within: float = 20.0) -> Sample:
    """What an empty stack holds, once NATS' subscriptions are the same twice in a row."""
    last = await sampler.sample()
    end = time.monotonic() + within
    while time.monotonic() < end:
        await asyncio.sleep(1.0)
        now = await sampler.sample()
        if now.get("nats/subscriptions") == last.get("nats/subscriptions"):
            return now
        last = now
    return last


async def back(sampler: Sampler, before: Sample, within: float) -> list[str]:
    """What is not as it was, in words, when the time is up; empty as soon as all is."""
    end = time.monotonic() + within
    while True:
        now = await sampler.sample()
        left = left_behind(before, now)
        if not left and (keys := await sampler.keys()):
            left = [f"Redis still has {', '.join(sorted(keys)[:5])}"]
        if not left or time.monotonic() > end:
            return left
        await asyncio.sleep(0.5)


def left_behind(before: Sample, now: Sample) -> list[str]:
    """Everything of the rooms that is still there.

    >>> left_behind({"nats/subscriptions": 80}, {"nats/subscriptions": 81, "tables/engines": 0})
    ['nats/subscriptions: 81, and 80 before']
    """
    left = []
    for name, value in now.items():
        kind = name.partition("/")[0]
        if kind in ("tables", "sockets", "seats", "heard", "queue"):
            allowed = 0.0
        elif name == "nats/subscriptions":  # who asked NATS something has an inbox from then on
            allowed = before.get(name, 0.0) + before.get("nats/connections", 0.0)
        elif name in ("nats/connections", "nats/consumers"):
            allowed = before.get(name, 0.0)
        elif name == "log/messages":
            allowed = RECORDS_LEFT
        elif name == "log/bytes":
            allowed = BYTES_LEFT
        elif kind == "files":
            allowed = before.get(name, value) + FILES_MORE
        else:
            continue
        if value > allowed:
            left.append(f"{name}: {shown(name, value)}, and {shown(name, before.get(name, 0.0))} before")
    return left
