"""docs/benchmarks.md, its plots and the README's table are what the committed results say, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import own_programs, page, verdict
from benchmarks.results import read

ROOT = Path(__file__).resolve().parents[2]
TARGET = page.Target.committed()
RESULTS = read(TARGET.results)


@pytest.mark.parametrize("name", sorted(page.made(RESULTS)))
def test_what_is_committed_is_what_the_results_make(name: str) -> None:
    assert (TARGET.docs / name).read_text(encoding="utf-8") == page.made(RESULTS)[name], "run `snatch bench --page`"


def test_the_readmes_table_is_what_the_results_make() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert page.BEGIN in readme
    assert page.in_readme(readme, RESULTS) == readme, "run `snatch bench --page`"


def test_what_operations_says_of_capacity_is_what_the_results_make() -> None:
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert page.CAPACITY in operations
    assert page.in_operations(operations, RESULTS) == operations, "run `snatch bench --page`"


def test_no_plot_is_left_of_results_that_are_gone() -> None:
    there = {file.name for file in TARGET.docs.glob("benchmarks-*.svg")}
    assert there == page.made(RESULTS).keys() - {"benchmarks.md"}


def test_no_committed_run_lost_or_doubled_anything() -> None:
    assert verdict.losses(RESULTS) == 0


def test_each_key_that_a_program_wrote_is_told_of_in_its_docstring() -> None:
    untold = {part: set(RESULTS[part].figures) - told_by(part) for part in own_programs.PROGRAMS if part in RESULTS}
    assert untold == {part: set() for part in untold}


def told_by(part: str) -> set[str]:
    """Every word in backticks."""
    return set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`", own_programs.documented(part)))))
