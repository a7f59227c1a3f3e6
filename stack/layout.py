"""What a stack is made of: which parts, on which ports, with which settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stack import address, probes, servers
from stack.child import Part
from stack.data import COUNTS, ROOT, DataFolder
from stack.ports import free_ports

KINDS = ("engine", "rooms", "bots", "watch", "gateway")
STAGES = {"gateway": 0, "watch": 0, "bots": 1, "rooms": 2, "engine": 3}
"""Who is ended first: those that ask before those that are asked."""
NICE = {"bots": 5}
"""On a machine with too little for all, a bot may think later, a person's move may not; nor may an engine take over."""


@dataclass(frozen=True)
class Wishes:
    """What `snatch play` was asked for."""

    host: str = "127.0.0.1"
    port: int = 8080
    watch_port: int = 8081
    engines: int = 1
    gateways: int = 1
    rooms: int = 1
    bots: int = 1
    watches: int = 1
    public_url: str = ""
    watch_url: str = ""
    nats: int = 1
    """Servers; three hold three copies of the log."""
    nats_sync: str = servers.SYNC
    nats_url: str = ""
    redis_url: str = ""

    def count(self, kind: str) -> int:
        count: int = getattr(self, COUNTS[kind])
        return count

    def with_counts(self, counts: Mapping[str, int]) -> Wishes:
        """The same but for so many of each kind that is named."""
        changed: dict[str, Any] = {COUNTS[kind]: count for kind, count in counts.items()}
        return replace(self, **changed)


@dataclass(frozen=True)
class Layout:
    """All parts, in the order of their start, and where people and tools find them."""

    wishes: Wishes
    servers: list[Part]
    services: list[Part]
    setup_env: dict[str, str]
    host: str
    """Where this machine itself reaches the public ports."""
    url: str
    watch_url: str
    network_url: str | None
    network_watch_url: str | None
    nats_url: str
    redis_url: str


Ports = Mapping[str, Mapping[str, int]]
"""By part and use: {"engine-1": {"ops": 20001, "grpc": 20002}}."""


def lay_out(
    wishes: Wishes, data: DataFolder, *, ports: Callable[[int], list[int]] = free_ports, kept: Ports | None = None
) -> Layout:
    """Choose ports, those of `kept` again, and write the servers' configuration.  Raises servers.NoServer."""
    taker = _Taker(wishes, ports, kept or {})
    started: list[Part] = []
    nats_url, redis_url = wishes.nats_url, wishes.redis_url
    if not nats_url:
        names = servers.nats_names(wishes.nats)
        uses = ("nats", "monitor") if wishes.nats == 1 else ("nats", "monitor", "route")
        started += servers.nats(data.path, {name: taker.take(name, *uses) for name in names}, wishes.nats_sync)
        nats_url = ",".join(f"nats://127.0.0.1:{part.ports['nats']}" for part in started)
    if not redis_url:
        part = servers.valkey(data.path, taker.take("valkey", "redis")["redis"])
        started.append(part)
        redis_url = f"redis://127.0.0.1:{part.ports['redis']}/0"

    network = address.in_network() if address.is_open(wishes.host) else None
    if network and wishes.host not in ("0.0.0.0", "::"):
        network = wishes.host
    network_url = wishes.public_url or (address.url(network, wishes.port) if network else None)
    network_watch = wishes.watch_url or (address.url(network, wishes.watch_port) if network else "")
    common = {
        "NATS_URL": nats_url,
        "REDIS_URL": redis_url,
        "SNATCH_SECRET": data.secret(),
        "SNATCH_OPS_HOST": "127.0.0.1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",  # one that hangs tells where, when it is killed for it
    }
    public = {
        "SNATCH_HOST": wishes.host,
        "SNATCH_PORT": str(wishes.port),
        "SNATCH_WATCH_PORT": str(wishes.watch_port),
        "SNATCH_WEB_DIR": os.environ.get("SNATCH_WEB_DIR") or str(ROOT / "web" / "dist"),
        "SNATCH_PUBLIC_URL": wishes.public_url or (network_url or ""),
        "SNATCH_WATCH_URL": network_watch,
        # Also where there is one: a second one can then join it, and it can be replaced.
        "SNATCH_REUSE_PORT": "true",
    }
    services = [_service(kind, number, taker) for kind in KINDS for number in range(1, wishes.count(kind) + 1)]
    rooms_addr = ",".join(f"127.0.0.1:{s.ports['grpc']}" for s in services if s.kind == "rooms")
    for i, part in enumerate(services):
        env = {**common, **part.env}
        if part.kind in ("gateway", "watch"):
            env["SNATCH_ROOMS_ADDR"] = rooms_addr
            port = wishes.port if part.kind == "gateway" else wishes.watch_port
            env |= public
            services[i] = replace(part, env=env, ports={"public": port, "ops": part.ports["ops"]})
        else:
            services[i] = replace(part, env=env)
    return Layout(
        wishes=wishes,
        servers=started,
        services=services,
        setup_env={**common, "SNATCH_LOG_REPLICAS": str(wishes.nats)} if not wishes.nats_url else common,
        host=address.reachable(wishes.host),
        url=address.url(wishes.host, wishes.port),
        watch_url=address.url(wishes.host, wishes.watch_port),
        network_url=network_url,
        network_watch_url=network_watch or None,
        nats_url=nats_url,
        redis_url=redis_url,
    )


class _Taker:
    """Hands out free ports: the kept ones to whom they were, to others what nobody has."""

    def __init__(self, wishes: Wishes, ports: Callable[[int], list[int]], kept: Ports) -> None:
        self._kept = kept
        reserved = {wishes.port, wishes.watch_port, *(port for uses in kept.values() for port in uses.values())}
        needed = 3 * wishes.nats + 1 + 2 * sum(wishes.count(kind) for kind in KINDS)
        self._free = [port for port in ports(needed + len(reserved)) if port not in reserved]

    def take(self, name: str, *uses: str) -> dict[str, int]:
        before = self._kept.get(name, {})
        return {use: before.get(use) or self._free.pop() for use in uses}


def _service(kind: str, number: int, taker: _Taker) -> Part:
    name = f"{kind}-{number}"
    ports = taker.take(name, *(("ops", "grpc") if kind in ("engine", "rooms") else ("ops",)))
    env = {"SNATCH_INSTANCE": name, "SNATCH_OPS_PORT": str(ports["ops"])}
    if "grpc" in ports:
        env[f"SNATCH_{kind.upper()}_PORT"] = str(ports["grpc"])
    return Part(
        name=name,
        kind=kind,
        command=(sys.executable, "-m", f"services.{kind}"),
        probe=probes.http(ports["ops"]),
        alive=probes.http(ports["ops"], "/healthz"),
        stage=STAGES[kind],
        nice=NICE.get(kind, 0),
        env=env,
        ports=ports,
        folder=ROOT if (ROOT / "pyproject.toml").exists() else Path.cwd(),
    )
