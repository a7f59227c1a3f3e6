"""Every game of the registry satisfies the contract."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import conformance
from games.registry import GAMES, MINDS

every_game = pytest.mark.parametrize("game_id", sorted(GAMES))


def test_every_game_of_the_folder_is_listed_with_mind_and_inspector() -> None:
    folders = {path.parent.name for path in Path(__file__).parent.glob("*/messages.py")}
    assert folders == set(GAMES) == set(MINDS) == set(conformance.INSPECTORS)


@every_game
def test_spec_names_the_game_and_its_messages_are_strict(game_id: str) -> None:
    conformance.check_spec(game_id)


@every_game
@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), extra=st.integers(0, 3))
def test_random_play_conserves_cards_keeps_secrets_and_replays(game_id: str, seed: int, extra: int) -> None:
    spec = GAMES[game_id].spec
    seats = range(1, 2 * min(spec.max_seats, spec.min_seats + extra), 2)
    play = conformance.RandomPlay(game_id, seats, seed)
    play.run(150)
    conformance.check_told(play)
    conformance.check_replay(play)


@every_game
@pytest.mark.parametrize("seed", [3, 2024])
def test_the_same_seed_and_moves_give_the_same_bytes(game_id: str, seed: int) -> None:
    conformance.check_same_again(game_id, range(GAMES[game_id].spec.max_seats), seed, 80)


@every_game
def test_moves_before_the_deal_and_of_seats_without_cards_are_refused(game_id: str) -> None:
    conformance.check_refuses_outsiders(game_id)


@every_game
def test_transcript_of_a_whole_game_is_what_the_kernel_plays(game_id: str) -> None:
    conformance.check_transcript(game_id)
