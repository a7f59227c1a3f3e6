"""`make test-compose`: one deployment for all tests of this folder, taken down whatever happens."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from types import FrameType

import pytest
import pytest_asyncio

from servicekit import logs
from simulate.chaos_room import RoomWish
from simulate.chaos_run import ChaosRun
from tests.browser.pages import RESULTS
from tests.compose import losses
from tests.compose.deployment import Deployment, new_deployment
from tests.compose.nats_door import NatsDoor

collect_ignore_glob = [] if os.environ.get("SNATCH_TEST_COMPOSE") else ["test_*.py"]
"""These tests need a running Docker; `make test` needs none."""

ROOMS = 6
WISH = RoomWish(seats=2, bots=1, rooms=ROOMS)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Before pytest's own closing line."""
    results = losses.noted(config)
    if results:
        terminalreporter.section("faults and losses")
        terminalreporter.write_line(losses.told(results))
    if began := os.environ.get("CI_BEGAN"):
        minutes, seconds = divmod(round(time.time() - float(began)), 60)
        terminalreporter.write_line(f"\n.ci/run has taken {minutes}:{seconds:02}")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(request: pytest.FixtureRequest, text: str) -> None:
    """To whoever looks on, beside pytest's dots."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        reporter.write_line(text)


def _tell(request: pytest.FixtureRequest, deployment: Deployment) -> None:
    file = RESULTS / "compose.log"
    _say(request, "\n".join([*deployment.logs(file), f"all of it: {file}"]))


@pytest.fixture(scope="session")
def deployment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The whole of docker-compose.yml, built and healthy."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    it = new_deployment(tmp_path_factory.mktemp("secrets"))
    try:
        began = time.monotonic()
        it.make()
        built = time.monotonic()
        try:
            it.up()
        except BaseException:
            _tell(request, it)
            raise
        _say(request, f"built in {built - began:.0f} s, healthy {time.monotonic() - built:.0f} s later")
        yield it
        if request.session.testsfailed:
            _tell(request, it)
    finally:
        it.down()
        signal.signal(signal.SIGTERM, before)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def players(request: pytest.FixtureRequest, deployment: Deployment) -> AsyncIterator[ChaosRun]:
    """Rooms in which people and bots play, a TV in each, for as long as the tests last."""
    logs.set_up("compose", "", level="error")  # that NATS is away is no news here
    async with NatsDoor(lambda: deployment.address("nats")) as door:
        stack = {"url": deployment.url, "watch_url": deployment.url, "nats_url": f"nats://127.0.0.1:{door.port}"}
        credentials = deployment.observer()
        async with ChaosRun(
            stack, lambda: None, WISH, ROOMS, lambda text: _say(request, text), credentials=credentials
        ) as run:
            yield run
