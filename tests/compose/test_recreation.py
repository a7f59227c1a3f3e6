"""All of the deployment goes, and is made anew on its volumes: who plays goes on, and who waits still waits."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from simulate.chaos_cells import Cell
from simulate.chaos_run import ChaosRun
from simulate.door import Door
from simulate.phone import Phone
from tests.compose import losses
from tests.compose.deployment import SERVICES, Deployment
from tests.compose.deployment_faults import Whole, taken_down_and_up

pytestmark = [pytest.mark.compose, pytest.mark.asyncio(loop_scope="session")]


async def test_tables_and_lobbies_outlive_a_restart_of_everything(
    deployment: Deployment, players: ChaosRun, pytestconfig: pytest.Config
) -> None:
    async with Door(deployment.url) as door:
        ida = await door.host("Ida", uuid.uuid4().hex)
        jon = await door.join(ida.room, "Jon", uuid.uuid4().hex)

    codes: dict[str, set[int]] = {}
    cell = Cell("everything", "DOWN", every=1.0, duration=1.0)
    result = await players.cell(cell, Whole(taken_down_and_up(deployment, codes)))
    losses.note(pytestconfig, players, result)
    assert not result.failures(), players.found.told
    assert {service: codes[service] for service in SERVICES} == {service: {0} for service in SERVICES}
    relisted = deployment.prometheus().ask('sum(snatch_rooms_reconciled_total{what="relisted"})')
    assert sum(series.value for series in relisted) == 0, "Redis had lost rooms that had a table"

    # A room without a table is nowhere but in Redis.
    phones = [Phone(deployment.url, ticket.token, tab, players.found) for tab, ticket in enumerate((ida, jon), 1)]
    try:
        for phone in phones:
            phone.start()
        async with asyncio.timeout(60):
            for phone in phones:
                await phone.until(lambda p: p.lobby is not None and sum(q.present for q in p.lobby.players) == 2)
        for phone in phones:
            assert phone.lobby is not None
            assert {q.name for q in phone.lobby.players} == {"Ida", "Jon"}
    finally:
        for phone in phones:
            phone.stop()
