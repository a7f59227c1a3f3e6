"""`make test-compose`: one deployment for all tests of this folder, taken down whatever happens."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from tests.compose.deployment import Deployment, new_deployment

collect_ignore_glob = [] if os.environ.get("SNATCH_TEST_COMPOSE") else ["test_*.py"]
"""These tests need a running Docker; `make test` needs none."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@pytest.fixture(scope="session")
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """The whole of docker-compose.yml, built and healthy."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    it = new_deployment()
    try:
        try:
            it.up()
        except BaseException:
            it.logs()
            raise
        yield it
        if request.session.testsfailed:
            it.logs()
    finally:
        it.down()
        signal.signal(signal.SIGTERM, before)
