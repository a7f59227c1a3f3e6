"""Case 12: somebody goes in the very tick in which a hand ends; scores are counted once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.engine.items import CommandItem
from tests.services.engine_table import Phone, Play


def by_the_x(bo: Phone) -> CommandItem:
    return bo.command({"t": "leave"})


def by_a_lost_socket(bo: Phone) -> CommandItem:
    return bo.gone()


@pytest.mark.parametrize("first", [True, False], ids=["goes just before", "goes just after"])
@pytest.mark.parametrize("goes", [by_the_x, by_a_lost_socket])
def test_who_goes_beside_anothers_last_card_is_scored_once_and_plays_on(
    goes: Callable[[Phone], CommandItem], first: bool
) -> None:
    play = Play().start(hands=2)
    ann, bo = play.phones
    for _ in range(2):
        assert ann.move("take") is None
    assert bo.move("take") is None
    last, going = ann.command({"t": "take"}), goes(bo)
    play.do(*((going, last) if first else (last, going)))
    assert play.phase == "scores"
    assert play.table.cards.total == {0: 0, 1: 2}
    assert len(play.shown("scores")) == 1
    assert play.answer(ann.seat, ann.last) is None
    bo.attach()
    assert play.table.cards.total == {0: 0, 1: 2}
    assert ann.move("next_hand") is None
    play.deal()
    play.wait(10_000)
    play.finish_hand(ann)
    assert play.table.cards.total == {0: 0, 1: 2 + 3}
    assert play.faults == []
