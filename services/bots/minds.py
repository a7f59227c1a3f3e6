"""What bots can play: the games and minds of the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from games.contract import Game, Mind
from games.registry import GAMES, MINDS


def playable(game: str, level: str) -> tuple[Game[Any, Any, Any, Any, Any, Any], Callable[[str], Mind[Any, Any]]]:
    """The game and its minds.  Raises KeyError for a game or a level that there isn't."""
    minds = MINDS[game]
    minds(level)
    return GAMES[game], minds
