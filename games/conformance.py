"""What every game must satisfy, said once: random play, replay, conservation, secrecy, transcript.

`test_conformance.py` runs each check on each game of the registry.  A game brings an
`inspector` that knows whose its cards are and who may see which, and a transcript.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from types import ModuleType
from typing import Any, Protocol

import msgspec

from games import transcript
from games.contract import GameSpec, Refusal, Seat
from games.playing import AnyGame, Playing
from games.registry import GAMES
from games.snatch_solitaire import inspector as snatch_solitaire_inspector


class Inspector(Protocol):
    """What a game's `inspector` module offers to this suite."""

    cards_of: Callable[[Any], dict[Seat, list[str]]]
    deck: Callable[[], list[str]]
    known_to: Callable[[Any, Seat | None], set[str]]
    another_world: Callable[[Any, Seat | None, Random], Any]


INSPECTORS: dict[str, ModuleType] = {"snatch_solitaire": snatch_solitaire_inspector}


def inspector(game_id: str) -> Any:
    """The game's inspector; KeyError for a game that brings none."""
    return INSPECTORS[game_id]


def check_spec(game_id: str) -> None:
    """The spec names the game as the registry does, and its types can be sent, strictly."""
    spec: GameSpec = GAMES[game_id].spec
    assert spec.id == game_id
    assert 1 <= spec.min_seats <= spec.max_seats <= 8
    assert 0 <= spec.max_bots <= 3
    assert spec.kind in {"race", "turns"}
    spec.options_type()
    for union in (spec.move_type, spec.event_type, spec.public_event_type):
        for schema in _schemas(union):
            assert schema.get("additionalProperties") is False, f"{schema['title']} takes unknown fields"
    options = {field.name for field in msgspec.structs.fields(spec.options_type)}
    assert set(spec.deal_options or ()) <= options
    for host_move in spec.host_moves:
        assert issubclass(host_move, msgspec.Struct)


def _schemas(union: Any) -> Iterator[dict[str, Any]]:
    _, components = msgspec.json.schema_components([union], ref_template="#/$defs/{name}")
    for schema in components.values():
        if schema.get("type") == "object":
            yield schema


class RandomPlay:
    """One game of random legal moves, checked after every step."""

    def __init__(self, game_id: str, seats: Sequence[Seat], seed: int) -> None:
        self.game: AnyGame = GAMES[game_id]
        self.inspector: Inspector = inspector(game_id)
        self.dice = Random(seed)
        self.playing = Playing(self.game, seats)
        self.playing.deal(self.dice)
        self.check()

    def run(self, moves: int) -> None:
        """This many moves, or until the hand is over."""
        game, state = self.game, self.playing.state
        for _ in range(moves):
            if game.hand_over(state):
                break
            self.step()

    def step(self) -> None:
        """A legal move of somebody, a change of presence, or some time."""
        game, playing, dice = self.game, self.playing, self.dice
        chance = dice.random()
        if chance < 0.02:
            playing.attend(seat for seat in playing.seats if dice.random() < 0.7)
        elif chance < 0.06:
            playing.wait(dice.randint(0, 6_000))
        else:
            seat = dice.choice(sorted(game.actors(playing.state)))
            before = game.dump(playing.state)
            moves = game.legal_moves(playing.state, seat)
            if not moves:
                return
            move = dice.choice(moves)
            game.decide(playing.state, seat, move, playing.now, playing.state.seq)
            assert game.dump(playing.state) == before, "decide changed the state"
            playing.move(seat, move)
        self.check()

    def check(self) -> None:
        """Everything that holds at any moment."""
        game, state = self.game, self.playing.state
        for seat, cards in self.inspector.cards_of(state).items():
            assert sorted(cards) == sorted(self.inspector.deck()), f"seat {seat} has not its own deck"
        dumped = game.dump(state)
        for same in (state, game.load(dumped)):
            assert not game.follow(same, self.playing.now)
        assert game.dump(game.load(dumped)) == dumped
        for audience, folded in self.playing.views.items():
            view = game.view(state, audience)
            assert msgspec.json.encode(view) == msgspec.json.encode(folded), f"{audience}: the fold is not the view"
            assert game.view(game.load(dumped), audience) == view
            strange = set(codes_in(view)) - self.inspector.known_to(state, audience)
            assert not strange, f"{audience} sees {strange}"
            other = self.inspector.another_world(state, audience, self.dice)
            assert game.view(other, audience) == view, f"{audience}'s view depends on what it may not know"
        for seat in set(self.playing.seats) - set(game.actors(state)):
            assert not game.legal_moves(state, seat)


