"""The examples in docstrings run, and say what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import games

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(games.__path__, "games.")
    if not found.ispkg and ".test_" not in found.name and not found.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 8
