"""docs/cases.md is true: each case that is ours has tests, and every test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \|$")
OURS = range(1, 40)


def cases() -> dict[int, list[str]]:
    """By number: the tests named."""
    found: dict[int, list[str]] = {}
    for line in (ROOT / "docs" / "cases.md").read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if row:
            found[int(row[1])] = re.findall(r"`([^`]+)`", row[3])
    return found


def python_tests() -> set[str]:
    folders = ("games", "wire", "servicekit", "services", "simulate", "stack", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("test_*.py")]
    return {name for path in files for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.M)}


def page_tests() -> set[str]:
    """As `file.test.ts: title`."""
    files = (ROOT / "web" / "src").rglob("*.test.ts")
    return {
        f"{path.name}: {title}"
        for path in files
        for _, title in re.findall(r"\b(?:test|it)\((['\"`])(.+?)\1,", path.read_text("utf-8"))
    }


@pytest.mark.parametrize("number", OURS)
def test_a_case_of_ours_has_a_test(number: int) -> None:
    assert cases().get(number), f"docs/cases.md names no test for case {number}"


def test_every_test_that_a_case_names_is_there() -> None:
    named = {name for names in cases().values() for name in names}
    assert named - python_tests() - page_tests() == set()
