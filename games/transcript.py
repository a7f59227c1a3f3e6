"""Golden transcripts: a whole game of bots, move by move, as the kernel plays it today.

`python -m games.transcript snatch_solitaire` writes `games/snatch_solitaire/transcript.jsonl`
again; a game without one, or with another than the kernel plays, fails the suite.
Moves arrive some hundred milliseconds after they were chosen, so that seats race.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from games.contract import Refusal
from games.playing import Playing
from games.registry import GAMES, MINDS

SEATS = (0, 3)
OPTIONS: dict[str, dict[str, Any]] = {"snatch_solitaire": {"length": "to25"}}
"""What the host chose, where it is not the default."""
SEED = 97
WHIM = 0.03
"""The chance that any legal move takes the place of the bot's, so that undo is seen too."""
LONGEST_WAY = 900
"""Ms between a bot's choice and its arrival at the table, at most."""


def lines(game_id: str) -> list[str]:
    """The transcript: a line for each deal, move, refusal and waking, and one for the end."""
    game = GAMES[game_id]
    options: Any = msgspec.convert(OPTIONS.get(game_id, {}), game.spec.options_type)
    playing = Playing(game, SEATS, options)
    dice = Random(SEED)
    written = [_line({"game": game_id, "seats": playing.seats, "options": options})]
    while game.outcome(playing.state) is None:
        written.append(_line({"deal": playing.deal(dice)}))
        written += _hand(playing, dice)
    digest = hashlib.sha256(game.dump(playing.state)).hexdigest()
    written.append(_line({"outcome": game.outcome(playing.state), "seq": playing.state.seq, "state": digest}))
    return written


def _hand(playing: Playing, dice: Random) -> list[str]:
    game = playing.game
    minds = {seat: MINDS[game.spec.id]("hard") for seat in playing.seats}
    order = 0
    agenda: list[tuple[int, int, int, Any, int]] = []
    for seat in playing.seats:
        heapq.heappush(agenda, (0, order := order + 1, seat, None, 0))
    written: list[str] = []
    while not game.hand_over(playing.state):
        at, _, seat, move, basis = heapq.heappop(agenda)
        if woken := playing.wait(at - playing.now):
            written.append(_line({"at": playing.now, "woke": woken}))
        if move is None:
            move, pause = minds[seat].look(playing.views[seat], at, dice)
            if dice.random() < WHIM:
                move = dice.choice([None, *game.legal_moves(playing.state, seat)])
            heapq.heappush(agenda, (at + pause, order := order + 1, seat, None, 0))
            if move is not None:
                arrival = at + dice.randint(20, LONGEST_WAY)
                heapq.heappush(agenda, (arrival, order := order + 1, seat, move, playing.state.seq))
            continue
        line: dict[str, Any] = {"at": at, "seat": seat, "basis": basis, "move": move}
        try:
            line["events"] = playing.move(seat, move, basis)
        except Refusal as no:
            line["no"] = {"code": no.code, "by": no.by, "pile": no.pile}
        written.append(_line(line))
    return written


def _line(data: dict[str, Any]) -> str:
    return json.dumps(json.loads(msgspec.json.encode(data)), separators=(",", ":"))


def path(game_id: str) -> Path:
    """Where a game's transcript lies."""
    return Path(__file__).parent / game_id / "transcript.jsonl"


def write(game_id: str) -> None:
    """Write a game's transcript again."""
    path(game_id).write_text("".join(line + "\n" for line in lines(game_id)), encoding="ascii")


if __name__ == "__main__":
    for name in sys.argv[1:] or GAMES:
        write(name)
