"""`python -m stack.manifests`: are the manifests of deploy/kubernetes what Kubernetes takes, and what we want of them?

Offline.  Each overlay is built by kubectl, held against the schemas of the oldest and the
newest Kubernetes that we name, and then against what no schema says: that names lead
somewhere, that nothing runs as root or without bounds.  kubectl and the schemas come with
the checkers (`make lint`).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from stack.steps import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
OVERLAYS = ("one-machine", "production", "cell")
KUBERNETES = ("1.30", "1.37")
"""The oldest that has all we use (a preStop that sleeps), and the newest whose schemas there are."""
GIVEN = frozenset({"snatch", "snatch-tls"})
"""Secrets that an operator makes."""
RUN = ("Deployment", "StatefulSet", "Job")

Manifest = dict[str, Any]


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


def pod(manifest: Manifest) -> Manifest | None:
    """A workload's template."""
    return manifest["spec"]["template"] if manifest["kind"] in RUN else None


def pods(manifests: Sequence[Manifest]) -> Iterator[tuple[str, Manifest]]:
    for manifest in manifests:
        template = pod(manifest)
        if template is not None:
            yield f"{manifest['kind']} {manifest['metadata']['name']}", template


def astray(manifests: Sequence[Manifest]) -> list[str]:
    """Names that lead nowhere."""
    there = {(m["kind"], m["metadata"]["name"]) for m in manifests}
    labels = [found for manifest in manifests for found in _labels(manifest)]
    return [
        f"{who} names {kind} {name}, which is not there"
        for manifest in manifests
        for who in (f"{manifest['kind']} {manifest['metadata']['name']}",)
        for kind, name in _names(manifest)
        if (kind, name) not in there and not (kind == "Secret" and name in GIVEN)
    ] + [
        f"{manifest['kind']} {manifest['metadata']['name']} selects nothing by {selector}"
        for manifest in manifests
        for selector in _selectors(manifest)
        if not any(selects(selector, found) for found in labels)
    ]


def _labels(manifest: Manifest) -> Iterator[dict[str, str]]:
    """Of each pod whose name is known before it is there, else of any."""
    template = pod(manifest)
    if template is None:
        return
    if manifest["kind"] != "StatefulSet":
        yield template["metadata"]["labels"]
        return
    first = manifest["spec"].get("ordinals", {}).get("start", 0)
    for number in range(first, first + manifest["spec"]["replicas"]):
        name = {"statefulset.kubernetes.io/pod-name": f"{manifest['metadata']['name']}-{number}"}
        yield template["metadata"]["labels"] | name


def _names(manifest: Manifest) -> Iterator[tuple[str, str]]:
    template = pod(manifest)
    if template is not None:
        spec = template["spec"]
        if "serviceAccountName" in spec:
            yield "ServiceAccount", spec["serviceAccountName"]
        for volume in spec.get("volumes", ()):
            if "configMap" in volume:
                yield "ConfigMap", volume["configMap"]["name"]
            if "secret" in volume:
                yield "Secret", volume["secret"]["secretName"]
        for container in spec["containers"]:
            for source in container.get("envFrom", ()):
                yield "ConfigMap", source["configMapRef"]["name"]
            for variable in container.get("env", ()):
                if "secretKeyRef" in variable.get("valueFrom", {}):
                    yield "Secret", variable["valueFrom"]["secretKeyRef"]["name"]
    elif manifest["kind"] == "Ingress":
        for rule in manifest["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                yield "Service", path["backend"]["service"]["name"]
        for tls in manifest["spec"].get("tls", ()):
            yield "Secret", tls["secretName"]
    elif manifest["kind"] == "HorizontalPodAutoscaler":
        yield manifest["spec"]["scaleTargetRef"]["kind"], manifest["spec"]["scaleTargetRef"]["name"]
    elif manifest["kind"] == "RoleBinding":
        yield "Role", manifest["roleRef"]["name"]
        for subject in manifest["subjects"]:
            yield subject["kind"], subject["name"]


def _selectors(manifest: Manifest) -> Iterator[Mapping[str, Any]]:
    spec = manifest.get("spec", {})
    if manifest["kind"] == "Service":
        yield {"matchLabels": spec["selector"]}
    elif manifest["kind"] == "PodDisruptionBudget":
        yield spec["selector"]
    elif manifest["kind"] == "NetworkPolicy":
        yield spec["podSelector"]
        for rule in [*spec.get("ingress", ()), *spec.get("egress", ())]:
            for peer in [*rule.get("from", ()), *rule.get("to", ())]:
                if "namespaceSelector" not in peer and "podSelector" in peer:
                    yield peer["podSelector"]


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector means a pod with these labels."""
    wanted = selector.get("matchLabels", {}).items() <= labels.items()
    return wanted and all(labels.get(e["key"]) in e["values"] for e in selector.get("matchExpressions", ()))


def careless(manifests: Sequence[Manifest]) -> list[str]:
    """What runs with more than it needs, or as nobody can say what."""
    found = []
    for who, template in pods(manifests):
        spec, security = template["spec"], template["spec"].get("securityContext", {})
        lasting = not who.startswith("Job")
        found += [
            f"{who}: {what}"
            for what, right in {
                "may run as root": security.get("runAsNonRoot") is True and security.get("runAsUser", 0) > 0,
                "has no seccomp profile": "seccompProfile" in security,
                "is told of other services by variables": spec.get("enableServiceLinks") is False,
                "may speak to Kubernetes": "serviceAccountName" in spec
                or spec.get("automountServiceAccountToken") is False,
            }.items()
            if not right
        ]
        for container in [*spec["containers"], *spec.get("initContainers", ())]:
            own, resources = container.get("securityContext", {}), container.get("resources", {})
            found += [
                f"{who}, {container['name']}: {what}"
                for what, right in {
                    "may write to its image": own.get("readOnlyRootFilesystem") is True,
                    "may gain rights": own.get("allowPrivilegeEscalation") is False,
                    "has capabilities": own.get("capabilities", {}).get("drop") == ["ALL"],
                    "asks for no CPU or memory": {"cpu", "memory"} <= resources.get("requests", {}).keys(),
                    "has no end of memory": "memory" in resources.get("limits", {}),
                    "is an image without a release": _pinned(container["image"]),
                    "is never asked whether it lives": not lasting or "livenessProbe" in container,
                }.items()
                if not right
            ]
    return found


def _pinned(image: str) -> bool:
    _, _, tag = image.rpartition("/")[2].partition(":")
    return "@sha256:" in image or tag not in ("", "latest")


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
