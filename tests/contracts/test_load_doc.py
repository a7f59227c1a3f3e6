"""docs/load.md is what scripts are written by: its keys are the JSON's, its options the command's."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import msgspec
import pytest

from simulate import load, load_record
from simulate.load_report import DELAYS

DOC = (Path(__file__).parents[2] / "docs" / "load.md").read_text()
STRUCTS = [s for _, s in inspect.getmembers(load_record, inspect.isclass) if issubclass(s, msgspec.Struct)]
STRUCTS = [s for s in STRUCTS if s.__module__ == load_record.__name__]


def section(name: str) -> str:
    found = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", DOC, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/load.md says nothing of {name}"
    return found[1]


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_each_key_is_explained_with_its_unit_in_the_order_of_the_file(struct: type[msgspec.Struct]) -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", section(struct.__name__), re.MULTILINE)
    assert [key for key, _, _ in rows] == list(struct.__struct_fields__)
    assert all(unit.strip() and words.strip() for _, unit, words in rows)


def test_each_delay_is_explained() -> None:
    said = re.findall(r"`(\w+)` \(", section("Result"))
    assert said == list(DELAYS)


def test_the_first_keys_are_those_that_decide() -> None:
    first = ("cpu_us_per_move", "p50_ms", "p99_ms", "lost", "doubled", "void")
    assert load_record.Result.__struct_fields__[: len(first)] == first


def test_each_option_that_is_named_exists() -> None:
    known = {option for action in load.parser()._actions for option in action.option_strings}
    # Of commands only this one: others, named in full, have options of their own.
    said = [first or second for first, second in re.findall(r"`([^`\n]+)`|^    (.+)$", DOC, re.MULTILINE)]
    named = {
        option
        for words in said
        if words.startswith(("--", "snatch load"))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", words)
    }
    assert len(named) > 10
    assert named <= known
