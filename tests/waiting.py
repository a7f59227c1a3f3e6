"""Waiting for what nobody tells of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def reach(holds: Callable[[], object], what: str = "it", *, within: float = 20.0) -> None:
    """Look again and again until it holds, `within` seconds.  Raises AssertionError with `what` never came."""
    try:
        async with asyncio.timeout(within):
            while not holds():  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"never: {what}") from None
