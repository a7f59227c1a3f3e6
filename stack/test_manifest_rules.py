"""What no schema says of manifests is found."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from stack.manifest_rules import astray, careless, selects


def deployment() -> dict[str, Any]:
    """One that is right."""
    container = {
        "name": "service",
        "image": "registry.example:5000/thing:1",
        "securityContext": {
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": {"requests": {"cpu": "1", "memory": "1Mi"}, "limits": {"memory": "1Mi"}},
        "livenessProbe": {"httpGet": {"port": "ops"}},
        "ports": [{"name": "ops", "containerPort": 9000}],
        "volumeMounts": [{"name": "secrets"}],
        "envFrom": [{"configMapRef": {"name": "settings"}}],
    }
    spec = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1, "seccompProfile": {}},
        "containers": [container],
        "volumes": [{"name": "secrets", "secret": {"secretName": "snatch"}}],
    }
    template = {"metadata": {"labels": {"name": "thing"}}, "spec": spec}
    return {"kind": "Deployment", "metadata": {"name": "thing"}, "spec": {"template": template}}


SETTINGS = {"kind": "ConfigMap", "metadata": {"name": "settings"}}


def service(selector: dict[str, str], port: str = "ops") -> dict[str, Any]:
    ports = [{"name": "public", "port": 80, "targetPort": port}]
    return {"kind": "Service", "metadata": {"name": "thing"}, "spec": {"selector": selector, "ports": ports}}


def ingress(port: str) -> dict[str, Any]:
    path = {"backend": {"service": {"name": "thing", "port": {"name": port}}}}
    return {"kind": "Ingress", "metadata": {"name": "way"}, "spec": {"rules": [{"http": {"paths": [path]}}]}}


def test_what_is_right_is_passed_over() -> None:
    manifests = [deployment(), SETTINGS, service({"name": "thing"}), ingress("public")]
    assert astray(manifests) == careless(manifests) == []


def test_a_name_that_leads_nowhere_is_told() -> None:
    assert astray([deployment()]) == ["Deployment thing names ConfigMap settings, which is not there"]
    asks = deployment()
    asks["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"] = "nobody's"
    assert astray([asks, SETTINGS]) == ["Deployment thing names Secret nobody's, which is not there"]


def test_a_selector_that_means_nobody_is_told() -> None:
    told = astray([deployment(), SETTINGS, service({"name": "thong"})])
    assert told == ["Service thing selects nothing by {'matchLabels': {'name': 'thong'}}"]


def test_ports_that_nobody_has_are_told() -> None:
    thing = deployment()
    thing["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]["httpGet"]["port"] = "oops"
    told = astray([thing, SETTINGS, service({"name": "thing"}, "grpc"), ingress("private")])
    assert told == [
        "Deployment thing: its livenessProbe asks at oops, which is no port of it",
        "Service thing leads to port grpc, where nobody listens",
        "Ingress way leads to thing's port private, which it hasn't",
    ]


def test_a_volume_that_is_not_there_or_for_nothing_is_told() -> None:
    thing = deployment()
    thing["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "data"}]
    assert astray([thing, SETTINGS]) == [
        "Deployment thing: volume data is not there",
        "Deployment thing: volume secrets is not mounted",
    ]
    of_a_set = thing | {"kind": "StatefulSet"}
    of_a_set["spec"] |= {"replicas": 1, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]}
    assert astray([of_a_set, SETTINGS]) == ["StatefulSet thing: volume secrets is not mounted"]


def test_pods_of_a_set_are_known_by_their_numbers() -> None:
    of_a_set = deployment() | {"kind": "StatefulSet"}
    of_a_set["spec"] |= {"replicas": 2, "ordinals": {"start": 1}}
    numbered = [service({"statefulset.kubernetes.io/pod-name": f"thing-{n}"}) for n in range(4)]
    there = [astray([of_a_set, SETTINGS, one]) == [] for one in numbered]
    assert there == [False, True, True, False]


@pytest.mark.parametrize(
    ("where", "key", "value", "told"),
    [
        ("pod", "enableServiceLinks", True, "is told of other services by variables"),
        ("pod", "automountServiceAccountToken", True, "may speak to Kubernetes"),
        ("pod", "securityContext", {"runAsNonRoot": True, "runAsUser": 0, "seccompProfile": {}}, "may run as root"),
        ("pod", "securityContext", {"runAsNonRoot": True, "runAsUser": 1}, "has no seccomp profile"),
        ("container", "image", "registry.example:5000/thing", "is an image without a release"),
        ("container", "image", "thing:latest", "is an image without a release"),
        ("container", "resources", {"requests": {"cpu": "1", "memory": "1Mi"}}, "has no end of memory"),
        ("container", "resources", {"limits": {"memory": "1Mi"}}, "asks for no CPU or memory"),
        ("container", "livenessProbe", None, "is never asked whether it lives"),
        ("security", "readOnlyRootFilesystem", False, "may write to its image"),
        ("security", "allowPrivilegeEscalation", True, "may gain rights"),
        ("security", "capabilities", {}, "has capabilities"),
    ],
)
def test_whatever_runs_with_more_than_it_needs_is_told(where: str, key: str, value: object, told: str) -> None:
    loose = copy.deepcopy(deployment())
    pod = loose["spec"]["template"]["spec"]
    container = pod["containers"][0]
    part = {"pod": pod, "container": container, "security": container["securityContext"]}[where]
    if value is None:
        del part[key]
    else:
        part[key] = value
    assert [line.rpartition(": ")[2] for line in careless([loose])] == [told]


def test_a_selector_by_expressions_wants_all_of_it() -> None:
    selector = {"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "In", "values": ["2", "3"]}]}
    assert selects(selector, {"a": "1", "b": "3"})
    assert not selects(selector, {"a": "1"})
    assert not selects(selector, {"b": "2"})
    assert selects({}, {})
