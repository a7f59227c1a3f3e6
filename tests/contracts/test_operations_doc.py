"""docs/operations.md is read at night: what it says to look for must be what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stack.metrics_table import series

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "operations.md").read_text()
SOURCE = "\n".join(
    file.read_text() for folder in ("services", "servicekit", "stack") for file in sorted((ROOT / folder).rglob("*.py"))
)
QUOTED = [
    "PARTITION HALTED: an operator must look",
    "the log takes no record",
    "the log takes records again",
    "an engine is gone",
    "partition lost",
    "claimed anew",
    "a log of a later release is left to its engines",
    "the lease can't be renewed",
    "nats is away",
    "nats is back",
    "placement could not be read",
    "the command stream broke",
    "too few open files for all sockets",
    "at the table",
    "lobbies are away",
    "a rooms worker does not answer, others are asked",
    "Redis is away",
    "Redis is there",
    "lobbies' time stood still",
    "a room that Redis lost is listed again from its table",
    "engines that don't answer, or whose log doesn't",
    "another process has this engine's name",
    "the deal workers are starting",
    "partitions of its share are not open",
    "partitions are halted: see GET /partitions",
    "status is not up to date",
    "this engine has no time for more tables",
]
"""Log lines and words of `/readyz`: in the document as they are in the code."""


def test_every_metric_that_operators_are_told_of_is_there() -> None:
    names = set(series())
    told = set(re.findall(r"(?<!/)\bsnatch_\w+", DOC))  # a folder's files are none
    assert {name for name in told if name not in names and f"{name}_bucket" not in names} == set()
    assert len(told) > 20


@pytest.mark.parametrize("words", QUOTED)
def test_what_operators_are_told_to_look_for_is_what_is_said(words: str) -> None:
    assert words in DOC
    assert words in SOURCE


def test_every_link_of_the_documents_leads_somewhere() -> None:
    pages = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    astray = []
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            file, _, anchor = link.partition("#")
            target = page.parent / file if file else page
            if link.startswith("http") or (target.exists() and (not anchor or anchor in anchors(target))):
                continue
            astray.append(f"{page.name}: {link}")
    assert astray == []


def anchors(page: Path) -> set[str]:
    """Of a page's headings, as they are made where it is shown."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
