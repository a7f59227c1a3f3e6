"""`python -m stack.manifests`: are the manifests of deploy/kubernetes what Kubernetes takes, and what we want of them?

Offline.  Each overlay is built by kubectl, held against the schemas of the oldest and the
newest Kubernetes that we name, and then against what no schema says (`manifest_rules`).
kubectl and the schemas come with the checkers (`make lint`).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from stack.manifest_rules import Manifest, astray, careless
from stack.steps import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
OVERLAYS = ("one-machine", "production", "cell")
KUBERNETES = ("1.30", "1.37")
"""The oldest that has all we use (a preStop that sleeps), and the newest whose schemas there are."""


class Wrong(Exception):
    """A command's last words."""


def build(overlay: Path) -> list[Manifest]:
    """What `kubectl apply -k` would send.  Raises Wrong."""
    return [found for found in yaml.safe_load_all(_said("kubectl", "kustomize", str(overlay))) if found]


def by_schema(manifests: Sequence[Manifest], version: str) -> list[str]:
    """What Kubernetes' own schema says of them, unknown fields included."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump_all(manifests, file)
        file.flush()
        try:
            _said("kubernetes-validate", "--strict", "--quiet", "-k", version, file.name)
        except Wrong as wrong:
            return [f"Kubernetes {version}: {line}" for line in str(wrong).splitlines() if line.strip()]
    return []


def _said(program: str, *arguments: str) -> str:
    path = Path(sys.executable).parent / program
    try:
        done = subprocess.run([str(path), *arguments], capture_output=True, text=True, timeout=120)
    except OSError as error:
        raise Wrong(f"{program} is not there: make lint brings it") from error
    if done.returncode:
        raise Wrong((done.stderr + done.stdout).strip())
    return done.stdout


def main() -> int:
    """0 when all overlays are right; else 1, and what is not."""
    wrong = 0
    for name in OVERLAYS:
        try:
            manifests = build(FOLDER / "overlays" / name)
        except Wrong as said:
            print(f"{name}: {said}")
            wrong += 1
            continue
        found = [*astray(manifests), *careless(manifests)]
        for version in KUBERNETES:
            found += by_schema(manifests, version)
        for line in found:
            print(f"{name}: {line}")
        if not found:
            print(f"{name}: {len(manifests)} manifests, right for Kubernetes {' and '.join(KUBERNETES)}")
        wrong += len(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
