"""What each container may do, and whom it can reach."""

from __future__ import annotations

import json

import pytest

from tests.compose.containers import docker
from tests.compose.deployment import SERVICES, Deployment

pytestmark = pytest.mark.compose

REACHES = {
    "gateway": {"rooms", "engine", "nats"},
    "watch": {"rooms", "engine", "nats"},
    "rooms": {"engine", "nats", "redis"},
    "engine": {"rooms", "nats"},
    "bots": {"engine", "rooms", "nats"},
}
"""What each service finds by name of those that hold or own something; whom it shares a network with."""
GUARDED = ("rooms", "engine", "nats", "redis", "grafana")

FINDS = """
import socket, sys
def there(name):
    try:
        return bool(socket.gethostbyname(name))
    except OSError:
        return False
print(*filter(there, sys.argv[1:]))
"""
OWNS = "import os; print(os.getuid(), *sorted(n for n in os.listdir('services') if os.path.isdir('services/' + n)))"
"""Whose process it is, and which services' code lies beside it."""


def test_each_service_runs_without_root_and_without_the_others_code(deployment: Deployment) -> None:
    for service in SERVICES:
        user, *there = deployment.inside(service, "python", "-c", OWNS).split()
        assert user == "10001"
        assert [name for name in there if not name.startswith("__")] == [service]


def test_each_service_finds_those_that_it_needs_and_no_others(deployment: Deployment) -> None:
    for service, wanted in REACHES.items():
        found = deployment.inside(service, "python", "-c", FINDS, *GUARDED).split()
        assert set(found) - {service} == wanted, service


def test_no_container_that_stays_is_root_or_writes_its_own_files_or_takes_all_that_the_machine_has(
    deployment: Deployment,
) -> None:
    staying = [c.id for c in deployment.containers() if c.at_work]
    assert staying
    for said in json.loads(docker("inspect", *staying)):
        name, host = said["Name"], said["HostConfig"]
        assert said["Config"]["User"] not in ("", "0", "root", "0:0"), name
        assert host["ReadonlyRootfs"], name
        assert host["CapDrop"] == ["ALL"], name
        assert any(option.startswith("no-new-privileges") for option in host["SecurityOpt"]), name
        assert 0 < host["Memory"] <= 2**30, name
        assert 0 < host["NanoCpus"] <= 2e9, name
        assert 0 < host["PidsLimit"] <= 256, name


def test_images_say_which_build_and_commit_they_are(deployment: Deployment) -> None:
    for service in SERVICES:
        labels = json.loads(docker("image", "inspect", f"snatch-{service}:{deployment.build}"))[0]["Config"]["Labels"]
        assert labels["org.opencontainers.image.version"] == deployment.build
        assert labels["org.opencontainers.image.revision"] == deployment.environment["SNATCH_COMMIT"]
    builds = deployment.prometheus().ask("snatch_build_info")
    assert {labels["service"] for labels, _ in builds} == set(SERVICES)
    assert {labels["commit"] for labels, _ in builds} == {deployment.environment["SNATCH_COMMIT"]}
