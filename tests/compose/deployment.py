"""A compose project of one's own: its own name, port, secrets and images, and nothing left of it afterwards."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from servicekit.settings import Credentials
from simulate.door import ONE_ADDRESS
from tests.compose.containers import Container, docker, inspected
from tests.compose.prometheus import Prometheus

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("gateway", "rooms", "engine", "bots", "watch")
"""Ours, which Prometheus scrapes."""
REPLICAS = dict.fromkeys(SERVICES, 2)
OPEN_TO_ONE_ADDRESS = {
    **ONE_ADDRESS,
    "SNATCH_MAX_SOCKETS_PER_ADDRESS": "0",
    "SNATCH_TRIM_AFTER": "30",
}
"""All simulated players come from one address; and the log stays long enough to be read at leisure."""
UP_WITHIN = 240
"""Seconds until all is healthy, on a machine that does much else."""


@dataclass(frozen=True)
class Deployment:
    """Its calls block, as Docker's do."""

    project: str
    environment: Mapping[str, str]
    url: str
    """The published port: all that a player or a TV is given."""
    secrets: Path
    """The folder that holds them, a file each."""

    def compose(self, *arguments: str, capture: bool = False) -> str:
        """`docker compose …`; its words go to the terminal unless captured.  Raises CalledProcessError."""
        try:
            done = subprocess.run(
                ["docker", "compose", *arguments],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if capture else None,
                stderr=subprocess.PIPE if capture else None,
                text=True,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            error.add_note("\n".join((error.stderr or "").splitlines()[-20:]))
            raise
        return done.stdout if capture else ""

    def load(self, *options: str) -> str:
        """What `snatch load` says in a container of its own; that its verdict is bad raises nothing."""
        load = ["docker", "compose", "--profile", "load", "run", "--rm", "--no-deps", "-T", "load", *options]
        done = subprocess.run(load, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True)
        return (done.stdout + done.stderr).decode()

    def inside(self, service: str, *command: str) -> str:
        """What a command says in a service's first container."""
        return self.compose("exec", "--no-TTY", service, *command, capture=True)

    def containers(self, service: str | None = None) -> list[Container]:
        """Those of the project, or of one service: ended ones too."""
        wanted = [f"label=com.docker.compose.project={self.project}"]
        if service is not None:
            wanted.append(f"label=com.docker.compose.service={service}")
        filters = [word for label in wanted for word in ("--filter", label)]
        return inspected(docker("ps", "--all", "--quiet", *filters).split())

    def address(self, service: str) -> str:
        """Where this machine reaches its first container.  Raises LookupError."""
        for container in self.containers(service):
            for address in container.addresses:
                return address
        raise LookupError(f"{service} has no address")

    def prometheus(self) -> Prometheus:
        return Prometheus(self.address("prometheus"))

    def observer(self) -> Credentials:
        """Who may read the log in NATS."""
        return Credentials("observer", (self.secrets / "nats_observer").read_text())

    @property
    def build(self) -> str:
        return self.environment["SNATCH_BUILD"]

    def released(self, build: str) -> Deployment:
        """The same deployment as its next release describes it."""
        return replace(self, environment={**self.environment, "SNATCH_BUILD": build})

    def make(self, *services: str) -> None:
        """The images of these, or of all that are started."""
        self.compose("build", "--quiet", *services)

    def up(self) -> None:
        """All of it, until Docker says that it is healthy.

        Compose gives up at the first container that seems unhealthy, if only as the machine is busy: it is asked again.
        """
        until = time.monotonic() + UP_WITHIN
        while True:
            try:
                self.compose("up", "--detach", "--wait", "--wait-timeout", str(UP_WITHIN), "--quiet-pull", capture=True)
            except subprocess.CalledProcessError:
                if time.monotonic() > until:
                    raise
            else:
                return

    def scale(self, service: str, replicas: int) -> None:
        """More or fewer of one; the others stay.  Those that are new are started, and no more.

        Without those that it depends on, which would be waited for; so compose makes these anew at its next `up`.
        """
        how = ("--detach", "--no-deps", "--no-recreate", "--scale", f"{service}={replicas}")
        self.compose("up", *how, service, capture=True)

    def release(self) -> None:
        """As an operator does it, while people play."""
        subprocess.run(
            [ROOT / "deploy" / "release.sh"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )

    def stop(self) -> None:
        """SIGTERM to everything, and wait until it has ended."""
        self.compose("stop", "--timeout", "20", capture=True)

    def away(self) -> None:
        """Containers and networks go; what is on volumes stays."""
        self.compose("down", "--remove-orphans", "--timeout", "20", capture=True)

    def logs(self, file: Path) -> list[str]:
        """All that was said goes to a file; what is no mere news is given back, the latest 60 lines of it."""
        said = self.compose("logs", "--no-color", "--no-log-prefix", "--timestamps", capture=True)
        lines = sorted(said.splitlines())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")
        return [line for line in lines if '"level": "info"' not in line and '"level": ' in line][-60:]

    def down(self) -> None:
        """Everything goes: containers, networks, volumes, and the images built for it."""
        self.compose("down", "--volumes", "--remove-orphans", "--timeout", "5", capture=True)
        mine = docker("image", "ls", "--quiet", "--filter", f"reference=snatch-*:{self.project}*").split()
        if mine:
            docker("image", "rm", "--force", *sorted(set(mine)))


def new_deployment(folder: Path) -> Deployment:
    """Nothing is started yet.  Its secrets go into the folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    project = f"snatch-test-{secrets.token_hex(3)}"
    url = f"http://127.0.0.1:{port}"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("SNATCH_", "COMPOSE_"))},
        **OPEN_TO_ONE_ADDRESS,
        "COMPOSE_PROJECT_NAME": project,
        "COMPOSE_ENV_FILES": os.devnull,
        "COMPOSE_ANSI": "never",
        "COMPOSE_PROGRESS": "plain",
        "SNATCH_SECRETS": str(folder),
        "SNATCH_HOST": "127.0.0.1",
        "SNATCH_PORT": str(port),
        "SNATCH_PUBLIC_URL": url,
        "SNATCH_BUILD": project,
        "SNATCH_COMMIT": secrets.token_hex(20),
    }
    subprocess.run([ROOT / "deploy" / "make-secrets.sh"], env=environment, capture_output=True, check=True)
    return Deployment(project, environment, url, folder)
