"""Who may reach whom on Kubernetes: both ends agree, nobody more than in compose, everybody whom they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stack.manifest_rules import selects
from tests.contracts.kubernetes_base import BASE, COMPOSE, SERVICES, manifests, run

POLICIES = [m for m in manifests(BASE) if m["kind"] == "NetworkPolicy"]
PODS = (*SERVICES, "setup", "nats", "redis")


def allowed(direction: str) -> Iterator[tuple[str, str, int]]:
    """Who calls, who is called, at which port; as callers' rules (`egress`) or as those of the called have it."""
    for policy in POLICIES:
        ends = [name for name in PODS if selects(policy["spec"]["podSelector"], labels(name))]
        for rule in policy["spec"].get(direction, ()):
            for peer in rule["from" if direction == "ingress" else "to"]:
                if "namespaceSelector" in peer:
                    continue
                others = [name for name in PODS if selects(peer["podSelector"], labels(name))]
                for end in ends:
                    for other in others:
                        for port in rule["ports"]:
                            callers = (other, end) if direction == "ingress" else (end, other)
                            yield (*callers, port["port"])


def labels(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": name}


def networks(service: str) -> set[str]:
    return set(COMPOSE[service]["networks"])


def test_each_way_is_open_at_both_ends() -> None:
    assert set(allowed("egress")) == set(allowed("ingress"))
    assert len(set(allowed("egress"))) > 10


def test_nobody_reaches_whom_compose_keeps_apart() -> None:
    apart = {(a, b) for a, b, _ in allowed("egress") if a != b and not networks(a) & networks(b)}
    assert apart == set()


def test_everybody_reaches_whom_they_ask() -> None:
    """By the addresses in their settings; and engines, whom NATS leads to."""
    ways = {(a, b) for a, b, _ in allowed("egress")}
    for service in SERVICES:
        texts = " ".join(value for value in run(service).env.values() if value)
        asked = {name for name in ("nats", "redis") if f"//{name}:" in texts}
        asked |= {"rooms"} if service in ("gateway", "watch") else set()
        asked |= {"engine"} - {service}
        assert {b for a, b in ways if a == service} == asked, service


def test_every_port_that_is_called_is_one_that_listens() -> None:
    listens = {name: run(name).ports for name in PODS if name != "setup"}
    assert all(port in listens[called] for _, called, port in allowed("egress"))


def test_what_no_rule_names_is_closed() -> None:
    nothing: dict[str, Any] = next(p for p in POLICIES if p["metadata"]["name"] == "nothing-else")["spec"]
    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
