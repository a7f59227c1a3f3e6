"""Dashboards in shape: the same JSON, and lines that can be read."""

from __future__ import annotations

import json

from stack.dashboards import WIDTH, Json, shaped

PANEL: Json = {
    "id": 2,
    "title": "Players",
    "targets": [{"refId": letter, "expr": "sum(snatch_gateway_seats) " * 3} for letter in "ABC"],
    "options": {},
}


def test_in_shape_it_is_the_same_and_fits_its_lines() -> None:
    written = shaped(PANEL)
    assert json.loads(written) == PANEL
    assert all(len(line) <= WIDTH for line in written.splitlines())


def test_what_fits_a_line_stands_on_one_and_short_words_beside_each_other() -> None:
    assert shaped(PANEL).splitlines()[1] == '  "id": 2, "title": "Players",'
    assert shaped([1, {"a": []}]) == '[1, {"a": []}]'


def test_a_word_longer_than_a_line_is_left_whole() -> None:
    assert shaped({"description": "x" * 2 * WIDTH}).splitlines()[1] == f'  "description": "{"x" * 2 * WIDTH}"'
