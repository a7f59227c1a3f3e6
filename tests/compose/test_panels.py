"""Under load every query of the dashboards and of Prometheus' rules finds something, and nothing that wakes anybody."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from simulate.chaos_cells import Cell
from simulate.chaos_run import ChaosRun
from simulate.load_record import Result
from stack import queries
from stack.queries import Query
from tests.browser.pages import RESULTS
from tests.compose import losses
from tests.compose.deployment import SERVICES, Deployment
from tests.compose.deployment_faults import Whole
from tests.compose.prometheus import Series, something

pytestmark = pytest.mark.compose

LOAD = ("--players", "40", "--duration", "25", "--json", "/dev/stdout")
FOUND_WITHIN = 120.0
"""Seconds that a panel may take to show anything: rules are worked out every 15 s, from what was scraped before."""


class Panels:
    """Who looks at all panels while players play: `look` blocks."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self.load: Result | None = None
        self.said = ""
        self.found: dict[Query, list[Series]] = {}

    def look(self) -> None:
        """Again and again while a load runs, and on until there is something in each."""
        asked = [query for query in queries.every() if query.kind != "alert"]
        prometheus = self._deployment.prometheus()
        until = time.monotonic() + FOUND_WITHIN
        with ThreadPoolExecutor() as pool:
            load = pool.submit(self._deployment.load, *LOAD)
            while (not load.done() or self.empty()) and time.monotonic() < until:
                for query in asked:
                    found = prometheus.ask(query.expr)
                    if something(found) or query not in self.found:
                        self.found[query] = found
            self.said = load.result()
        _, brace, result = self.said.partition("\n{")
        self.load = msgspec.json.decode(brace + result[: result.rindex("}") + 1], type=Result) if brace else None

    def empty(self) -> list[str]:
        """Where nothing was found, or no number."""
        return [query.where for query, found in self.found.items() if not something(found)]

    def written(self) -> str:
        """What each panel would show, a line a series."""
        lines = []
        for query, found in self.found.items():
            lines.append(f"{query.where}\n  {query.expr}")
            lines += [f"    {' '.join(f'{k}={v}' for k, v in labels.items())} {value:g}" for labels, value in found]
        return "\n".join(lines) + "\n"


@pytest.mark.asyncio(loop_scope="session")
async def test_every_panel_and_every_rule_finds_something_under_load_and_nothing_is_lost_by_it(
    deployment: Deployment, players: ChaosRun, pytestconfig: pytest.Config
) -> None:
    await asyncio.to_thread(deployment.make, "load")
    panels = Panels(deployment)
    result = await players.cell(Cell("everything", "LOAD", every=1.0, duration=1.0), Whole(panels.look))
    losses.note(pytestconfig, players, result)
    folder = RESULTS / "compose"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "panels.txt").write_text(panels.written())

    assert not result.failures(), players.found.told
    assert panels.load is not None, panels.said
    assert panels.load.checks.answered > 0
    assert (panels.load.lost, panels.load.doubled) == (0, 0)
    assert panels.empty() == []


def test_prometheus_knows_of_no_halted_partition_and_no_fault(deployment: Deployment) -> None:
    prometheus = deployment.prometheus()
    for counter in ("snatch_engine_halted_total", "snatch_engine_faults_total"):
        found = prometheus.ask(f"max_over_time({counter}[1h])")
        assert found, counter
        assert sum(value for _, value in found) == 0, counter
    up = {labels["job"] for labels, value in prometheus.ask("up") if value == 1}
    assert set(SERVICES) <= up
