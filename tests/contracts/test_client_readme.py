"""web/README.md names the parts of the pages, by which tests and scripts find them: those that there are."""

from __future__ import annotations

import re
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"
TABLE = (WEB / "README.md").read_text().partition("| place | test ids |\n")[2].partition("\n\n")[0]
SOURCE = "\n".join(
    file.read_text()
    for file in sorted((WEB / "src").rglob("*"))
    if file.suffix in (".svelte", ".ts") and not file.name.endswith(".test.ts") and "generated" not in file.parts
)
NAMED = set(re.findall(r"`([a-z][a-z0-9-]*)(?:<\w+>)?`", TABLE))
"""Without what differs from one to the next: `pile-<id>` is `pile-`."""


def test_every_part_with_a_name_of_its_own_is_in_the_table() -> None:
    parts = set(re.findall(r"""testid(?:="|: '|=\{')([a-z][a-z0-9-]*)["']""", SOURCE))
    assert "add-bot" in parts
    assert parts - NAMED == set()


def test_every_name_in_the_table_is_a_part_of_some_page() -> None:
    """Whole, or made of a quoted word and something more: `bots-easy`."""
    made = tuple(re.findall(r"""["'`]([a-z-]+-)\$?\{""", SOURCE))
    assert "work-" in made
    quoted = set(re.findall(r"""["'`]([a-z][a-z0-9-]*)["'`]""", SOURCE))
    unknown = {n for n in NAMED - quoted if not n.startswith((*made, "data-"))}
    assert {n for n in unknown if n.rpartition("-")[0] not in quoted} == set()
