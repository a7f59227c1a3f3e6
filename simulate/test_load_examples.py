"""The examples in the load's docstrings hold."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from simulate import load_delays, load_processes, load_schedule, load_trouble


@pytest.mark.parametrize("module", [load_delays, load_processes, load_schedule, load_trouble], ids=lambda m: m.__name__)
def test_examples_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("words", ["engine", "engine@", "@3s", "engine:HIT@3s", "engine@soon"])
def test_what_is_no_trouble_is_refused(words: str) -> None:
    with pytest.raises(load_trouble.BadTrouble):
        load_trouble.trouble(words)
