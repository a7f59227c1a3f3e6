"""What may be asked for, read off the services once."""

from __future__ import annotations

import pytest

from tests.contracts.watching.promql import Known


@pytest.fixture(scope="session")
def known() -> Known:
    return Known()
