"""Documents lead to what there is: their links, and the commands that they tell to type."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from stack.cli import main

ROOT = Path(__file__).parents[2]
PLACES = (".", "docs", "docs/adr", "web", "games/snatch_solitaire", "tests/golden")
DOCUMENTS = sorted(file for place in PLACES for file in (ROOT / place).glob("*.md"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))


def commands() -> set[str]:
    """As `snatch --help` tells them."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        main([])
    return set(re.findall(r"^    ([a-z]+) {2,}", told.getvalue(), re.M))


COMMANDS = commands()


def anchors(text: str) -> set[str]:
    """Those of its headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text()
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text):
        path, _, anchor = "".join(link).partition("#")
        if "://" in path:
            continue
        file = document.parent / path if path else document
        if not file.exists() or (anchor and anchor not in anchors(file.read_text())):
            lost.append("".join(link))
    assert lost == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_commands_are_there(document: Path) -> None:
    typed = re.findall(r"(?:^    |`)(make|(?:\.venv/bin/)?snatch) ([a-z][a-z-]*)", document.read_text(), re.M)
    unknown = {(of, name) for of, name in typed if name not in (TARGETS if of == "make" else COMMANDS)}
    assert unknown == set()
