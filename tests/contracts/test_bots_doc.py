"""docs/bots.md says how strong bots are: of the bots that there are, and in their order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulate.bots_cli import HANDS, parser
from simulate.bots_page import DUEL, RACE, played
from simulate.bots_person import PACES
from simulate.bots_series import LEVELS, fingerprint

DOC = (Path(__file__).parents[2] / "docs" / "bots.md").read_text()


def rows(head: tuple[str, ...]) -> list[dict[str, str]]:
    """The table with this head."""
    table = DOC.partition(f"| {' | '.join(head)} |\n")[2].partition("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_every_level_is_played_at_every_pace_for_all_hands() -> None:
    assert [(row["pace"], row["bot"].lower()) for row in rows(DUEL)] == [(p, level) for p in PACES for level in LEVELS]
    assert [row["pace"] for row in rows(RACE)] == list(PACES)
    for row in rows(DUEL):
        assert sum(int(row[key]) for key in ("person wins", "bot wins", "shared")) == HANDS == 200
    for row in rows(RACE):
        assert sum(int(row[key]) for key in RACE[1:]) == HANDS


@pytest.mark.parametrize("pace", PACES)
def test_easy_wins_less_than_medium_and_medium_less_than_hard(pace: str) -> None:
    easy, medium, hard = (int(row["bot wins"]) for row in rows(DUEL) if row["pace"] == pace)
    assert easy < medium < hard
    together = next(row for row in rows(RACE) if row["pace"] == pace)
    assert int(together["Easy"]) < int(together["Medium"]) < int(together["Hard"])


def test_it_is_of_the_bots_and_people_that_there_are() -> None:
    """When this fails the page is out of date: `snatch bots --page docs/bots.md`, and read it."""
    assert played() in DOC
    assert f"<!-- first hands: {fingerprint()} -->" in DOC


def test_the_command_that_it_names_exists() -> None:
    said = re.search(r"^    snatch bots (.*)$", DOC, re.MULTILINE)
    assert said is not None
    arguments = parser().parse_args(said[1].split())
    assert (arguments.hands, arguments.page) == (HANDS, Path("docs/bots.md"))
