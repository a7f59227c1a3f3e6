"""The games there are: an explicit list, nothing is scanned for."""

from __future__ import annotations

from typing import Any

from games.contract import Game
from games.snatch_solitaire.game import GAME as SNATCH_SOLITAIRE

GAMES: dict[str, Game[Any, Any, Any, Any, Any, Any]] = {
    SNATCH_SOLITAIRE.spec.id: SNATCH_SOLITAIRE,
}
