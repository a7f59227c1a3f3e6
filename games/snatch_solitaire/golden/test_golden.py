"""The golden files lie here as the kernel would write them now, and cover what they should."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from games.snatch_solitaire import messages
from games.snatch_solitaire.golden.files import FILES, HERE, text


def read(name: str) -> Any:
    return json.loads((HERE / name).read_text(encoding="ascii"))


@pytest.mark.parametrize("name", sorted(FILES))
def test_golden_file_is_what_the_kernel_says(name: str) -> None:
    there = (HERE / name).read_text(encoding="ascii")
    assert there == text(FILES[name]()), "if it should: python -m games.snatch_solitaire.golden"


def test_every_kind_of_event_is_folded_at_least_once() -> None:
    kinds = {event.__struct_config__.tag for event in get_args(messages.PublicEvent)}
    assert {case["event"]["t"] for case in read("apply.json")["events"]} == kinds


def test_both_answers_to_fits_are_there_in_number() -> None:
    for cases in read("fits.json").values():
        answers = [case["fits"] for case in cases]
        assert len(answers) > 100
        assert answers.count(True) > 20
        assert answers.count(False) > 20


def test_a_whole_hand_is_folded_for_the_table_and_three_seats() -> None:
    hands = read("apply.json")["hands"]
    assert [hand["audience"] for hand in hands] == [None, 0, 2, 5]
    assert all(hand["end"]["result"] == hands[0]["end"]["result"] for hand in hands)
