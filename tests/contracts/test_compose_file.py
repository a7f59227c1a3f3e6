"""docker-compose.yml, its settings and its secrets, as they are written: what a run of it shows is in tests/compose."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from stack.settings_table import rows, settings_of, variable
from tests.deployed import make_secrets

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
FILE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
OURS = ("gateway", "watch", "rooms", "engine", "bots")
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")

EXAMPLE = dict(re.findall(r"^#?([A-Z][A-Z0-9_]+)=(.*)$", (ROOT / ".env.example").read_text(encoding="utf-8"), re.M))
SUBSTITUTED = dict(re.findall(r"\$\{([A-Z][A-Z0-9_]+):-([^}]*)\}", TEXT))
HANDED_OVER = {name for s in SERVICES.values() for name, value in s.get("environment", {}).items() if value is None}

MEANT_FOR_OTHERS = {
    "SNATCH_INSTANCE",  # the container's name, by deploy/start.py
    "SNATCH_ENGINE_ADVERTISE",  # the same
    "SNATCH_REUSE_PORT",  # several processes on one machine
    "SNATCH_WEB_DIR",  # where the image has it
    "SNATCH_WATCH_PORT",  # players' and TVs' ports are one here
    "SNATCH_PORT",
}

REACHES = {
    "public": {"proxy"},
    "edge": {"proxy", "gateway", "watch"},
    "calls": {"gateway", "watch", "rooms", "engine", "bots"},
    "nats": {"gateway", "watch", "rooms", "engine", "bots", "setup", "nats", "nats-2", "nats-3"},
    "redis": {"rooms", "redis"},
    "metrics": {"gateway", "watch", "rooms", "engine", "bots", "prometheus"},
    "proxy-metrics": {"proxy", "prometheus"},
    "dashboards": {"prometheus", "grafana", "top"},
    "operators": {"grafana"},
}
"""Who finds whom: those on one network, and nobody else."""


def test_every_setting_of_the_file_is_in_the_example_and_no_other() -> None:
    beside = {"COMPOSE_PROJECT_NAME", "COMPOSE_PROFILES"}
    assert set(EXAMPLE) - beside == set(SUBSTITUTED) | HANDED_OVER


def test_the_example_says_what_is_so_without_it() -> None:
    by_itself = {name: default.strip("`") for name, _, default, _ in rows()}
    wrong = {}
    for name, said in EXAMPLE.items():
        usual = SUBSTITUTED.get(name, by_itself.get(name))
        if usual is None or name.startswith(("OTEL_", "COMPOSE_")):
            continue
        if not same(said, "" if usual == "–" else usual) and name != "SNATCH_DOMAIN":
            wrong[name] = (said, usual)
    assert wrong == {}


def same(said: str, usual: str) -> bool:
    try:
        return float(said) == float(usual)
    except ValueError:
        return said == usual


@pytest.mark.parametrize("service", [*OURS, "setup"])
def test_a_service_gets_every_setting_that_it_reads(service: str) -> None:
    kind = "engine" if service == "setup" else service
    classes = [c for c in settings_of(kind) if c.__name__.startswith("Setup") == (service == "setup")]
    read = {
        variable(name, field, str(c.model_config.get("env_prefix", "")))
        for c in classes
        for name, field in c.model_fields.items()
    }
    given = set(SERVICES[service]["environment"]) | {s["target"] for s in SERVICES[service]["secrets"]}
    in_images = set(re.findall(r"\b(SNATCH_[A-Z_]+)=", DOCKERFILE))
    assert read - given - in_images - MEANT_FOR_OTHERS == set()


@pytest.mark.parametrize("service", [*OURS, "setup"])
def test_a_service_is_handed_nothing_that_it_does_not_read(service: str) -> None:
    kind = "engine" if service == "setup" else service
    read = {
        variable(name, field, str(c.model_config.get("env_prefix", "")))
        for c in settings_of(kind)
        for name, field in c.model_fields.items()
    }
    given = {name for name in SERVICES[service]["environment"] if not name.startswith("OTEL_")}
    assert given | {s["target"] for s in SERVICES[service]["secrets"]} <= read


@pytest.mark.parametrize("service", SERVICES)
def test_it_is_confined_and_bounded(service: str) -> None:
    it = SERVICES[service]
    assert it["read_only"] is True
    assert it["cap_drop"] == ["ALL"]
    assert it["security_opt"] == ["no-new-privileges:true"]
    assert it["logging"]["options"].keys() == {"max-size", "max-file"}
    assert it["mem_limit"]
    assert it["cpus"]
    assert it["pids_limit"]
    assert "privileged" not in it


@pytest.mark.parametrize("service", SERVICES)
def test_nobody_is_root_but_who_hands_volumes_over(service: str) -> None:
    if service == "prepare":
        assert SERVICES[service]["network_mode"] == "none"
    elif "build" in SERVICES[service]:
        assert "user" not in SERVICES[service]
        assert stage(SERVICES[service]["build"]["target"]).count("USER 10001:10001") == 1
    else:
        assert SERVICES[service]["user"] == "10001:10001"


def stage(target: str) -> str:
    """A stage's lines, with those of the one that it stands on if that is a service too."""
    text = re.search(rf"^FROM (\S+) AS {target}\n(.*?)(?=^FROM |\Z)", DOCKERFILE, re.M | re.S)
    assert text is not None, target
    return (stage(text[1]) if text[1] not in ("base", "build", "service") else "") + text[2]


