"""Bots keep the pace of their level, see what their seat sees, and get round to everything."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.playing import Playing
from games.snatch_solitaire.bot import LEVELS, BotMind, mind
from games.snatch_solitaire.events import Placed, Turned, TurnedOver, Worked
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.messages import ToMiddle, ToWork, Turn, View
from games.snatch_solitaire.positions import playing, small_position

every_level = pytest.mark.parametrize("level", sorted(LEVELS))


class Driver:
    """Drives bots on a table by their own pauses, as a worker would; keeps when each acted."""

    def __init__(self, table: Playing, levels: dict[int, str], seed: int = 1) -> None:
        self.table = table
        self.dice = Random(seed)
        self.minds = {seat: mind(level) for seat, level in levels.items()}
        self.looks = [(0, seat) for seat in levels]
        self.acted: list[tuple[int, int, object]] = []

    def run(self, until: int) -> None:
        """To this play time, or the end of the hand."""
        while not self.table.game.hand_over(self.table.state):
            at, seat = min(self.looks)
            if at > until:
                return
            self.looks.remove((at, seat))
            self.table.wait(at - self.table.now)
            move, pause = self.minds[seat].look(self.table.views[seat], at, self.dice)
            assert pause > 0
            if move is not None:
                self.acted.append((at, seat, move))
                self.table.move(seat, move)
            self.looks.append((at + pause, seat))


@every_level
def test_pauses_between_actions_are_those_of_the_level(level: str) -> None:
    """Asked about the same cards again and again, so that it turns or plays at each action."""
    view = playing({0: "Ah 2c | 7s 9s 9c Ts | 3s 4s"}).views[0]
    bot, dice, at = mind(level), Random(1), 0
    times: list[int] = []
    while len(times) < 100:
        move, pause = bot.look(view, at, dice)
        if move is not None:
            times.append(at)
        at += pause
    gaps = [later - earlier for earlier, later in pairwise([0, *times])]
    figures = LEVELS[level]
    assert figures.shortest_pause <= min(gaps)
    assert max(gaps) <= figures.longest_pause
    assert max(gaps) - min(gaps) > (figures.longest_pause - figures.shortest_pause) / 2


def test_levels_have_the_figures_of_the_rules() -> None:
    assert {name: tuple(level) for name, level in LEVELS.items()} == {
        "easy": (2200, 3400, 0.55, 1800),
        "medium": (1300, 2000, 0.80, 1100),
        "hard": (700, 1100, 0.96, 600),
    }


@every_level
def test_a_middle_pile_is_left_alone_for_a_while_after_it_changed(level: str) -> None:
    for seed in range(12):
        table = playing({0: "5h 2c | 7s 9s 9c Ts | 3s", 1: "4h 2s | 7s 9s 9c Ts | 3s"}, middle=["3h"])
        driver = Driver(table, {0: level}, seed)
        changed = 5_000 + 37 * seed
        driver.run(changed)
        table.wait(changed - table.now)
        table.move(1, ToMiddle("4h", "snatch"))
        driver.run(200_000)
        played = [at for at, _, move in driver.acted if isinstance(move, ToMiddle)]
        assert played
        assert played[0] >= changed + LEVELS[level].wait


@every_level
def test_a_level_notices_about_its_share_of_moves(level: str) -> None:
    noticed = 0
    for seed in range(400):
        table = playing({0: "5h 2c | 7s 9s 9c Ts | 3s 4s"}, middle=["4h"])
        driver = Driver(table, {0: level}, seed)
        while not driver.acted:
            driver.run(table.now + 500)
            table.wait(500)
        noticed += isinstance(driver.acted[0][2], ToMiddle)
    assert abs(noticed / 400 - LEVELS[level].notice) < 0.08


def test_nothing_is_played_at_once_when_a_hand_begins_nor_in_the_next_hands() -> None:
    table = Playing(GAME, [0])
    bot = mind("hard")
    dice = Random(3)
    for hand in range(5):
        table.deal(dice)
        move, pause = bot.look(table.views[0], 0, dice)
        assert move is None
        assert 0 < pause <= 1100
        at = pause
        while move is None:
            move, pause = bot.look(table.views[0], at, dice)
            at += 0 if move is not None else pause
        assert 700 <= at <= 1100 + LEVELS["hard"].wait
        table.state.live = False
        table.state.result = table.views[0].result = GAME_RESULT
        assert bot.look(table.views[0], at + 1, dice)[0] is None, f"a stray move after hand {hand}"


GAME_RESULT = playing({0: "9d | Ts 9s 9c Tc | 3s"}).move(0, ToWork("9d", "snatch", 0))[-1].result


def test_a_mind_is_asked_with_nothing_but_its_view_and_plays_nothing_without_cards() -> None:
    table = playing({0: "Ah 2c | 7s 9s 9c Ts | 3s"})
    bot = mind("hard")
    for at in range(0, 60_000, 500):
        assert bot.look(table.views[None], at, Random(1))[0] is None


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**40), level=st.sampled_from(sorted(LEVELS)))
def test_a_bot_gets_round_to_a_useful_move_whenever_there_is_one(seed: int, level: str) -> None:
    """From any small position that is not stuck it leaves the snatch pile, the stock or a run behind."""
    state = small_position(Random(seed))
    table = Playing(GAME, state.seats, state=state)
    table.attend(table.seats)
    if table.state.own[0].stuck:
        return
    driver = Driver(table, {0: level}, seed)
    driver.run(120_000)
    useful = [event for event in table.log if isinstance(event, (Placed, Worked))]
    assert useful


@pytest.mark.parametrize("seed", range(8))
def test_a_lone_bot_ends_its_hand_and_never_goes_in_circles(seed: int) -> None:
    table = Playing(GAME, [0])
    table.deal(Random(seed))
    Driver(table, {0: "hard"}, seed).run(3_600_000)
    assert GAME.hand_over(table.state) or table.state.end_offered
    since = 0
    for event in table.log:
        if isinstance(event, Worked) and event.src == "work":
            since += 1
            assert since < 10, "runs moved to and fro"
        elif isinstance(event, (Placed, Worked)):
            since = 0


@pytest.mark.parametrize("level", sorted(LEVELS))
def test_three_bots_play_hands_to_their_end(level: str) -> None:
    for seed in range(4):
        table = Playing(GAME, [0, 1, 2])
        table.deal(Random(seed))
        Driver(table, dict.fromkeys(range(3), level), seed).run(3_600_000)
        assert GAME.hand_over(table.state)


def test_the_better_level_wins_more() -> None:
    wins = dict.fromkeys(range(3), 0)
    for seed in range(30):
        table = Playing(GAME, [0, 1, 2])
        table.deal(Random(seed))
        Driver(table, {0: "easy", 1: "medium", 2: "hard"}, seed).run(3_600_000)
        assert table.state.result is not None
        assert table.state.result.by is not None
        wins[table.state.result.by] += 1
    assert wins[2] > wins[1] >= wins[0]


def test_the_stock_is_turned_only_when_nothing_else_is_seen_and_not_while_stuck() -> None:
    table = playing({0: "8s 2h | Ks Js Jc 6s | 3s 4c", 1: "6h 2h | 7s Kd Kc Ts | 3s"})
    driver = Driver(table, {0: "hard"})
    driver.run(60_000)
    assert driver.acted == []
    table = playing({0: "Qs 2c | 7s 9s 9c Ts | 4d 8h", 1: "6h 2h | 7s Kd Kc Ts | 3s"})
    driver = Driver(table, {0: "hard"})
    driver.run(30_000)
    events = [event for event in table.log if isinstance(event, (Turned, TurnedOver, Worked))]
    assert isinstance(events[0], Turned)
    assert any(isinstance(event, Worked) and event.cards == ("8h",) for event in events)


def test_an_empty_pile_is_filled_from_the_snatch_pile() -> None:
    table = playing({0: "Qs 2c | - 9s 9c Ts | 4d 8h"})
    driver = Driver(table, {0: "hard"}, seed=2)
    driver.run(10_000)
    assert driver.acted[0][2] == ToWork("Qs", "snatch", 0)


def test_a_run_moves_to_free_the_card_that_the_middle_takes() -> None:
    table = playing({0: "Ks 2c | 8s,7h 8c Tc Ts | 4d"}, middle=["7s"])
    driver = Driver(table, {0: "hard"}, seed=2)
    driver.run(10_000)
    moves = [move for _, _, move in driver.acted if not isinstance(move, Turn)]
    assert moves[0] == ToWork("7h", "work", 1, work=0)
    assert isinstance(moves[1], ToMiddle)
    assert moves[1].card == "8s"


def test_an_unknown_level_is_no_mind() -> None:
    with pytest.raises(KeyError):
        mind("grandmaster")
    assert isinstance(mind("easy"), BotMind)
    assert GAME.spec.view_type is View
