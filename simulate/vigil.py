"""Whether the stack that is played on is still there: without it players would wait for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Stack = dict[str, Any]
"""What `.snatch/stack.json` holds: `url`, `watch_url`, `nats_url`, `data` and `pid` are read; or `url` alone."""

Running = Callable[[Path | None], Stack | None]
"""The stack that runs on this folder, or on the usual one."""

LOOK_EVERY = 0.5
UNHEARD = 8.0
"""Seconds for which nobody may listen at an address of which nothing else is known: a gateway may be restarted."""
_CONNECT_WITHIN = 5.0


async def until_gone(stack: Stack, running: Running) -> None:
    """Returns when the stack has ended."""
    silent = 0.0
    while True:
        await asyncio.sleep(LOOK_EVERY)
        if stack.get("data"):
            if ended(stack, running):
                return
            continue
        silent = 0.0 if await _listens(stack["url"]) else silent + LOOK_EVERY
        if silent >= UNHEARD:
            return


def ended(stack: Stack, running: Running) -> bool:
    """Of a stack with a folder: its process is gone, or another runs there now.  Parts that restart are no end."""
    if not stack.get("data"):
        return False
    now = running(Path(stack["data"]))
    return now is None or now["pid"] != stack["pid"]


async def _listens(url: str) -> bool:
    at = urlsplit(url)
    try:
        async with asyncio.timeout(_CONNECT_WITHIN):
            _, writer = await asyncio.open_connection(at.hostname, at.port or (443 if at.scheme == "https" else 80))
    except TimeoutError:
        return True  # busy
    except OSError:
        return False
    writer.close()
    return True