def codes_in(message: Any) -> Iterator[str]:
    """Every string in a message that reads like one of its cards: two characters."""
    found: list[Any] = [json.loads(msgspec.json.encode(message))]
    while found:
        item = found.pop()
        if isinstance(item, dict):
            found += item.values()
        elif isinstance(item, list):
            found += item
        elif isinstance(item, str) and len(item) == 2 and item[0].isupper() | item[0].isdigit():
            yield item


def check_told(play: RandomPlay) -> None:
    """No redacted event holds a card that its reader may not know once it happened.

    What a reader may know only grows by an event, save for cards that an undo hides again,
    so that both sides of the event count.
    """
    game, state = play.game, None
    for event in play.playing.log:
        if state is None:
            state = game.open(play.playing.seats, play.playing.options)
        known = {audience: play.inspector.known_to(state, audience) for audience in play.playing.views}
        game.evolve(state, event)
        public = game.redact(event, None)
        for audience in play.playing.views:
            allowed = known[audience] | play.inspector.known_to(state, audience)
            parts = [public] if audience is None else [public, game.redact(event, audience)]
            told = audience is None or parts[1] is None or audience in game.private_to(event)
            assert told, f"{audience} would never be told its part of {event}"
            for part in parts:
                strange = set(codes_in(part)) - allowed
                assert not strange, f"{audience} is told {strange} by {part}"


def check_replay(play: RandomPlay) -> None:
    """The same events and presence give the same state, byte for byte, through their own encoding too."""
    game, playing = play.game, play.playing
    decoder = msgspec.json.Decoder(game.spec.event_type)
    state = game.open(playing.seats, playing.options)
    attended = list(playing.attended)
    for index in range(len(playing.log) + 1):
        while attended and attended[0][0] == index:
            _, present, now = attended.pop(0)
            game.attend(state, present, now)
        if index < len(playing.log):
            game.evolve(state, decoder.decode(msgspec.json.encode(playing.log[index])))
    assert state.seq == len(playing.log)
    assert game.dump(state) == game.dump(playing.state)


def check_same_again(game_id: str, seats: Sequence[Seat], seed: int, moves: int) -> None:
    """The same seed and moves again: the same log and the same state, byte for byte."""
    runs = [RandomPlay(game_id, seats, seed) for _ in range(2)]
    for run in runs:
        run.run(moves)
    first, second = runs
    assert msgspec.json.encode(first.playing.log) == msgspec.json.encode(second.playing.log)
    assert first.game.dump(first.playing.state) == second.game.dump(second.playing.state)


def check_refuses_outsiders(game_id: str) -> None:
    """No move before the deal, none of a seat that has no cards, none after the end of the hand."""
    game = GAMES[game_id]
    seats = range(game.spec.min_seats)
    playing = Playing(game, seats)
    assert not game.actors(playing.state)
    dealt = Playing(game, seats)
    dealt.deal(Random(1))
    for seat in seats:
        for move in game.legal_moves(dealt.state, seat):
            for state, sender in ((playing.state, seat), (dealt.state, 77)):
                try:
                    game.decide(state, sender, move, 0, 0)
                except Refusal:
                    continue
                raise AssertionError(f"{move} of seat {sender} was accepted")


def check_transcript(game_id: str) -> None:
    """The game's transcript lies beside its rules and is what the kernel plays."""
    there = transcript.path(game_id)
    assert there.exists(), f"{game_id} has no transcript: python -m games.transcript {game_id}"
    assert there.read_text(encoding="ascii").splitlines() == transcript.lines(game_id), (
        f"{game_id} plays otherwise than its transcript; if it should: python -m games.transcript {game_id}"
    )
