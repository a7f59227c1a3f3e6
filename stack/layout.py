"""What a stack is made of: which parts, on which ports, with which settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from stack import address, probes, servers
from stack.child import Part
from stack.data import ROOT, DataFolder
from stack.ports import free_ports

KINDS = ("engine", "rooms", "bots", "watch", "gateway")
STAGES = {"gateway": 0, "watch": 0, "bots": 1, "rooms": 2, "engine": 3}
"""Who is ended first: those that ask before those that are asked."""


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
    nats_url: str = ""
    redis_url: str = ""

    def count(self, kind: str) -> int:
        return {
            "engine": self.engines,
            "gateway": self.gateways,
            "rooms": self.rooms,
            "bots": self.bots,
            "watch": self.watches,
        }[kind]


@dataclass(frozen=True)
class Layout:
    """All parts, in the order of their start, and where people and tools find them."""

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


def lay_out(wishes: Wishes, data: DataFolder, *, ports: Callable[[int], list[int]] = free_ports) -> Layout:
    """Choose ports and write the servers' configuration.  Raises servers.NoServer."""
    count = sum(wishes.count(kind) for kind in KINDS)
    pool = ports(3 + 2 * count)
    started: list[Part] = []
    nats_url, redis_url = wishes.nats_url, wishes.redis_url
    if not nats_url:
        part = servers.nats(data.path, pool.pop(), pool.pop())
        started.append(part)
        nats_url = f"nats://127.0.0.1:{part.ports['nats']}"
    if not redis_url:
        part = servers.valkey(data.path, pool.pop())
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
    }
    public = {
        "SNATCH_HOST": wishes.host,
        "SNATCH_PORT": str(wishes.port),
        "SNATCH_WATCH_PORT": str(wishes.watch_port),
        "SNATCH_WEB_DIR": os.environ.get("SNATCH_WEB_DIR") or str(ROOT / "web" / "dist"),
        "SNATCH_PUBLIC_URL": wishes.public_url or (network_url or ""),
        "SNATCH_WATCH_URL": network_watch,
    }
    services = [
        _service(kind, number, pool.pop(), pool.pop()) for kind in KINDS for number in range(1, wishes.count(kind) + 1)
    ]
    rooms_addr = ",".join(f"127.0.0.1:{s.ports['grpc']}" for s in services if s.kind == "rooms")
    for i, part in enumerate(services):
        env = {**common, "SNATCH_ROOMS_ADDR": rooms_addr, **part.env}
        if part.kind in ("gateway", "watch"):
            port = wishes.port if part.kind == "gateway" else wishes.watch_port
            env |= public
            if wishes.count(part.kind) > 1:
                env["SNATCH_REUSE_PORT"] = "true"
            services[i] = replace(part, env=env, ports={"public": port, "ops": part.ports["ops"]})
        else:
            services[i] = replace(part, env=env)
    return Layout(
        servers=started,
        services=services,
        setup_env=common,
        host=address.reachable(wishes.host),
        url=address.url(wishes.host, wishes.port),
        watch_url=address.url(wishes.host, wishes.watch_port),
        network_url=network_url,
        network_watch_url=network_watch or None,
        nats_url=nats_url,
        redis_url=redis_url,
    )


def _service(kind: str, number: int, ops: int, grpc: int) -> Part:
    name = f"{kind}-{number}"
    env = {"SNATCH_INSTANCE": name, "SNATCH_OPS_PORT": str(ops)}
    ports = {"ops": ops}
    if kind in ("engine", "rooms"):
        ports["grpc"] = grpc
        env[f"SNATCH_{kind.upper()}_PORT"] = str(grpc)
    return Part(
        name=name,
        kind=kind,
        command=(sys.executable, "-m", f"services.{kind}"),
        probe=probes.http(ops),
        stage=STAGES[kind],
        env=env,
        ports=ports,
        folder=ROOT if (ROOT / "pyproject.toml").exists() else Path.cwd(),
    )
