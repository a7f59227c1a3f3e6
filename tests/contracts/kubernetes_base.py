"""deploy/kubernetes/base and docker-compose.yml, as far as both say the same, read without a tool."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
BASE = KUBERNETES / "base"
SERVICES = ("gateway", "watch", "rooms", "engine", "bots")
COMPOSE: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def manifests(*folders: Path) -> list[dict[str, Any]]:
    """All that the files of these folders hold, kustomizations and patches of many apart, unpatched."""
    return [doc for folder in folders for doc in _in_folder(folder)]


@cache
def _in_folder(folder: Path) -> list[dict[str, Any]]:
    files = (file for file in sorted(folder.glob("*.yaml")) if "values" not in file.name)
    docs = (doc for file in files for doc in yaml.safe_load_all(file.read_text()))
    return [doc for doc in docs if doc and doc.get("metadata", {"name": "any"})["name"] != "any"]


@cache
def shared() -> dict[str, Any]:
    """The pod that all services of ours are made with."""
    pod: dict[str, Any] = yaml.safe_load((BASE / "service.yaml").read_text())["spec"]["template"]["spec"]
    return pod


def lines(file: Path) -> dict[str, str]:
    """Of an env file."""
    pairs = (line.partition("=") for line in file.read_text().splitlines() if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


class Run(NamedTuple):
    """A container and its pod."""

    pod: dict[str, Any]
    container: dict[str, Any]
    env: dict[str, str | None]
    """None: Kubernetes fills it in."""

    @property
    def ports(self) -> set[int]:
        return {port["containerPort"] for port in self.container["ports"]}

    @property
    def secrets(self) -> dict[str, str]:
        """By the name of the file that it is read from, the one that deploy/make-secrets.sh wrote."""
        volumes = (v["secret"] for v in self.pod["volumes"] if "secret" in v)
        return {item["path"]: item["key"] for volume in volumes for item in volume["items"]}


def run(name: str, folder: Path = BASE) -> Run:
    """What runs of that name, with what all of ours have (service.yaml)."""
    found = next(m for m in manifests(folder) if m["metadata"]["name"] == name and "template" in m["spec"])
    pod = found["spec"]["template"]["spec"]
    container = pod["containers"][0]
    variables = list(container.get("env", ()))
    env: dict[str, str | None] = dict(lines(BASE / "settings.env")) if "envFrom" in container else {}
    if name in SERVICES:
        variables += shared()["containers"][0]["env"]
        env = dict(lines(BASE / "settings.env"))
        pod = {**pod, "securityContext": shared()["securityContext"]}
    return Run(pod, container, env | {v["name"]: v.get("value") for v in variables})


def told(service: str) -> dict[str, str]:
    """What compose tells a service for certain: not what it hands on from .env."""
    variables = COMPOSE[service]["environment"]
    return {name: str(value) for name, value in variables.items() if value is not None and "${" not in str(value)}


def bytes_of(text: str) -> int:
    """
    >>> bytes_of("1g") == bytes_of("1Gi") == bytes_of("1024m")
    True
    """
    number = text.rstrip("giGIMmbB")
    return int(number) * {"g": 1024**3, "m": 1024**2}[text[len(number)].lower()]
