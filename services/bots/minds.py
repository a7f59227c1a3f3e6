"""The games that bots can play: an explicit list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from games.contract import Game, Mind
from games.registry import GAMES
from games.snatch_solitaire import bot as snatch_solitaire

MINDS: dict[str, Callable[[str], Mind[Any, Any]]] = {
    "snatch_solitaire": snatch_solitaire.mind,
}
"""By game: a level's new mind."""


def playable(game: str, level: str) -> tuple[Game[Any, Any, Any, Any, Any, Any], Callable[[str], Mind[Any, Any]]]:
    """The game and its minds.  Raises KeyError for a game or a level that there isn't."""
    minds = MINDS[game]
    minds(level)
    return GAMES[game], minds
