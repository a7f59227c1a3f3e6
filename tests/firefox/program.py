"""A Firefox without a window and with a profile of its own, which is gone afterwards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

PATIENCE = 60.0
"""Seconds until it must say where it listens."""
PREFERENCES: dict[str, bool | int | str] = {
    "app.update.auto": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.w3c_touch_events.enabled": 1,  # as on a phone, though this machine has no such screen
    "extensions.systemAddon.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}


@asynccontextmanager
async def started(path: str, profile: Path) -> AsyncIterator[str]:
    """The address at which it takes WebDriver BiDi."""
    _write(profile)
    process = await asyncio.create_subprocess_exec(
        path,
        "--headless",
        "--no-remote",
        "--profile",
        str(profile),
        "--remote-debugging-port=0",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said: list[str] = []
    try:
        async with asyncio.timeout(PATIENCE):
            address = await _address(process.stderr, said)
        reading = asyncio.create_task(_read_on(process.stderr))
        yield address
        reading.cancel()
    finally:
        process.terminate()
        await process.wait()


def _write(profile: Path) -> None:
    profile.mkdir(parents=True, exist_ok=True)
    lines = [f'user_pref("{name}", {_said(value)});\n' for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("".join(lines))


def _said(value: bool | int | str) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


async def _address(stream: asyncio.StreamReader, said: list[str]) -> str:
    async for line in stream:
        said.append(line.decode(errors="replace"))
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", said[-1]):
            return found[1]
    raise AssertionError(f"Firefox ended: {''.join(said)[-2000:]}")


async def _read_on(stream: asyncio.StreamReader) -> None:
    """So that it never waits for whoever reads what it says."""
    while await stream.read(65536):
        pass
