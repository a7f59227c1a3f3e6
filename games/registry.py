"""The games there are: an explicit list, nothing is scanned for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from games.contract import Game, Mind
from games.snatch_solitaire.bot import mind as snatch_solitaire_mind
from games.snatch_solitaire.game import GAME as SNATCH_SOLITAIRE

GAMES: dict[str, Game[Any, Any, Any, Any, Any, Any]] = {
    SNATCH_SOLITAIRE.spec.id: SNATCH_SOLITAIRE,
}

MINDS: dict[str, Callable[[str], Mind[Any, Any]]] = {
    SNATCH_SOLITAIRE.spec.id: snatch_solitaire_mind,
}
"""By game: a new mind for a bot of the level `easy`, `medium` or `hard`."""
