"""A container as Docker describes it, and what can befall it.  All calls block: run them beside an event loop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SERVICE, NUMBER = "com.docker.compose.service", "com.docker.compose.container-number"


def docker(*words: str) -> str:
    """`docker …`: what it says.  Raises CalledProcessError, whose `stderr` says why."""
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True).stdout


@dataclass(frozen=True)
class Container:
    """One moment of it."""

    id: str
    name: str
    service: str
    number: int
    image: str
    """As compose names it, tag and all."""
    host: str
    """Its host name: what our services call their instance."""
    pid: int
    """Of its first process, in this machine's own count; 0: none runs."""
    state: str
    health: str
    """healthy, unhealthy, starting; empty where nothing looks."""
    started: str
    exit_code: int
    networks: dict[str, list[str]]
    """By name, with the aliases it has there."""
    addresses: list[str]
    ports: list[str]
    """That are published, with what they are published as."""

    @property
    def well(self) -> bool:
        return self.state == "running" and self.health in ("healthy", "")

    @property
    def at_work(self) -> bool:
        """Of a service that stays, not one that does its work and ends."""
        return not (self.state == "exited" and self.exit_code == 0)


def inspected(ids: Sequence[str]) -> list[Container]:
    """Those that are still there, by service and number."""
    if not ids:
        return []
    done = subprocess.run(["docker", "inspect", "--type", "container", *ids], capture_output=True, text=True)
    return sorted((_container(said) for said in json.loads(done.stdout or "[]")), key=lambda c: (c.service, c.number))


def _container(said: dict[str, Any]) -> Container:
    labels, state, networks = said["Config"]["Labels"], said["State"], said["NetworkSettings"]["Networks"]
    published = {inner: outer for inner, outer in (said["NetworkSettings"]["Ports"] or {}).items() if outer}
    return Container(
        id=said["Id"],
        name=said["Name"].lstrip("/"),
        service=labels.get(SERVICE, ""),
        number=int(labels.get(NUMBER, 0)),
        image=said["Config"]["Image"],
        host=said["Config"]["Hostname"],
        pid=state["Pid"],
        state=state["Status"],
        health=(state.get("Health") or {}).get("Status", ""),
        started=state["StartedAt"],
        exit_code=state["ExitCode"],
        networks={name: list(net.get("Aliases") or ()) for name, net in networks.items()},
        addresses=[net["IPAddress"] for net in networks.values() if net.get("IPAddress")],
        ports=[f"{o['HostIp']}:{o['HostPort']}->{inner}" for inner, outer in published.items() for o in outer],
    )


def crash(container: Container) -> None:
    """SIGKILL from outside, which the restart policy follows.  Without root `docker kill` must do, and it does not."""
    try:
        os.kill(container.pid, signal.SIGKILL)
    except PermissionError:
        docker("kill", container.id)
        docker("start", container.id)


def pause(container: Container) -> None:
    docker("pause", container.id)


def unpause(container: Container) -> None:
    docker("unpause", container.id)


def cut(container: Container) -> None:
    """Off all of its networks at once, as far as one after another is at once."""
    for network in container.networks:
        docker("network", "disconnect", network, container.id)


def mend(container: Container) -> None:
    """On its networks again, under the names that it had there."""
    there = inspected([container.id])
    for network, aliases in container.networks.items():
        if there and network in there[0].networks:
            continue
        names = [word for alias in aliases for word in ("--alias", alias)]
        docker("network", "connect", *names, network, container.id)


def restart(container: Container, within: int = 20) -> None:
    """SIGTERM, and SIGKILL if it has not ended within so many seconds; then it starts anew."""
    docker("restart", "--time", str(within), container.id)
