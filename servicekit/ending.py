"""The end of a service: every step is taken, whatever becomes of the steps before it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from servicekit import logs

Step = tuple[str, Callable[[], Awaitable[object]]]
"""What ends, for the log, and how."""


async def in_order(*steps: Step | None) -> None:
    """Take the steps one after another; None is passed over.  One that raises is logged, and the next follows.

    Cancelled, as when the end takes too long: the step under way ends, those after it still
    get their turn, and CancelledError is raised at last.
    """
    cancelled: asyncio.CancelledError | None = None
    log = logs.logger(__name__)
    for step in steps:
        if step is None:
            continue
        name, end = step
        try:
            await end()
        except asyncio.CancelledError as error:
            log.error("ending was cut short", what=name)
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                cancelled = error
        except Exception:
            log.exception("could not be ended; the rest is", what=name)
    if cancelled is not None:
        raise cancelled