def test_each_finds_whom_it_needs_and_nobody_else() -> None:
    on: dict[str, set[str]] = {network: set() for network in FILE["networks"]}
    for name, service in SERVICES.items():
        for network in service.get("networks", ()):
            on[network].add(name)
    assert on == REACHES
    lead_outside = {name for name, network in FILE["networks"].items() if not network.get("internal")}
    assert lead_outside == {"public", "operators"}


def test_one_port_is_for_players_and_one_for_who_asks_for_dashboards() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(published) == {"proxy", "grafana"}
    assert all(len(ports) == 1 for ports in published.values())
    assert SERVICES["grafana"]["profiles"] == ["dashboards"]


@pytest.mark.parametrize("service", [*OURS, "setup", "load"])
def test_an_image_holds_its_own_service_and_lock_and_says_what_it_was_built_from(service: str) -> None:
    text = stage(service)
    own = "engine" if service in ("setup", "load") else service
    assert set(re.findall(r"COPY services/(\w+) ", text)) == {own}
    packages = "".join(map(stage, re.findall(r"COPY --from=(\S+-packages) /packages ", text)))
    assert re.findall(r"COPY deploy/locks/(\w+)\.txt", text + packages) == ["load" if service == "load" else own]
    assert "org.opencontainers.image.version=$SNATCH_BUILD" in text
    assert "org.opencontainers.image.revision=$SNATCH_COMMIT" in text


def test_secrets_are_made_once_for_nobody_else_to_reach(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    make_secrets(folder)
    first = {file.name: file.read_text() for file in folder.iterdir()}
    asked_for = {Path(secret["file"]).name for secret in FILE["secrets"].values()}
    assert asked_for <= first.keys()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o444}

    make_secrets(folder)
    assert {file.name: file.read_text() for file in folder.iterdir()} == first

    (folder / "nats_rooms").unlink()
    make_secrets(folder)
    changed = {name for name, was in first.items() if (folder / name).read_text() != was}
    assert changed == {"nats_rooms", "nats_passwords"}


def test_a_secret_of_an_older_release_and_its_projects_name_go_on_to_count(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    script = shutil.copy(ROOT / "deploy" / "make-secrets.sh", tmp_path / "deploy")
    (tmp_path / ".env").write_text("SNATCH_SECRET=what signed tokens until now\nSNATCH_PORT=80\n")
    subprocess.run([script], env={"PATH": "/usr/bin:/bin"}, check=True, capture_output=True)
    assert (tmp_path / "secrets" / "snatch_secret").read_text() == "what signed tokens until now"
    assert (tmp_path / ".env").read_text().splitlines()[-1] == "COMPOSE_PROJECT_NAME=snatch"
