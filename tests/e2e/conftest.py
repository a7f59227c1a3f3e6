"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.inprocess import Stack, stack_in_process
from tests.e2e.party import Party, party


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    """All five services in this process, ready, and gone with the test."""
    async with stack_in_process(tmp_path) as running:
        yield running


@pytest.fixture
async def people(stack: Stack) -> AsyncIterator[Party]:
    """Players and TVs of that stack; a broken invariant on any screen fails the test."""
    async with party(stack) as everyone:
        yield everyone
