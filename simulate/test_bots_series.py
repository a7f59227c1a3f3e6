"""Hands of a person and bots: the better the level, the more it wins; and what is counted is what was played."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from simulate import bots_cli, bots_page, bots_series
from simulate.bots_hand import Hand, play
from simulate.bots_series import DUELS, TOGETHER, Series, jobs, rising, series, within

HANDS = 24


@pytest.fixture(scope="module")
def found() -> list[Series]:
    return series([*DUELS, TOGETHER], ["usual"], HANDS, seed=1)


def hand(*left: int, early: tuple[int, ...] = (9, 9), seconds: float = 100.0) -> Hand:
    winners = tuple(seat for seat, cards in enumerate(left) if cards == min(left))
    return Hand(seconds, left, winners, early, 0, 0, 0)


def test_each_level_wins_more_hands_than_the_one_below_it(found: list[Series]) -> None:
    easy, medium, hard = (duel.won(1) for duel in found[:3])
    assert easy < medium < hard
    assert rising(found[:3])


def test_each_level_leaves_a_person_more_cards_and_itself_fewer(found: list[Series]) -> None:
    assert found[0].left(0) < found[1].left(0) < found[2].left(0)
    assert found[0].left(1) > found[1].left(1) > found[2].left(1)


def test_at_one_table_the_hard_bot_wins_most_and_the_easy_one_least(found: list[Series]) -> None:
    _, easy, medium, hard = (found[3].won(seat) for seat in range(4))
    assert easy <= medium < hard


def test_every_hand_is_won_by_whoever_has_fewest_cards_left(found: list[Series]) -> None:
    for each in found:
        assert len(each.hands) == HANDS
        for played in each.hands:
            assert played.winners == tuple(s for s, left in enumerate(played.left) if left == min(played.left))
            assert all(0 <= left <= 13 for left in played.left)
        assert each.won(0) + sum(each.won(seat + 1) for seat in range(len(each.levels))) + each.shared == HANDS


def test_the_same_seed_plays_the_same_hand_and_another_one_another() -> None:
    assert play(5, 0, ("medium",), "usual") == play(5, 0, ("medium",), "usual")
    assert play(5, 0, ("medium",), "usual") != play(6, 0, ("medium",), "usual")


def test_other_processes_play_the_same_hands() -> None:
    assert series(DUELS[:1], ["quick"], 4, 3, processes=2) == series(DUELS[:1], ["quick"], 4, 3)


def test_each_deal_is_played_from_every_side() -> None:
    assert [(job.seed, job.shift) for job in jobs(("easy",), "usual", 4, 7)] == [(7, 0), (7, 1), (8, 0), (8, 1)]
    assert [job.shift for job in jobs(TOGETHER, "usual", 5, 7)] == [0, 1, 2, 3, 0]


def test_a_shared_win_is_nobodys_own() -> None:
    duel = Series("usual", ("easy",), [hand(0, 3), hand(2, 2), hand(5, 0)])
    assert (duel.won(0), duel.won(1), duel.shared) == (1, 1, 1)


def test_whoever_has_fewer_cards_early_is_ahead_and_equals_are_not() -> None:
    duel = Series("usual", ("easy",), [hand(0, 3, early=(4, 2)), hand(0, 3, early=(4, 4)), hand(0, 3, early=(1, 2))])
    assert (duel.ahead_early(0), duel.ahead_early(1)) == (1, 1)


def test_levels_that_win_equally_often_are_not_rising() -> None:
    duels = [Series("usual", levels, [hand(1, 0), hand(0, 1)]) for levels in DUELS]
    assert not rising(duels)
    assert bots_page.misorders(duels) == ["usual"]


def test_where_the_true_share_lies_is_narrower_the_more_was_played() -> None:
    few, many = within(7, 10), within(140, 200)
    assert few[0] < many[0] < 0.7 < many[1] < few[1]
    assert within(0, 10)[0] == pytest.approx(0.0)
    assert doctest.testmod(bots_series).failed == 0


def test_the_command_prints_both_tables_and_writes_them_as_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bots.md"
    code = bots_cli.main(["--hands", "4", "--pace", "quick", "--seed", "2", "--processes", "1", "--page", str(file)])
    said = capsys.readouterr()
    assert code == (1 if "✗" in said.err else 0)
    assert re.search(r"^quick +Hard ", said.out, re.MULTILINE)
    written = file.read_text()
    assert f"    snatch bots --hands 4 --pace quick --seed 2 --page {file}\n" in written
    assert len(re.findall(r"^\| quick \| (?:Easy|Medium|Hard) \|", written, re.MULTILINE)) == 3


def test_the_command_fails_when_the_levels_are_not_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    """Of one hand each: three levels can't win 0 and 1 of it in a rising order."""
    assert bots_cli.main(["--hands", "1", "--pace", "usual", "--processes", "1"]) == 1
    assert "against a usual person" in capsys.readouterr().err
