"""docker-compose.yml does what it says, through its one published port."""

from __future__ import annotations

import json
import re
import time
from random import Random

import httpx
import pytest

from tests.compose.deployment import SERVICES, Deployment
from tests.compose.player import Player, Tv

pytestmark = pytest.mark.compose

REPLICAS = {"gateway": 1, "rooms": 1, "engine": 2, "bots": 1, "watch": 1}
CARD = re.compile(r'"(?:[A2-9TJQK][shdc])"')


async def test_a_hand_with_bots_is_played_through_the_published_port_while_a_tv_shows_it(
    deployment: Deployment,
) -> None:
    async with httpx.AsyncClient(base_url=deployment.url, timeout=20, follow_redirects=True) as http:
        for page in ("/", "/watch"):
            answer = await http.get(page)
            assert answer.status_code == 200, page
            assert "<script" in answer.text

    player = await Player.host(deployment.url, "Ann")
    async with player, Tv(deployment.url, player.room) as tv:
        await player.until(lambda s: bool(s.lobby), "the lobby")
        await tv.until(lambda s: bool(s.lobby), "the lobby, on the TV")
        for _ in range(3):
            await player.ask_lobby(t="add_bot", level="hard")
        await player.ask_lobby(t="start")
        await player.until(lambda s: s.phase == "setup", "setup")
        await player.moved(t="deal")
        await player.play_hand(Random(1), seconds=600)
        await player.until(lambda s: s.phase in ("scores", "standings"), "the scores")
        await tv.until(lambda s: s.phase in ("scores", "standings"), "the scores, on the TV")

        result = player.shown.view.result
        assert result is not None
        assert tv.shown.view.result == result
        assert len(result.scores) == 4
        assert result.by is None or min(score.left for score in result.scores) == 0

        await player.until(lambda s: s.phase == "standings", "the standings, by themselves")
        assert player.shown.outcome is not None
        for text in tv.shown.got:
            message = json.loads(text)
            assert message["t"] in ("welcome", "no_table", "lobby", "snapshot", "table"), text
            assert not message.get("you"), text
            assert "mine" not in (message.get("view") or {}), text
            events = [event for step in message.get("steps", ()) for event in step.get("ev", ())]
            for event in events:
                assert event["t"] == "placed" or not CARD.search(json.dumps(event)), event


def test_prometheus_scrapes_every_replica_of_every_service(deployment: Deployment) -> None:
    end = time.monotonic() + 60
    while True:
        up = [(labels["job"], value) for labels, value in deployment.prometheus("up")]
        found = {service: sum(value == 1 for job, value in up if job == service) for service in SERVICES}
        if found == REPLICAS:
            break
        assert time.monotonic() < end, f"up: {found}, wanted {REPLICAS}"
        time.sleep(1)
    builds = {labels["service"] for labels, _ in deployment.prometheus("snatch_build_info")}
    assert builds == set(SERVICES)


def test_one_port_is_published_and_it_is_the_proxys(deployment: Deployment) -> None:
    published = {
        c["Config"]["Labels"]["com.docker.compose.service"]: c["NetworkSettings"]["Ports"]
        for c in deployment.containers()
    }
    assert [s for s, ports in published.items() if any(ports.values())] == ["proxy"]


def test_each_service_runs_without_root_and_without_the_others_code(deployment: Deployment) -> None:
    for service in SERVICES:
        assert deployment.inside(service, "id", "-u").strip() == "10001"
        there = deployment.inside(service, "ls", "services").split()
        assert [name for name in there if name != "__init__.py"] == [service]


def test_every_service_ends_cleanly_on_sigterm(deployment: Deployment) -> None:
    deployment.stop()
    codes = {
        c["Config"]["Labels"]["com.docker.compose.service"]: c["State"]["ExitCode"] for c in deployment.containers()
    }
    assert {service: codes[service] for service in SERVICES} == dict.fromkeys(SERVICES, 0)
