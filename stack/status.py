"""`snatch status`: what each part of the running stack says of itself now."""

from __future__ import annotations

import asyncio
from typing import Any

from stack import probes
from stack.data import DataFolder


async def show(data: DataFolder) -> int:
    """Print it; 0 when the stack is ready, 3 when it is not, 4 when none runs."""
    state = data.state()
    if state is None:
        print(f"no stack runs on {data.path}")
        return 4
    said = await asyncio.gather(*(_ask(part) for part in state["parts"]))
    for part, missing in zip(state["parts"], said, strict=True):
        now = "ready" if missing is None else f"not ready: {missing}"
        again = f"  (started again {part['restarts']}×)" if part["restarts"] else ""
        ports = " ".join(f"{name}:{port}" for name, port in part["ports"].items())
        print(f"{part['name']:<12} {now:<12} {ports}{again}  {part['log']}")
    print(f"play    {state['url']}")
    if state.get("network_url"):
        print(f"phones  {state['network_url']}")
    print(f"TV      {state.get('network_watch_url') or state['watch_url']}")
    return 0 if state["ready"] and all(s is None for s in said) else 3


async def _ask(part: dict[str, Any]) -> str | None:
    ports = part["ports"]
    if part["kind"] == "nats":
        return await probes.http(ports["monitor"], "/healthz")()
    if part["kind"] == "valkey":
        return await probes.redis(ports["redis"])()
    return await probes.http(ports["ops"])()
