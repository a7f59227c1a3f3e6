"""Kubernetes runs what compose runs: the same ports, users, settings, secrets and bounds.

That the manifests are Kubernetes' own is `python -m stack.manifests`, of `make lint`.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from stack.metrics_table import catalogue
from stack.settings_table import rows
from tests.contracts.kubernetes_base import (
    BASE,
    COMPOSE,
    KUBERNETES,
    ROOT,
    SERVICES,
    bytes_of,
    lines,
    manifests,
    run,
    shared,
    told,
)

PRODUCTION = KUBERNETES / "overlays" / "production"
OWN = {"POD_IP"}
"""A variable that is no setting: others are made of it."""
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()


def of_target(target: str, word: str) -> str:
    """What the image says last of a word, in its own stage or, for what all share, in `service`."""
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.M)
    texts: list[str] = [next(s for s in stages if re.match(rf"\S+ AS {name}\n", s)) for name in ("service", target)]
    said: list[str] = [found for text in texts for found in re.findall(rf"^{word} (.*)$", text, re.M)]
    return said[-1]


def make_secrets(folder: Path) -> None:
    env = {**os.environ, "SNATCH_SECRETS": str(folder)}
    subprocess.run([str(ROOT / "deploy" / "make-secrets.sh")], env=env, check=True, capture_output=True)


# ---- each service -------------------------------------------------------------------------


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_told_what_compose_tells_it(service: str) -> None:
    env = run(service).env
    assert {name: env.get(name) for name in told(service)} == told(service)


@pytest.mark.parametrize("service", [*SERVICES, "setup"])
def test_all_that_a_service_is_told_are_settings(service: str) -> None:
    assert run(service).env.keys() - {name for name, *_ in rows()} <= OWN


@pytest.mark.parametrize("file", sorted(KUBERNETES.rglob("settings.env")), ids=lambda f: f.parent.name)
def test_what_an_overlay_says_are_settings(file: Path) -> None:
    assert lines(file).keys() <= {name for name, *_ in rows()}


@pytest.mark.parametrize("service", SERVICES)
def test_its_ports_are_those_that_its_image_and_its_settings_name(service: str) -> None:
    exposed = {int(port) for port in of_target(service, "EXPOSE").split()}
    assert run(service).ports == exposed | {9000}
    assert "SNATCH_OPS_PORT=9000" in DOCKERFILE
    named = {int(v) for name, v in run(service).env.items() if re.fullmatch(r"SNATCH_(\w+_)?PORT", name) and v}
    assert named == run(service).ports - {9000}


@pytest.mark.parametrize("service", [*SERVICES, "setup"])
def test_it_runs_as_the_user_that_its_image_names(service: str) -> None:
    user = of_target("engine" if service == "setup" else service, "USER")
    security = run(service).pod["securityContext"]
    assert f"{security['runAsUser']}:{security['runAsGroup']}" == user


@pytest.mark.parametrize("service", [*SERVICES, "setup"])
def test_it_knows_the_secrets_that_compose_gives_it_and_no_others(service: str) -> None:
    assert run(service).secrets == {s["target"]: s["source"] for s in COMPOSE[service]["secrets"]}


@pytest.mark.parametrize("service", [*SERVICES, "nats", "redis"])
def test_its_memory_has_the_end_that_compose_sets(service: str) -> None:
    of_compose = re.sub(r"\$\{\w+:-(\w+)\}", r"\1", COMPOSE[service]["mem_limit"])
    assert bytes_of(run(service).container["resources"]["limits"]["memory"]) == bytes_of(of_compose)


def test_each_pod_is_an_instance_of_its_own() -> None:
    name = {"name": "SNATCH_INSTANCE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    assert name in shared()["containers"][0]["env"]


# ---- what a release or a lost part does to them ----------------------------------------------


@pytest.mark.parametrize("service", SERVICES)
def test_a_release_never_takes_a_service_before_another_is_ready(service: str) -> None:
    deployment = next(m for m in manifests(BASE) if m["metadata"]["name"] == service and m["kind"] == "Deployment")
    assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert deployment["spec"]["replicas"] >= 2


@pytest.mark.parametrize("service", SERVICES)
def test_it_has_more_time_to_end_than_it_takes(service: str) -> None:
    pause = run(service).container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    in_compose = int(COMPOSE[service]["stop_grace_period"].rstrip("s"))
    assert run(service).pod["terminationGracePeriodSeconds"] >= pause + in_compose


@pytest.mark.parametrize("service", SERVICES)
def test_nobody_is_killed_or_taken_off_the_list_for_what_others_lack(service: str) -> None:
    assert shared()["containers"][0]["livenessProbe"]["httpGet"]["path"] == "/healthz"
    ready = run(service).container["readinessProbe"]["httpGet"]["path"]
    # Nobody is sent to engines and bots by their being ready: it only holds back rollouts and drains.
    assert ready == ("/readyz" if service in ("engine", "bots") else "/healthz")


@pytest.mark.parametrize("service", [*SERVICES, "nats"])
def test_one_at_most_is_taken_at_a_time(service: str) -> None:
    budget = next(m for m in manifests(BASE) if m["kind"] == "PodDisruptionBudget" and m["metadata"]["name"] == service)
    assert budget["spec"]["maxUnavailable"] == 1
    assert budget["spec"]["selector"]["matchLabels"] == {"app.kubernetes.io/name": service}


# ---- NATS, Redis, Prometheus ---------------------------------------------------------------


@pytest.mark.parametrize("overlay", ["one-machine", "production"])
@pytest.mark.parametrize("name", ["nats", "redis", "prometheus", "grafana"])
def test_servers_are_the_releases_that_compose_runs(name: str, overlay: str) -> None:
    images = yaml.safe_load((KUBERNETES / "overlays" / overlay / "kustomization.yaml").read_text())["images"]
    image = next(i for i in images if i["name"] == name)
    assert f"{image.get('newName', name)}:{image['newTag']}" == COMPOSE[name]["image"]


def test_grafana_is_told_what_compose_tells_it_and_has_every_dashboard() -> None:
    grafana = run("grafana", KUBERNETES / "components" / "grafana")
    assert grafana.env == COMPOSE["grafana"]["environment"]
    folder = ROOT / "deploy" / "grafana"
    generated = yaml.safe_load((folder / "kustomization.yaml").read_text())["configMapGenerator"]
    listed = {file.rpartition("=")[2] for made in generated for file in made["files"]}
    there = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.suffix in (".json", ".yml")}
    assert listed == there


def test_nats_has_composes_configuration_and_syncs_before_it_acknowledges() -> None:
    assert run("nats").container["args"] == ["--config", "/etc/nats/servers-1.conf"]
    assert run("nats").env["SNATCH_NATS_SYNC"] == '"always"'
    configured = yaml.safe_load((ROOT / "deploy" / "nats" / "kustomization.yaml").read_text())["configMapGenerator"]
    assert set(configured[0]["files"]) == {file.name for file in (ROOT / "deploy" / "nats").glob("*.conf")}


def test_nats_takes_all_variables_that_its_configuration_asks_for() -> None:
    text = "\n".join(file.read_text() for file in (ROOT / "deploy" / "nats").glob("*.conf"))
    assert set(re.findall(r"\$(SNATCH_\w+)", text)) <= run("nats").env.keys()


def test_nats_says_that_the_log_is_full_before_its_volume_is() -> None:
    for file, store in (
        (BASE / "nats.yaml", run("nats").env["SNATCH_NATS_STORE"]),
        (PRODUCTION / "three-nats.yaml", run("nats", PRODUCTION).env["SNATCH_NATS_STORE"]),
    ):
        claim = next(m for m in yaml.safe_load_all(file.read_text()) if m["kind"] == "StatefulSet")
        volume = claim["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"]
        log = int(lines(PRODUCTION / "settings.env")["SNATCH_LOG_MAX_BYTES"])
        assert store is not None
        assert log < int(store.removesuffix("GB")) * 1000**3 < bytes_of(volume)


def test_three_servers_are_three_everywhere(tmp_path: Path) -> None:
    """In the set, in settings, by their own names, and in the routes among them."""
    servers = [m["metadata"]["name"] for m in manifests(PRODUCTION) if m["kind"] == "Service"]
    nats = next(m for m in manifests(PRODUCTION) if m["kind"] == "StatefulSet" and m["metadata"]["name"] == "nats")
    first = next(m for m in manifests(BASE) if m["kind"] == "StatefulSet" and m["metadata"]["name"] == "nats")
    numbers = range(first["spec"]["ordinals"]["start"], first["spec"]["ordinals"]["start"] + nats["spec"]["replicas"])
    assert servers == [f"nats-{number}" for number in numbers]
    told_of = lines(PRODUCTION / "settings.env")
    assert told_of["NATS_URL"].split(",") == [f"nats://{server}:4222" for server in servers]
    assert told_of["SNATCH_LOG_REPLICAS"] == str(len(servers))
    make_secrets(tmp_path)
    assert re.findall(r"@(nats-\d):6222", (tmp_path / "nats_routes").read_text()) == servers


def test_redis_is_started_as_compose_starts_it_its_copy_too() -> None:
    wanted = [re.sub(r"\$\{\w+:-(\w+)\}", r"\1", word) for word in COMPOSE["redis"]["command"]]
    assert run("redis").container["args"] == wanted
    copy = run("redis-copy", PRODUCTION).container["args"]
    assert [copy[0], *copy[5:]] == wanted
    assert copy[1:5] == ["/run/secrets/redis_copy_of", "--replicaof", "redis", "6379"]


def test_every_secret_that_a_pod_asks_for_is_one_that_the_script_makes(tmp_path: Path) -> None:
    make_secrets(tmp_path)
    asked = {
        item["key"]
        for manifest in manifests(BASE, PRODUCTION)
        for volume in manifest.get("spec", {}).get("template", {}).get("spec", {}).get("volumes", ())
        if "secret" in volume
        for item in volume["secret"]["items"]
    }
    assert len(asked) > 10
    assert asked <= {file.name for file in tmp_path.iterdir()}


def test_prometheus_has_every_rule() -> None:
    folder = ROOT / "deploy" / "prometheus"
    listed = {
        f for g in yaml.safe_load((folder / "kustomization.yaml").read_text())["configMapGenerator"] for f in g["files"]
    }
    assert listed == {
        str(file.relative_to(folder)) for part in ("rules", "alertmanagers") for file in (folder / part).iterdir()
    }


def test_prometheus_knows_services_by_the_jobs_that_rules_name() -> None:
    of_compose = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())
    here = yaml.safe_load((KUBERNETES / "components" / "prometheus" / "prometheus.yml").read_text())
    jobs = {job["job_name"] for job in of_compose["scrape_configs"]} & set(SERVICES)
    labelled = {
        m["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"]
        for m in manifests(BASE)
        if m["kind"] == "Deployment"
    }
    assert jobs == labelled
    assert {"source_labels": ["__meta_kubernetes_pod_label_app_kubernetes_io_name"], "target_label": "job"} in here[
        "scrape_configs"
    ][0]["relabel_configs"]
    assert here["global"] == of_compose["global"]


def test_autoscalers_ask_for_metrics_that_there_are_and_that_the_adapter_offers() -> None:
    scalers = manifests(KUBERNETES / "components" / "autoscaling")
    asked = {metric["pods"]["metric"]["name"] for scaler in scalers for metric in scaler["spec"]["metrics"]}
    values = yaml.safe_load((PRODUCTION / "prometheus-adapter.values.yaml").read_text())
    offered = {rule["seriesQuery"].partition("{")[0] for rule in values["rules"]["custom"]}
    gauges = {entry.declared.name for entry in catalogue().values() if entry.declared.kind == "gauge"}
    assert asked == offered
    assert asked <= gauges
    assert {scaler["metadata"]["name"] for scaler in scalers} == {"gateway", "watch", "engine", "bots"}
