"""A compose project of one's own: its own name, port, secret and images, and nothing left of it afterwards."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("gateway", "rooms", "engine", "bots", "watch")
"""Ours, which Prometheus scrapes."""


@dataclass(frozen=True)
class Deployment:
    project: str
    environment: Mapping[str, str]
    url: str
    """The published port: all that a player or a TV is given."""

    def compose(self, *arguments: str, capture: bool = False) -> str:
        """`docker compose …`; its words go to the terminal unless captured.  Raises CalledProcessError."""
        done = subprocess.run(
            self._command(*arguments),
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else None,
            text=True,
            check=True,
        )
        return done.stdout if capture else ""

    def inside(self, service: str, *command: str) -> str:
        """What a command says in a service's first container."""
        return self.compose("exec", "--no-TTY", service, *command, capture=True)

    def containers(self) -> list[dict[str, Any]]:
        """Every container of the project as Docker describes it, ended ones too."""
        ids = self.compose("ps", "--all", "--quiet", capture=True).split()
        shown = subprocess.run(["docker", "inspect", *ids], capture_output=True, text=True, check=True)
        found: list[dict[str, Any]] = json.loads(shown.stdout)
        return found

    def prometheus(self, query: str) -> list[tuple[dict[str, str], float]]:
        """An instant query: (labels, value) of each series."""
        url = f"http://127.0.0.1:9090/api/v1/query?query={quote(query)}"
        answer = json.loads(self.inside("prometheus", "wget", "-q", "-O", "-", url))
        return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"]]

    def up(self) -> None:
        self.compose("build", "--quiet")
        self.compose("up", "--detach", "--wait", "--wait-timeout", "180", "--quiet-pull")

    def stop(self) -> None:
        """SIGTERM to everything, and wait until it has ended."""
        self.compose("stop", "--timeout", "10")

    def logs(self, tail: int = 40) -> None:
        """The services' last words, to the terminal."""
        self.compose("logs", "--no-color", "--tail", str(tail))

    def down(self) -> None:
        """Everything goes: containers, networks, volumes, and the images built for it."""
        self.compose("down", "--volumes", "--remove-orphans", "--timeout", "5", capture=True)
        mine = subprocess.run(
            ["docker", "image", "ls", "--quiet", "--filter", f"reference=snatch-*:{self.project}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        if mine:
            subprocess.run(["docker", "image", "rm", "--force", *set(mine)], check=True, capture_output=True)

    def _command(self, *arguments: str) -> list[str]:
        return ["docker", "compose", "--project-name", self.project, "--env-file", os.devnull, *arguments]


def new_deployment() -> Deployment:
    """Nothing is started yet."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    project = f"snatch-test-{secrets.token_hex(3)}"
    url = f"http://127.0.0.1:{port}"
    return Deployment(
        project,
        {
            **os.environ,
            "SNATCH_SECRET": secrets.token_hex(32),
            "SNATCH_HOST": "127.0.0.1",
            "SNATCH_PORT": str(port),
            "SNATCH_PUBLIC_URL": url,
            "SNATCH_BUILD": project,
        },
        url,
    )
