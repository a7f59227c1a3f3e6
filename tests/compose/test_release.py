"""Every image is replaced by that of another build while people play."""

from __future__ import annotations

import asyncio

import pytest

from simulate.chaos_cells import Cell
from simulate.chaos_run import ChaosRun
from tests.compose import losses
from tests.compose.deployment import REPLICAS, SERVICES, Deployment
from tests.compose.deployment_faults import Whole

pytestmark = [pytest.mark.compose, pytest.mark.asyncio(loop_scope="session")]


async def test_nothing_is_lost_by_a_release(
    deployment: Deployment, players: ChaosRun, pytestconfig: pytest.Config
) -> None:
    following = deployment.released(f"{deployment.build}-next")
    await asyncio.to_thread(following.make)

    cell = Cell("everything", "RELEASE", every=1.0, duration=1.0)
    result = await players.cell(cell, Whole(following.release))
    losses.note(pytestconfig, players, result)
    assert not result.failures(), players.found.told

    running = [c for c in await asyncio.to_thread(deployment.containers) if c.service in SERVICES]
    assert {c.image for c in running} == {f"snatch-{service}:{following.build}" for service in SERVICES}
    assert all(c.well for c in running)
    assert len(running) == sum(REPLICAS.values())

    count = f'count by (service) (snatch_build_info{{build="{following.build}"}})'
    builds = await asyncio.to_thread(
        deployment.prometheus().until, count, lambda found: {s.labels["service"]: s.value for s in found} == REPLICAS
    )
    assert {s.labels["service"]: s.value for s in builds} == REPLICAS
