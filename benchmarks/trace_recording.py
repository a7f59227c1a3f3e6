"""What Chromium's tracing recorded while something happened on one page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from playwright.async_api import Browser

CATEGORIES = (
    "toplevel",
    "cc",
    "benchmark",
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
    "v8",
)
"""Enough to open the file in DevTools' Performance panel or in Perfetto, too."""
SCRIPTS = ("disabled-by-default-v8.cpu_profiler", "disabled-by-default-devtools.timeline.stack")
"""Which functions ran, and who asked for a layout: costs time itself, so it is only recorded to be looked at."""
CHUNK = 1 << 22


class Event(msgspec.Struct):
    """One of a trace: `ts`, `dur` and `tdur` are microseconds, `tdur` of the thread's own CPU time."""

    name: str = ""
    ph: str = ""
    pid: int = 0
    tid: int = 0
    ts: float = 0
    dur: float = 0
    tdur: float = 0
    id2: dict[str, str] = {}
    args: dict[str, Any] = {}


class Trace(msgspec.Struct):
    """The file, as far as it is read."""

    events: Annotated[list[Event], Meta(description="in no order")] = msgspec.field(name="traceEvents")


async def record(browser: Browser, during: Awaitable[object], keep: Path | None = None) -> list[Event]:
    """All of the browser's events while `during` goes on; `keep`: write the file, with the scripts' functions."""
    cdp = await browser.new_browser_cdp_session()
    ended: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    cdp.on("Tracing.tracingComplete", lambda told: ended.set_result(told))
    config = {"includedCategories": [*CATEGORIES, *(SCRIPTS if keep else ())], "recordMode": "recordAsMuchAsPossible"}
    await cdp.send("Tracing.start", {"transferMode": "ReturnAsStream", "traceConfig": config})
    try:
        await during
    finally:
        await cdp.send("Tracing.end")
    stream = (await ended)["stream"]
    parts: list[str] = []
    while True:
        read = await cdp.send("IO.read", {"handle": stream, "size": CHUNK})
        parts.append(read["data"])
        if read["eof"]:
            break
    await cdp.detach()
    text = "".join(parts)
    if keep is not None:
        await asyncio.to_thread(keep.write_text, text)
    return msgspec.json.decode(text, type=Trace).events
