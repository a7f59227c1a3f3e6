"""`apply.json`: what an event makes of a view.

- `events`: `{"name", "audience", "before", "event", "after"}`, every kind of event at least once;
  audience null is the table and the TV, else a seat.
- `hands`: `{"audience", "start", "events", "end"}`: a whole hand with all that this audience
  was sent, in order.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec

from games.playing import Playing
from games.snatch_solitaire.bot import mind
from games.snatch_solitaire.events import Event
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.messages import (
    EndHand,
    Placed,
    PublicEvent,
    ToMiddle,
    ToWork,
    Turn,
    Undo,
    Worked,
    YourPlaced,
)
from games.snatch_solitaire.positions import position
from games.snatch_solitaire.state import MAX_TURNS, STUCK_MS, State

SEATS = (0, 2, 5)
AWAY = "8c 2c | Kc Jc Js 6c | 3c 4s"


def cases() -> dict[str, Any]:
    """All of it."""
    recorder = Recorder()
    hand = Playing(GAME, SEATS)
    recorder.start(hand)
    play_out(hand, recorder)
    hands = [
        {"audience": seat, "start": start, "events": plain(hand.told[seat]), "end": plain(hand.views[seat])}
        for seat, start in recorder.starts.items()
    ]
    recorder.stage(position({0: "6h 9c 2d | 7s 8d 9d,8s,7h,6c 8c | 2c 9h Kd", 2: AWAY}, middle=["4h"]), _own_cards)
    recorder.stage(position({0: "Kh As | Qs Qd Kc 6s | 5h / Ad", 2: AWAY}, middle=["Qh"]), _into_the_middle)
    recorder.stage(position({0: "8s 3d Qc | Ks Js Jc 6s | 9s", 2: AWAY, 5: "6h | 7s Kd Kc 2s | 9c"}), _all_stuck)
    recorder.stage(position({0: "8s 5h | Ks Js Jc 6s | 9s", 2: AWAY}), _unstuck)
    recorder.stage(position({0: "9d | Ts Kd Kc 6s | 9s", 2: AWAY}), _last_card)
    return {"events": recorder.cases, "hands": hands}


def plain(value: Any) -> Any:
    """As it crosses the wire."""
    return json.loads(msgspec.json.encode(value))


class Recorder:
    """Keeps the first view before and after each kind of event, for the table and for a seat."""

    def __init__(self) -> None:
        self.cases: list[dict[str, Any]] = []
        self.starts: dict[int | None, Any] = {}
        self._views: dict[int | None, Any] = {}
        self._seen: set[tuple[Any, ...]] = set()

    def start(self, playing: Playing) -> None:
        """The views before the first event."""
        self._views = {audience: playing.game.view(playing.state, audience) for audience in playing.views}
        self.starts = {audience: plain(view) for audience, view in self._views.items()}
        self._told = dict.fromkeys(self._views, 0)

    def stage(self, state: State, script: Any) -> None:
        """A position, and a script of moves on it."""
        playing = Playing(GAME, state.seats, state=state)
        self.start(playing)
        script(playing)
        self.record(playing)

    def record(self, playing: Playing) -> None:
        """All that was told since the last time."""
        for audience, told in playing.told.items():
            for event in told[self._told[audience] :]:
                before = plain(self._views[audience])
                GAME.apply(self._views[audience], event)
                self._keep(audience, before, event)
            self._told[audience] = len(told)

    def _keep(self, audience: int | None, before: Any, event: PublicEvent) -> None:
        sort = (audience is None, before["hand"] > 0, *_sort(event))
        if sort in self._seen:
            return
        self._seen.add(sort)
        name = " ".join(str(word) for word in _sort(event))
        after = plain(self._views[audience])
        self.cases.append({"name": name, "audience": audience, "before": before, "event": plain(event), "after": after})


def _sort(event: PublicEvent) -> tuple[Any, ...]:
    """What makes one event another kind of case."""
    data = plain(event)
    if isinstance(event, Placed):
        return (data["t"], event.src, "opens" if event.card[0] == "A" else "done" if event.done else "on")
    if isinstance(event, Worked | YourPlaced):
        last = event.src == "snatch" and event.snatch is None
        return (data["t"], event.src, "run" if isinstance(event, Worked) and len(event.cards) > 1 else "card", last)
    return (data["t"], *(data[flag] for flag in ("stuck", "offered") if flag in data))


def play_out(playing: Playing, recorder: Recorder | None = None) -> list[Event]:
    """A hand to its end by three hard bots; the same each time."""
    dice = Random(20)
    playing.deal(dice)
    minds = {seat: mind("hard") for seat in playing.seats}
    looks = [(0, seat) for seat in playing.seats]
    while not playing.game.hand_over(playing.state):
        at, seat = min(looks)
        looks.remove((at, seat))
        playing.wait(at - playing.now)
        move, pause = minds[seat].look(playing.views[seat], playing.now, dice)
        if move is not None:
            playing.move(seat, move)
        looks.append((at + pause, seat))
        if recorder is not None:
            recorder.record(playing)
    return playing.log


def _own_cards(playing: Playing) -> None:
    for move in (
        ToWork("6h", "snatch", 0),
        Undo(),
        Turn(),
        Undo(),
        ToWork("7h", "work", 3, work=2),
        Undo(),
        Turn(),
        Turn(),
        Turn(),
        Turn(),
        Undo(),
        Turn(),
        ToWork("7h", "work", 3, work=2),
        Turn(),
        ToWork("7s", "work", 1, work=0),
        ToWork("2c", "turned", 0),
        Undo(),
    ):
        playing.move(0, move)


def _into_the_middle(playing: Playing) -> None:
    for move in (
        ToMiddle("Ad", "turned"),
        ToMiddle("Kh", "snatch"),
        ToWork("Qd", "work", 2, work=1),
        ToMiddle("As", "snatch"),
    ):
        playing.move(0, move)


def _all_stuck(playing: Playing) -> None:
    playing.attend((0, 2))
    playing.wait(STUCK_MS * (MAX_TURNS + 1))
    playing.attend((0, 2, 5))
    playing.attend((0, 2))
    playing.wait(STUCK_MS)
    playing.move(0, Turn())
    playing.move(0, EndHand())
    playing.deal(Random(5))


def _unstuck(playing: Playing) -> None:
    playing.attend(playing.seats)
    playing.wait(STUCK_MS)


def _last_card(playing: Playing) -> None:
    playing.move(0, ToWork("9d", "snatch", 0))
