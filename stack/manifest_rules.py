"""What no schema says of manifests: names lead somewhere, and nothing runs with more than it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

GIVEN = frozenset({"snatch", "snatch-tls"})
"""Secrets that an operator makes."""
RUN = ("Deployment", "StatefulSet", "Job")

Manifest = dict[str, Any]


def pod(manifest: Manifest) -> Manifest | None:
    """A workload's template."""
    return manifest["spec"]["template"] if manifest["kind"] in RUN else None


def pods(manifests: Sequence[Manifest]) -> Iterator[tuple[str, Manifest]]:
    for manifest in manifests:
        template = pod(manifest)
        if template is not None:
            yield called(manifest), template


def astray(manifests: Sequence[Manifest]) -> list[str]:
    """Names that lead nowhere: of other manifests, of pods, of volumes and ports."""
    there = {(m["kind"], m["metadata"]["name"]) for m in manifests}
    labels = [found for manifest in manifests for found in _labels(manifest)]
    found = []
    for manifest in manifests:
        who = called(manifest)
        found += [
            f"{who} names {kind} {name}, which is not there"
            for kind, name in _names(manifest)
            if (kind, name) not in there and not (kind == "Secret" and name in GIVEN)
        ]
        found += [
            f"{who} selects nothing by {selector}"
            for selector in _selectors(manifest)
            if not any(selects(selector, pod_labels) for pod_labels in labels)
        ]
        found += _volumes(manifest)
        found += _probes(manifest)
        found += _ports(manifest, manifests)
    return found


def called(manifest: Manifest) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def _volumes(manifest: Manifest) -> list[str]:
    """Those that are mounted are there, and those that are there are mounted."""
    template = pod(manifest)
    if template is None:
        return []
    claims = {claim["metadata"]["name"] for claim in manifest["spec"].get("volumeClaimTemplates", ())}
    volumes = {volume["name"] for volume in template["spec"].get("volumes", ())} | claims
    mounted = {m["name"] for container in template["spec"]["containers"] for m in container.get("volumeMounts", ())}
    return [
        f"{called(manifest)}: volume {name} is {'not there' if name in mounted else 'not mounted'}"
        for name in sorted(volumes ^ mounted)
    ]


def _listens(template: Manifest) -> set[str]:
    """The names of a pod's ports."""
    return {port["name"] for container in template["spec"]["containers"] for port in container.get("ports", ())}


def _probes(manifest: Manifest) -> Iterator[str]:
    """They ask at ports that the pod has."""
    template = pod(manifest)
    if template is None:
        return
    for container in template["spec"]["containers"]:
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            probe = container.get(kind, {})
            port = probe.get("httpGet", probe.get("tcpSocket", {})).get("port")
            if port is not None and port not in _listens(template):
                yield f"{called(manifest)}: its {kind} asks at {port}, which is no port of it"


def _ports(manifest: Manifest, manifests: Sequence[Manifest]) -> Iterator[str]:
    """A service's ports are its pods', an ingress' are its services'."""
    if manifest["kind"] == "Service":
        selector = {k: v for k, v in manifest["spec"]["selector"].items() if not k.startswith("statefulset.")}
        templates = [template for _, template in pods(manifests)]
        ends = [t for t in templates if selects({"matchLabels": selector}, t["metadata"]["labels"])]
        for port in manifest["spec"].get("ports", ()):
            if not all(port["targetPort"] in _listens(end) for end in ends):
                yield f"{called(manifest)} leads to port {port['targetPort']}, where nobody listens"
    elif manifest["kind"] == "Ingress":
        services = {m["metadata"]["name"]: m["spec"]["ports"] for m in manifests if m["kind"] == "Service"}
        for rule in manifest["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                to = path["backend"]["service"]
                if to["port"]["name"] not in {port["name"] for port in services.get(to["name"], ())}:
                    yield f"{called(manifest)} leads to {to['name']}'s port {to['port']['name']}, which it hasn't"


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
