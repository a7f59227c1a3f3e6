"""docker-compose.yml does what it says, through its one published port."""

from __future__ import annotations

import asyncio
import uuid
from random import Random

import httpx
import pytest

from simulate.door import Door
from simulate.findings import Findings
from simulate.phone import Phone
from simulate.player import Player
from simulate.tv import Tv
from tests.compose.deployment import REPLICAS, SERVICES, Deployment
from tests.compose.prometheus import Series
from wire import client_in

pytestmark = pytest.mark.compose


async def test_a_hand_with_bots_is_played_through_the_published_port_while_a_tv_shows_it(
    deployment: Deployment,
) -> None:
    async with httpx.AsyncClient(base_url=deployment.url, timeout=20, follow_redirects=True) as http:
        for page in ("/", "/watch"):
            answer = await http.get(page)
            assert answer.status_code == 200, page
            assert "<script" in answer.text

    found = Findings()
    async with Door(deployment.url) as door, asyncio.timeout(600):
        ticket = await door.host("Ann", uuid.uuid4().hex)
        phone = Phone(deployment.url, ticket.token, 1, found)
        tv = Tv(deployment.url, ticket.room.lower(), found)
        try:
            phone.start()
            await phone.until(lambda p: p.lobby is not None)
            for _ in range(3):
                await phone.act(client_in.AddBot("hard"))
            await phone.act(client_in.StartTable())
            await phone.until(lambda p: p.screen.phase() == "setup")
            tv.start()
            await tv.until(lambda t: t.screen.phase() == "setup")
            assert (await phone.move(client_in.Deal())).no is None
            await Player(phone, "hard", 2.0, Random(1), found).play()
            await phone.until(lambda p: p.screen.phase() == "standings")
            await tv.until(lambda t: t.screen.phase() == "standings")

            result = phone.screen.view.result
            assert [score.seat for score in sorted(result.scores, key=lambda s: s.seat)] == [0, 1, 2, 3]
            assert result.by is None or result.scores[0].left == 0
            assert tv.screen.view.result == result
            assert tv.screen.table is not None
            assert phone.screen.table is not None
            assert tv.screen.table.outcome == phone.screen.table.outcome
        finally:
            phone.stop()
            tv.stop()
    assert found.ok(), found.told
    assert found.moves > 0
    assert found.reconnects == 0


def test_prometheus_scrapes_every_replica_of_every_service(deployment: Deployment) -> None:
    def replicas(up: list[Series]) -> dict[str, int]:
        return {service: sum(s.value == 1 for s in up if s.labels["job"] == service) for service in SERVICES}

    prometheus = deployment.prometheus()
    assert replicas(prometheus.until("up", lambda up: replicas(up) == REPLICAS)) == REPLICAS
    assert {series.labels["service"] for series in prometheus.ask("snatch_build_info")} == set(SERVICES)


def test_one_port_is_published_and_it_is_the_proxys(deployment: Deployment) -> None:
    published = [(c.service, port) for c in deployment.containers() for port in c.ports]
    port = deployment.url.rpartition(":")[2]
    assert [(service, to.partition("->")[0]) for service, to in published] == [("proxy", f"127.0.0.1:{port}")]
