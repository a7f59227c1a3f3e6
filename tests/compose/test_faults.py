"""Each service is killed, paused, cut off, scaled, restarted while people play: nothing they were told is lost."""

from __future__ import annotations

import pytest

from simulate.chaos_cells import Cell
from simulate.chaos_run import ChaosRun
from simulate.faults import Fault
from tests.compose import losses
from tests.compose.container_faults import ContainerFaulter
from tests.compose.deployment import REPLICAS, SERVICES, Deployment

pytestmark = [pytest.mark.compose, pytest.mark.asyncio(loop_scope="session")]

FAULTS: tuple[Fault, ...] = ("KILL", "PAUSE", "CUT", "RESTART", "SCALE")
HOLD = 4.0


def cells() -> list[Cell]:
    """A hit each; of a restart one for each replica, one after another."""
    found = []
    for service in (*SERVICES, "nats", "redis", "proxy"):
        for fault in FAULTS:
            hits = REPLICAS.get(service, 1) if fault == "RESTART" else 1
            found.append(Cell(service, fault, every=1.0, duration=1.0 * hits, hold=HOLD))
    return found


@pytest.mark.parametrize("cell", cells(), ids=lambda cell: cell.name.replace(" ", "-"))
async def test_nothing_is_lost_by_a_fault(
    cell: Cell, deployment: Deployment, players: ChaosRun, pytestconfig: pytest.Config
) -> None:
    result = await players.cell(cell, ContainerFaulter(deployment, cell.kind))
    losses.note(pytestconfig, players, result)
    assert not result.failures(), players.found.told
