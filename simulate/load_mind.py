"""What a simulated player does next: always something, and as it sees the table always something legal.

The best useful move of the bots' own list, else a turn of the stock.  It doesn't wait for a
pile to lie still, as bots do: a player whose move is due makes it, and races are real.
"""

from __future__ import annotations

import msgspec

from games.snatch_solitaire.bot import useful
from games.snatch_solitaire.messages import Mine, Turn, View

_encode = msgspec.json.Encoder().encode
TURN = _encode(Turn())


def choose(view: View, mine: Mine, settled: bool) -> bytes | None:
    """The move's JSON; None when there is none.

    `settled`: all own moves are answered and shown.  While they aren't, only the stock is
    sure to lie as it is shown.
    """
    if settled:
        for move, _ in useful(view, mine):
            return _encode(move)
    return TURN if mine.stock or mine.turned else None
