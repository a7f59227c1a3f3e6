"""A Firefox, where there is one; a stack for it to play on.  Where there is none, it is told and nothing here runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from stack import lent, setup_browser
from tests.browser.pages import Address
from tests.firefox import program
from tests.firefox.bidi import Bidi, session

FIREFOX = setup_browser.find_firefox()

collect_ignore_glob = [] if FIREFOX else ["test_*.py"]


def pytest_report_header() -> str:
    return f"second engine: {FIREFOX}" if FIREFOX else f"no second engine here: {setup_browser.FIREFOX_CURE}"


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with lent.started(folder=tmp_path_factory.mktemp("played"), say=False) as state:
        yield Address(state["url"], state["watch_url"])


@pytest_asyncio.fixture
async def firefox(tmp_path: Path) -> AsyncIterator[Bidi]:
    assert FIREFOX is not None
    async with program.started(FIREFOX, tmp_path / "profile") as address, session(address) as bidi:
        yield bidi
