"""Whom the deployment's NATS and Redis let in: their configuration in deploy/, with secrets made for a test."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from stack.ports import free_ports

DEPLOY = Path(__file__).parents[1] / "deploy"


class Clients:
    """`nats` and `redis` are arguments of the servers' programs."""

    def __init__(self, folder: Path) -> None:
        self.secrets = folder / "run" / "secrets"
        make_secrets(self.secrets)
        # As the containers have it: what is included is found from where the file lies.
        configuration = folder / "etc" / "nats"
        shutil.copytree(DEPLOY / "nats", configuration)
        self.nats = ("--config", str(configuration / "users.conf"), "-m", str(free_ports(1)[0]))
        self.redis = ("--aclfile", str(self.secrets / "redis_users"))

    def password(self, name: str) -> str:
        return (self.secrets / name).read_text()

    def settings(self, kind: str) -> dict[str, Any]:
        """What tells a service who it is."""
        said = {"nats_user": kind, "nats_password": self.password(f"nats_{kind}")}
        if kind == "rooms":
            said |= {"redis_user": "rooms", "redis_password": self.password("redis_rooms")}
        return said


def make_secrets(folder: Path) -> str:
    """As an operator does; what the script says."""
    environment = {**os.environ, "SNATCH_SECRETS": str(folder)}
    script = str(DEPLOY / "make-secrets.sh")
    return subprocess.run([script], env=environment, check=True, capture_output=True, text=True).stdout
